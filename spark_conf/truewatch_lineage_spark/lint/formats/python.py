"""Python that configures Spark: ``.config(key, value)``, ``.set(key, value)``, dicts of properties, ``os.environ``."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Final

from truewatch_lineage_spark.lint import catalog
from truewatch_lineage_spark.lint.formats import variables
from truewatch_lineage_spark.lint.model import Document, Scope, Setting

_SETTERS: Final = frozenset({"config", "set", "setdefault"})
_ARGUMENTS: Final = 2
_PARAMETERS: Final = {"packages": "spark.jars.packages", "jars": "spark.jars"}
"""Those of Airflow's SparkSubmitOperator."""


def read(text: str, file: str, *, private: bool = False) -> Document:
    """Read what a module's literals set; a value that is computed counts as not known.

    Args:
        text: The module.
        file: Its path, for findings.
        private: Whether only its owner can read the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in somebody else's code
            tree = ast.parse(text)
        pairs = sorted(_pairs(tree), key=lambda pair: (pair[0].lineno, pair[0].col_offset))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        finding = catalog.of_file("file.broken", file, line, "It is no Python.", "Mend it, or name another --format.")
        return Document(file, findings=(finding,))
    settings = [one for key, value in pairs for one in _settings(key, value, file)]
    return Document(file, (Scope(tuple(settings), private=private),))


def _pairs(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from ((key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
        elif isinstance(node, ast.Call):
            yield from _called(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            yield node.targets[0].slice, node.value


def _called(node: ast.Call) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SETTERS and len(node.args) == _ARGUMENTS:
        yield node.args[0], node.args[1]
    for keyword in node.keywords:
        if keyword.arg in _PARAMETERS:
            name = ast.Constant(_PARAMETERS[keyword.arg])
            yield ast.copy_location(name, keyword.value), keyword.value


def _settings(key: ast.expr, value: ast.expr | None, file: str) -> Iterator[Setting]:
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return
    name, literal = key.value, isinstance(value, ast.Constant)
    text = str(value.value) if isinstance(value, ast.Constant) else ""
    if name.startswith(variables.PREFIX):
        yield from variables.settings(name, text, file, key.lineno, known=literal)
    elif name.startswith("spark."):
        usable = literal and not variables.is_reference(text)
        yield Setting(name, text, file, key.lineno, known=usable)
