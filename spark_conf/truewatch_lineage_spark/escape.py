r"""Write values so that Spark reads them back exactly, and refuse those that it would change.

Measured with Spark 3.5 and 4.0: ``spark-defaults.conf`` is read by ``java.util.Properties``, then each value is
trimmed but for line breaks; the listener drops blank values and takes ``[a;b]`` for a list.
"""

from __future__ import annotations

import re
from typing import Final

from truewatch_lineage.errors import ConfigError

OPENLINEAGE: Final = "spark.openlineage."

_NAMED: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
_IN_VALUE: Final = re.compile(r"[^ -\[\]-~]")
"""A backslash, and all but printable ASCII."""

_IN_KEY: Final = re.compile(r"[^!-~]|[\\:=#!]")
_NOT_IN_YAML: Final = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""The listener reads its properties again as YAML 1.1, which takes all but these as they are (measured)."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
TRIMMED: Final = "".join(chr(code) for code in range(33) if chr(code) not in "\r\n")
"""What Spark takes away at both ends of a value: everything up to the blank, but for line breaks."""

_NOT_JAVAS_BLANKS: Final = "\x85\u00a0\u2007\u202f"
"""Whitespace for Python, and not for Java's ``Character.isWhitespace``."""


def check(key: str, value: str) -> str:
    """Return ``value``, if Spark and its listener take it as it is.

    Args:
        key: The property.
        value: Its value.

    Raises:
        ConfigError: It would arrive changed, or not at all.
    """
    if fault := _fault(key, value):
        raise ConfigError(f"The value of {key} {fault}.", key=key, fix="Choose another value.")
    return value


def properties_line(key: str, value: str) -> str:
    """Return a line of ``spark-defaults.conf``, without its end."""
    return f"{_IN_KEY.sub(_escaped_in_key, key)}={_IN_VALUE.sub(_escaped, value)}"


def yaml_text(text: str) -> str:
    """Return a text as YAML writes it in double quotes; JSON's escapes alone would split what is beyond 16 bits."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub("[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", escaped) + '"'


def _fault(key: str, value: str) -> str | None:
    if value != value.strip(TRIMMED):
        return "starts or ends with a blank, a tab or a control character, which Spark takes away"
    if key.startswith(OPENLINEAGE) and all(one.isspace() and one not in _NOT_JAVAS_BLANKS for one in value):
        return "is empty or blank, which Spark's listener drops"
    if _SURROGATE.search(value):
        return "holds half a character (a lone surrogate), which no event can hold"
    if key.startswith(OPENLINEAGE) and _NOT_IN_YAML.search(value):
        return "holds a control character that the listener can't read: it would send nothing"
    if "\0" in value:
        return "holds a NUL, which no command line and no environment can hold"
    if key.startswith(OPENLINEAGE) and value.startswith("[") and value.endswith("]") and not _is_list(key):
        return "has the form [...], which the listener takes for a list: it would send nothing"
    return None


def _is_list(key: str) -> bool:
    return key.endswith(("SparkNodes", ".disabled", ".variables"))


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _escaped_in_key(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if match[0] in ":=#! " else _escaped(match)
