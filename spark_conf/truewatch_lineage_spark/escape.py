r"""Write values so that Spark reads them back exactly, and refuse those that it would change.

Measured with Spark 3.5 and 4.0: ``spark-defaults.conf`` is read by ``java.util.Properties``, then each value is
trimmed; the listener drops blank values and takes ``[a;b]`` for a list.
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
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TRIMMED: Final = "".join(map(chr, range(33)))
"""What Java's ``String.trim`` takes away: everything up to the blank."""


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
    if value != value.strip(_TRIMMED):
        return "starts or ends with a blank, a tab or a line break, which Spark takes away"
    if not value:
        return "is empty, which Spark's listener drops"
    if _SURROGATE.search(value):
        return "holds half a character (a lone surrogate), which no file can hold"
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
