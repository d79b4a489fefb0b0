"""The file that ``--base`` names: the properties that are set in it, and the whole of it where its format is a tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Flavour
from truewatch_lineage_spark.lint.formats import properties
from truewatch_lineage_spark.merge import is_old_transport


@dataclass(frozen=True, slots=True)
class Base:
    """What is there already.

    Attributes:
        properties: Spark's properties that it sets; a value may be a secret.
        tree: The whole file, for a form whose own format this is; None for another.
    """

    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    tree: Any = field(default=None, repr=False)


NOTHING: Final = Base()


def read(path: Path, flavour: Flavour) -> Base:
    """Read a file in the form's own format, or else as ``spark-defaults.conf``.

    Args:
        path: The file.
        flavour: The form that is to extend it.

    Raises:
        ConfigError: It is no text, or is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _unreadable(path, "is no UTF-8 text") from None
    tree = _tree(path, text, flavour.base)
    if tree is None:
        return Base(_properties(path, text))
    return Base(dict(_settings(tree)), tree)


def _properties(path: Path, text: str) -> dict[str, str]:
    document = properties.read(text, str(path))
    for finding in document.findings:
        if not finding.key:  # it is about the file, which Spark would read otherwise or not at all
            raise _unreadable(path, f"can't be read as Spark reads it, see line {finding.line}: {finding.message}")
    return {one.key: one.value for scope in document.scopes for one in scope.settings}


def _tree(path: Path, text: str, expected: str) -> Any:
    if text.lstrip()[:1] in ("{", "["):
        tree = _parsed(path, text, "json")
        if expected == "properties":
            raise _unreadable(path, "is JSON, and this form extends spark-defaults.conf")
        return tree
    return _parsed(path, text, "yaml") if expected == "yaml" and path.suffix in (".yaml", ".yml") else None


def _parsed(path: Path, text: str, kind: str) -> Any:
    import yaml  # noqa: PLC0415 - 20 ms that few need

    try:
        return json.loads(text) if kind == "json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:  # their messages show the text around, which may be a secret
        where = getattr(error, "lineno", None) or getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise _unreadable(path, f"is no {kind.upper()}: see line {where}") from None


def _settings(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield Spark's properties wherever in a tree they are: every form has them in a mapping of ``spark.…`` keys."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if isinstance(key, str) and _is_setting(key) and isinstance(value, (str, int, float)):
                yield key, value if isinstance(value, str) else json.dumps(value)
            elif key == "--conf" and isinstance(value, str):  # as Glue has them
                yield from ((part.partition("=")[0], part.partition("=")[2]) for part in value.split(" --conf "))
            else:
                yield from _settings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _settings(value)


def _is_setting(key: str) -> bool:
    return key.startswith("spark.") or is_old_transport(key)


def _unreadable(path: Path, problem: str) -> ConfigError:
    return ConfigError(f"{path} {problem}.", key="base", fix="Name another file in --base.")
