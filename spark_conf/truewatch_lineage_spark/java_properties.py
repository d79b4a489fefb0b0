r"""Read ``spark-defaults.conf`` as Spark does: by the rules of ``java.util.Properties.load``, then trimmed.

A key ends at the first ``=``, ``:`` or blank that no backslash precedes; a line that ends with an odd number of
backslashes goes on in the next; ``\uXXXX`` is half a character where two make one; ``#`` and ``!`` begin a comment only
where a line begins. Of two settings of one key the last counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_BLANKS: Final = " \t\f"
_TRIMMED: Final = "".join(map(chr, range(33)))
_NAMED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_END_OF_LINE: Final = re.compile(r"\r\n|\r|\n")
_CONTINUED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_KEY: Final = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*(?:[=:][ \t\f]*)?")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting.

    Attributes:
        line: The line it begins in, counted from 1.
        key: Its name.
        value: Its value, which may be a secret.
    """

    line: int
    key: str
    value: str = field(repr=False)


def parse(text: str) -> list[Entry]:
    """Return the settings of a file in their order, repeated ones included."""
    entries = []
    for number, line in _logical_lines(text):
        key = _KEY.match(line)
        separator = _SEPARATOR.match(line, key.end() if key else 0)
        name = key[0] if key else ""
        value = line[separator.end() if separator else len(line) :]
        entries.append(Entry(number, _unescaped(name), _unescaped(value).strip(_TRIMMED)))
    return entries


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines joined where they are continued, without comments and empty ones, each with its first number."""
    whole, first = "", 0
    for number, natural in enumerate(_END_OF_LINE.split(text), start=1):
        line = natural.lstrip(_BLANKS)
        if not first and (not line or line[0] in "#!"):
            continue
        first = first or number
        if _CONTINUED.search(line):
            whole += line[:-1]
            continue
        yield first, whole + line
        whole, first = "", 0
    if first:
        yield first, whole


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(_replacement, text)
    # Java's characters are halves of ours beyond 16 bits.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _replacement(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _NAMED.get(match[2], match[2]) if match[2] else ""
