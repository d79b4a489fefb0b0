"""``spark-defaults.conf``, read as Spark does: by ``Properties.load``, values then trimmed but for line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from truewatch_lineage_spark.escape import TRIMMED
from truewatch_lineage_spark.lint import catalog
from truewatch_lineage_spark.lint.formats.variables import is_reference
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Document, Finding, Scope, Setting

_NATURAL: Final = re.compile(r"\r\n|\r|\n")
_BLANKS: Final = " \t\f"
_ENTRY: Final = re.compile(r"(?P<key>(?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u(?P<hex>[0-9A-Fa-f]{4})|(?P<one>.)|$)", re.DOTALL)
_NAMED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_MEANT: Final = "\\\"' =:#!"
"""What a backslash may stand before without anybody meaning the backslash itself."""

_BAD_UNICODE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


def read(text: str, file: str) -> Document:
    """Read a file of properties.

    Args:
        text: What is in it.
        file: Its path, for findings.
    """
    settings: list[Setting] = []
    findings: list[Finding] = []
    if text.startswith("\ufeff"):
        findings.append(_broken(file, 1, "begins with a byte order mark, which becomes part of the first key", "it"))
        text = text[1:]
    for line in _logical(text):
        if _BAD_UNICODE.search(line.text):
            message = r"has a \u without four hexadecimal digits, at which Spark gives up the whole file"
            findings.append(_broken(file, line.number, message, "it"))
            continue
        setting, strays = _entry(line, file)
        findings += _faults(setting, strays=strays)
        settings.append(setting)
    return Document(file, (Scope(tuple(settings)),), tuple(findings))


def _logical(text: str) -> Iterator[_Line]:
    """Join lines that end with a backslash; skip comments and blank ones."""
    number, begun, parts = 0, 0, list[str]()
    for natural in _NATURAL.split(text):
        number += 1
        stripped = natural.lstrip(_BLANKS)
        if not parts and (not stripped or stripped[0] in "#!"):
            continue
        begun = begun if parts else number
        continued = (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1
        parts.append(stripped[:-1] if continued else stripped)
        if not continued:
            yield _Line(begun, "".join(parts))
            parts = []
    if parts:
        yield _Line(begun, "".join(parts))


def _entry(line: _Line, file: str) -> tuple[Setting, bool]:
    """Return a setting, and whether a backslash in its value vanishes."""
    match = _ENTRY.match(line.text)
    key, raw = (match["key"], match["value"]) if match else (line.text, "")
    strays = any(one["one"] and one["one"] not in _MEANT + "tnrf" for one in _ESCAPE.finditer(raw))
    value = _unescaped(raw).strip(TRIMMED)
    # Databricks' pages take this format, with references to secrets in it.
    return Setting(_unescaped(key), value, file, line.number, known=not is_reference(value)), strays


def _unescaped(raw: str) -> str:
    text = _ESCAPE.sub(_character, raw)
    # Java's chars are UTF-16: two escapes may be one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(match: re.Match[str]) -> str:
    if match["hex"]:
        return chr(int(match["hex"], 16))
    return _NAMED.get(match["one"] or "", match["one"] or "")


def _faults(setting: Setting, *, strays: bool) -> Iterator[Finding]:
    if strays and setting.key.startswith(OPENLINEAGE):
        yield catalog.found(
            "value.backslash", setting, "A backslash before an ordinary character is dropped.", r"Write \\ for each \."
        )
    if not setting.key.startswith("spark.") and "openlineage" in setting.key.lower():
        fix = f"Begin it with {OPENLINEAGE}" if "." in setting.key else "Variables belong in the driver's environment."
        yield catalog.found("file.broken", setting, "Spark ignores a key that does not begin with spark.", fix)


def _broken(file: str, line: int, what: str, whose: str) -> Finding:
    return catalog.of_file("file.broken", file, line, f"The file {what}.", f"Take {whose} away.")
