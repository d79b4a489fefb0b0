"""A shell's text cut into words, each with its line and whether the shell still has to fill something in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_COMMAND: Final = r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`"
_PART: Final = re.compile(
    rf"""
      (?P<blank>[ \t\r\f\v]+|\\\r?\n)
    | (?P<end>\n|;|&|\||\(|\))
    | (?P<single>\$?'[^']*')
    | (?P<filled>{_COMMAND}|\$\{{[^}}]*\}}|\$[A-Za-z0-9_@*\#?!]+)
    | (?P<escaped>\\.)
    | (?P<open>["'])
    | (?P<plain>[^ \t\r\f\v\n;&|()"'\\$`]+|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_IN_QUOTES: Final = re.compile(rf"""\\.|{_COMMAND}|[^"\\$`]+|.""", re.DOTALL)
"""A step inside double quotes; taken one by one, since as one expression an open quote would take exponential time."""

_VARIABLE: Final = re.compile(r"\$[A-Za-z0-9_{(@*#?!]|`")
_IN_DOUBLE: Final = re.compile(r"\\([\\\"$`])|\\\r?\n")


@dataclass(slots=True)
class Word:
    """One word of a command.

    Attributes:
        line: In which it begins.
        text: Without its quotes.
        expands: Whether the shell fills a variable or a command's output in.
        quoted: Whether a part of it was in quotes.
    """

    line: int
    text: str = ""
    expands: bool = False
    quoted: bool = False


@dataclass(slots=True)
class Command:
    """One command.

    Attributes:
        words: Its words, in order.
        end: What ended it: a line break, ``;``, ``&``, ``|`` or a parenthesis; empty at the file's end.
    """

    words: list[Word] = field(default_factory=list)
    end: str = ""


class OpenQuoteError(ValueError):
    """A quote is not closed.

    Args:
        line: Where it opens.
    """

    def __init__(self, line: int) -> None:
        super().__init__(f"A quote that opens in line {line} is not closed.")
        self.line = line


def commands(text: str, line: int = 1) -> Iterator[Command]:
    """Yield the commands of a text, empty ones left out.

    Args:
        text: Of a script, or of arguments alone.
        line: In which it begins.

    Raises:
        OpenQuoteError: A quote is not closed.
    """
    command, word = Command(), None
    for kind, part, at in _parts(text, line):
        if kind in ("blank", "end"):
            word = None
        else:
            if word is None:
                word = Word(at)
                command.words.append(word)
            _add(word, kind, part)
        if kind == "end" and command.words:
            command.end = part
            yield command
            command = Command()
    if command.words:
        yield command


def _parts(text: str, line: int) -> Iterator[tuple[str, str, int]]:
    """Yield the parts of a text by kind, comments left out, each with the line it begins in."""
    at, between = 0, True
    while at < len(text):
        if between and text[at] == "#":
            at = _line_end(text, at)
            continue
        match = _PART.match(text, at)
        assert match is not None  # noqa: S101 - the last alternative takes any character
        kind, part = match.lastgroup or "", match[0]
        if kind == "open":
            kind, part = "double", _quoted(text, at, line)
        yield kind, part, line
        between = kind in ("blank", "end")
        line += part.count("\n")
        at += len(part)


def _quoted(text: str, at: int, line: int) -> str:
    """Return what is in double quotes, with them."""
    start, at = at, at + 1
    while text[start] == '"' and (match := _IN_QUOTES.match(text, at)):
        at = match.end()
        if match[0] == '"':
            return text[start:at]
    raise OpenQuoteError(line)


def _add(word: Word, kind: str, part: str) -> None:
    if kind == "single":
        word.text += part.removeprefix("$")[1:-1]
        word.quoted = True
    elif kind == "double":
        word.text += _IN_DOUBLE.sub(lambda match: match[1] or "", part[1:-1])
        word.expands |= bool(_VARIABLE.search(re.sub(r"\\.", "", part, flags=re.DOTALL)))
        word.quoted = True
    elif kind == "escaped":
        word.text += part[1:]
    else:
        word.text += part
        word.expands |= kind == "filled"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
