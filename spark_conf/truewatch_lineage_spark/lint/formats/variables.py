"""``OPENLINEAGE__`` variables, turned into the keys that the listener makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from truewatch_lineage_spark.lint.formats.tree import scalar_text
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Setting

PREFIX: Final = "OPENLINEAGE__"


def _refused(name: str) -> Any:
    raise ValueError(name)  # NaN is JSON to Python alone


_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refused)
_REFERENCE: Final = re.compile(r"\{\{.*\}\}|EMR\.secret@\S+", re.DOTALL)
"""What Databricks, Airflow and EMR Serverless fill in by themselves."""


def is_reference(value: str) -> bool:
    """Tell whether a value only names a secret that the platform fills in, alone or in JSON's quotes."""
    return bool(_REFERENCE.fullmatch(value.strip().strip('"')))


def settings(name: str, value: str, file: str, line: int, *, known: bool = True) -> Iterator[Setting]:
    """Yield what one variable sets: one setting, or several where it is JSON.

    Args:
        name: The variable.
        value: Its text.
        file: Where it stands.
        line: In which line.
        known: Whether ``value`` is what the driver gets.
    """
    if not name.startswith(PREFIX):
        yield Setting(name, value, file, line, "env", name, known)
        return
    path = [_camel(step) for step in name.removeprefix(PREFIX).split("__")]
    tree, changed = _parsed(value) if known else (value, False)
    for steps, leaf in _leaves(path, tree):
        usable = known and not is_reference(leaf)
        yield Setting(OPENLINEAGE + ".".join(steps), leaf, file, line, "env", name, usable, changed=changed and usable)


def _camel(step: str) -> str:
    """Return what the listener makes of a step: ``API_KEY`` becomes ``apiKey``, and ``APIKEY`` ``apikey``."""
    first, *others = step.lower().split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def _parsed(value: str) -> tuple[Any, bool]:
    """Return what the listener makes of a value, and whether that is something else.

    It takes the first JSON value there is, whatever follows behind a blank; the text as it is where there is none.
    """
    text = value.strip()
    try:
        tree, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return value, False
    rest = text[end:]
    if isinstance(tree, (dict, list)):
        return tree, bool(rest.strip())
    if isinstance(tree, str) and text.startswith('"'):
        return tree, bool(rest.strip())
    if rest and not rest[0].isspace():  # 123abc is no JSON to the listener, so it stays
        return value, False
    plain = tree if isinstance(tree, str) else scalar_text(tree)
    return value, bool(rest) or not (plain.lstrip("-").isdigit() or isinstance(tree, bool))


def _leaves(path: list[str], tree: Any) -> Iterator[tuple[list[str], str]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves([*path, str(key)], value)
    elif isinstance(tree, list):
        yield path, f"[{';'.join(map(str, tree))}]"
    else:
        yield path, scalar_text(tree)
