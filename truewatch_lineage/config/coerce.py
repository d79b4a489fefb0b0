"""How a setting's text becomes a value.

The rules, one function a kind:

* flag: ``true yes on t y 1`` and ``false no off f n 0``, in any case, or a boolean.
* choice: one of the words, in any case, ``-`` for ``_``.
* text: a text that is not empty, outer blanks trimmed; a whole number becomes its digits.
* seconds: a number, or a number with ``ms``, ``s``, ``m``, ``h``; at most a day.
* days, integer: a number; whole for integer.
* bytes: a whole number, or a number with ``kB MB GB TB`` (1000) or ``KiB MiB GiB TiB`` (1024).
* path, existing_file: a text or path; ``~`` is expanded; made absolute, in a file of settings from its own folder.
* names: a list of texts, its JSON text, or texts with commas between.
* patterns: a list of regular expressions, its JSON text, or one expression.
* tree: a mapping or list, or its JSON text.

A token is never coerced. No message shows the value.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import Key, Kind

DAY: Final = 86_400.0
"""Seconds; a longer time is a mistake, such as milliseconds for seconds."""

_TRUE: Final = frozenset({"true", "yes", "on", "t", "y", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "f", "n", "0"})
_MONSTROUS: Final = 10**18
_NUMBER: Final = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS: Final = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES: Final = {"": 1, "b": 1} | {
    f"{letter}{suffix}": base**power
    for power, letter in enumerate("kmgt", start=1)
    for suffix, base in (("b", 1000), ("ib", 1024))
}


def is_true(text: str) -> bool:
    """Tell whether a variable such as ``CI`` or ``OPENLINEAGE_DISABLED`` says yes; anything unknown says no."""
    return text.strip().lower() in _TRUE


def _digits(value: Any) -> str:
    """Return a text as it is, a number or boolean as text, and nothing for anything else or a monstrous number."""
    if isinstance(value, int) and abs(value) > _MONSTROUS:
        return ""  # str() itself refuses more than 4,300 digits
    return str(value) if isinstance(value, (str, int, float)) else ""


def flag(found: Found) -> bool:
    """Read a yes or no."""
    word = _digits(found.value).strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise found.error("must be true or false")


def text(found: Found) -> str:
    """Read a text; a whole number stands for its digits, since other loaders parse variables as JSON."""
    value = found.value
    whole_number = isinstance(value, int) and not isinstance(value, bool)
    result = (_digits(value) if whole_number or isinstance(value, str) else "").strip()
    if result:
        return result
    if isinstance(value, str):
        raise found.error("is empty", "Fill it, or leave it out.")
    raise found.error("must be a text")


def choice(found: Found, choices: tuple[str, ...]) -> str:
    """Read one of ``choices``."""
    word = found.value.strip().lower().replace("-", "_") if isinstance(found.value, str) else ""
    if word in choices:
        return word
    from difflib import get_close_matches  # noqa: PLC0415 - only for a message

    near = get_close_matches(word, choices, n=1)
    raise found.error(f"must be one of {', '.join(choices)}", f"Did you mean {near[0]}?" if near else None)


def number(found: Found, units: Mapping[str, float], *, minimum: float, maximum: float = math.inf) -> float:
    """Read a number with one of ``units`` after it, and return it in the base unit.

    Args:
        found: The setting.
        units: What each unit, in lower case, is worth; the empty one is for a bare number.
        minimum: The least it may be, in the base unit.
        maximum: The most it may be, in the base unit.
    """
    value = found.value
    parts = _NUMBER.fullmatch(_digits(value).strip())
    unit = parts.group(2).lower() if parts else ""
    if parts is None or unit not in units:
        known = ", ".join(name for name in units if name)
        raise found.error("must be a number" + (f", or a number with one of {known} after it" if known else ""))
    result = float(parts.group(1)) * units[unit]
    if not minimum <= result <= maximum or math.isinf(result):
        most = f" and at most {maximum:g}" if math.isfinite(maximum) else ""
        raise found.error(f"must be at least {minimum:g}{most}")
    return result


def seconds(found: Found, *, minimum: float = 0) -> float:
    """Read a length of time in seconds."""
    return number(found, _SECONDS, minimum=minimum, maximum=DAY)


def whole(found: Found, units: Mapping[str, float], *, minimum: float) -> int:
    """Read a whole number."""
    result = number(found, units, minimum=minimum)
    if not result.is_integer():
        raise found.error("must be a whole number")
    return int(result)


def path(found: Found) -> Path:
    """Read a path: ``~`` expanded, absolute, so that a later change of folder moves nothing.

    A relative one in a file of settings starts from that file's folder, since any process may read it.
    """
    value = os.fspath(found.value) if isinstance(found.value, os.PathLike) else found.value
    written = text(Found(value, found.key, found.source))
    if "\0" in written:
        raise found.error("is no path: it holds a NUL")
    try:
        return (found.base or Path()).joinpath(Path(written).expanduser()).absolute()
    except RuntimeError:
        pass
    raise found.error("is no path: the user after ~ is unknown")


def existing_file(found: Found) -> Path:
    """Read the path of a file that is there and can be read."""
    result = path(found)
    try:
        usable = result.is_file() and os.access(result, os.R_OK)
    except OSError:  # a name too long
        usable = False
    if not usable:
        raise found.error("is no file that can be read", "Write the path of a PEM file this user may read.")
    return result


def tree(found: Found) -> Any:
    """Read a mapping or list, or the JSON text of one; the text may hold a token, so only a position is told."""
    value = found.value
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        where = f"at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        where = "as a whole"
    raise found.error(f"is no JSON: it can't be read {where}")


def names(found: Found) -> tuple[str, ...]:
    """Read a list of names."""
    value = found.value
    if isinstance(value, str):
        value = tree(found) if value.lstrip().startswith("[") else [part.strip() for part in value.split(",")]
    return _texts(found, value)


def patterns(found: Found) -> tuple[re.Pattern[str], ...]:
    """Read regular expressions; one that matches nothing at all would mask everything and is refused."""
    expressions = _texts(found, _expressions(found.value))
    return tuple(_pattern(found, expression, place) for place, expression in enumerate(expressions))


def _expressions(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return parsed if isinstance(parsed, list) else [value]


def _texts(found: Found, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) and part for part in value):
        raise found.error("must be a list of texts, none of them empty")
    return tuple(value)


def _pattern(found: Found, expression: str, place: int) -> re.Pattern[str]:
    """Compile one expression; it may be a secret itself, so only its place and the fault's place are told."""
    one = f"`{found.key}[{place}]`"
    try:
        pattern = re.compile(expression)
    except re.error as error:
        where = "" if error.pos is None else f": see its character {error.pos + 1}"
    except (RecursionError, OverflowError):
        where = ""
    else:
        if pattern.search(""):
            raise found.error(f"would mask everything: {one} matches the empty text")
        return pattern
    raise found.error(f"holds what is no regular expression, in {one}{where}")


_READERS: Final[Mapping[Kind, Callable[[Key, Found], Any]]] = {
    "flag": lambda _, found: flag(found),
    "choice": lambda key, found: choice(found, key.choices),
    "text": lambda _, found: text(found),
    "seconds": lambda key, found: seconds(found, minimum=key.minimum),
    "days": lambda key, found: number(found, {"": 1.0}, minimum=key.minimum),
    "bytes": lambda key, found: whole(found, _BYTES, minimum=key.minimum),
    "integer": lambda key, found: whole(found, {"": 1.0}, minimum=key.minimum),
    "path": lambda _, found: path(found),
    "existing_file": lambda _, found: existing_file(found),
    "names": lambda _, found: names(found),
    "patterns": lambda _, found: patterns(found),
    "tree": lambda _, found: tree(found),
}


def coerce(key: Key, found: Found) -> Any:
    """Read ``found`` by the rules of ``key``'s kind (``secret``, ``command``, ``auth`` and ``headers`` have their own).

    Raises:
        ConfigError: The value is not what the key takes.
    """
    return _READERS[key.kind](key, found)
