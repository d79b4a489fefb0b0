"""Events from files: JSON, several documents in one, NDJSON, arrays, folders and standard input, without reading whole.

A value that is broken is named with its line, and reading goes on behind it: at the next line where the value was one
line, else at the next line that begins with ``{`` or ``[``.
"""

from __future__ import annotations

import codecs
import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from truewatch_lineage.errors import EventError

SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
"""What counts as a file of events in a folder."""

_CHUNK: Final = 1 << 20
_BLANK: Final = " \t\r\n"
_NEAR_END: Final = 16
"""A fault so near the end of what was read may be a literal or an escape that was cut."""

# Only boundaries are looked for here: each value is parsed strictly later, and a number of 5,000 digits is no matter.
_decoder: Final = json.JSONDecoder(parse_int=len, parse_float=len)


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file, or what is wrong with it.

    Attributes:
        file: The file's path, or ``<stdin>``.
        data: Its JSON as it stands there, or None.
        problem: What is wrong, or None.
        position: Bytes of all files read so far.
        line: In which it begins; None where the whole file is meant.
        index: Its place in its array, from 0; None where it is in none.
    """

    file: str
    data: bytes | None = None
    problem: str | None = None
    position: int = 0
    line: int | None = None
    index: int | None = None

    @property
    def where(self) -> str:
        """Say where it is: ``file``, ``file:line`` or ``file:line[index]``."""
        line = "" if self.line is None else f":{self.line}"
        return self.file + line + ("" if self.index is None else f"[{self.index}]")

    def content(self) -> bytes:
        """Return its JSON.

        Raises:
            EventError: It has none.
        """
        if self.data is None:
            raise EventError(self.problem or "It is empty.")
        return self.data


def items(paths: Sequence[str]) -> Iterator[Item]:
    """Yield the values of files, of the files in folders (sorted), and of standard input (``-``).

    A file that can't be read, or holds nothing, is an item with a problem.
    """
    done = 0
    for path in paths:
        if path == "-":
            yield from _of_stream(sys.stdin.buffer, "<stdin>", done)
            continue
        for file in _files(path):
            if isinstance(file, Item):
                yield file
                continue
            try:
                with file.open("rb") as stream:
                    yield from _of_stream(stream, str(file), done)
                    done += stream.tell()
            except OSError as error:
                yield Item(str(file), problem=f"it can't be read: {error.strerror}")


def total_bytes(paths: Sequence[str]) -> int | None:
    """Return how many bytes `items` will read, or None where that is not known."""
    if "-" in paths:
        return None
    files = [file for path in paths for file in _files(path) if not isinstance(file, Item)]
    return sum(file.stat().st_size for file in files if file.is_file())


def _files(path: str) -> Iterator[Path | Item]:
    if not os.path.lexists(path):
        yield Item(path, problem="there is no such file or folder")
    elif Path(path).is_dir():
        found = sorted(file for file in Path(path).rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        yield from found
        if not found:
            yield Item(path, problem=f"the folder holds no file that ends with {', '.join(SUFFIXES)}")
    else:
        yield Path(path)


def _of_stream(stream: BinaryIO, name: str, done: int) -> Iterator[Item]:
    text, is_empty = _Text(stream), True
    while not text.at_end():
        for item in _next_items(text, name):
            is_empty = False
            yield replace(item, position=done + text.read)
    if is_empty:
        yield Item(name, problem="it holds no event", position=done + text.read)


def _next_items(text: _Text, name: str) -> Iterator[Item]:
    """Yield the next value, or the elements of the next array; both without their position."""
    try:
        if text.next_is("["):
            yield from _of_array(text, name)
        else:
            line, data = text.value()
            yield Item(name, data, line=line)
    except _BrokenError as error:
        yield Item(name, problem=str(error), line=error.line)
        text.recover(error)


def _of_array(text: _Text, name: str) -> Iterator[Item]:
    """Yield the elements of an array; behind a broken one those that begin a line still count."""
    first, broken = text.line, False
    text.take("[")
    for index in itertools.count():
        if text.at_end():
            break
        if text.take("]"):
            return
        try:
            line, data = text.value()
            yield Item(name, data, line=line, index=index)
            if text.take("]"):
                return
            text.expect_comma()
        except _BrokenError as error:
            yield Item(name, problem=str(error), line=error.line, index=index)
            broken = True
            text.recover(error)
    if not broken:
        yield Item(name, problem="not JSON: the array has no end", line=first)


class _BrokenError(Exception):
    """A value is no JSON.

    Args:
        problem: What is wrong.
        line: Where the value begins.
        one_line: Whether the fault is in that line.
    """

    def __init__(self, problem: str, line: int, *, one_line: bool) -> None:
        super().__init__(problem)
        self.line = line
        self.one_line = one_line


class _Text:
    """The text of a stream, of which only what is looked at is in memory.

    Bytes that are no UTF-8 become lone surrogates, and bytes again in what `value` returns.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = 1
        self.read = 0
        self._more()
        self._at += self._text.startswith("\ufeff")

    def at_end(self) -> bool:
        """Pass over blanks and tell whether nothing follows."""
        while True:
            rest = self._text[self._at : self._at + _CHUNK].lstrip(_BLANK)
            self._advance(min(len(self._text), self._at + _CHUNK) - len(rest))
            if rest:
                return False
            if self._at == len(self._text) and not self._more():
                return True

    def next_is(self, character: str) -> bool:
        """Tell whether ``character`` follows."""
        return self._text.startswith(character, self._at)

    def take(self, character: str) -> bool:
        """Pass over blanks and over ``character`` if it follows; returns whether it did."""
        found = not self.at_end() and self.next_is(character)
        self._at += found
        return found

    def expect_comma(self) -> None:
        """Pass over the comma between two elements.

        Raises:
            _BrokenError: Something else is there.
        """
        if not self.take(",") and not self.at_end():
            raise _BrokenError("not JSON: a comma or the array's end is missing before this", self.line, one_line=True)

    def value(self) -> tuple[int, bytes]:
        """Read one value; returns the line it begins in and its JSON.

        Raises:
            _BrokenError: It is no JSON.
        """
        while True:
            try:
                _, end = _decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END
                if cut and not self._ended:
                    self._more()  # which moves all positions, so the value is parsed anew even at the end
                else:
                    raise self._broken(f"not JSON: {error.msg.removesuffix(' at')}", error.pos) from None
            except RecursionError:
                raise self._broken("not JSON that can be sent: it is nested too deep", self._at) from None
            else:
                if end == len(self._text) and not self._ended:
                    self._more()  # a number may go on
                else:
                    line, data = self.line, self._text[self._at : end].encode("utf-8", "surrogateescape")
                    self._advance(end)
                    return line, data

    def recover(self, error: _BrokenError) -> None:
        """Go on behind a broken value."""
        self._skip_line()
        while not error.one_line and self._filled() and self._text[self._at] not in "{[":
            self._skip_line()

    def _broken(self, problem: str, position: int) -> _BrokenError:
        ahead = self._text.count("\n", self._at, position)
        end = self._text.find("\n", self._at)
        one_line = end < 0 or position <= end
        where = "" if one_line else f" (in line {self.line + ahead})"
        return _BrokenError(problem + where, self.line, one_line=one_line)

    def _skip_line(self) -> None:
        while self._filled():
            end = self._text.find("\n", self._at)
            self._advance(len(self._text) if end < 0 else end + 1)
            if end >= 0:
                return

    def _filled(self) -> bool:
        return self._at < len(self._text) or self._more()

    def _advance(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        """Read on; twice as much for a value that is longer than all before, so that it is not parsed too often."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        piece = self._stream.read(max(_CHUNK, len(rest)))
        self._ended = not piece
        self.read += len(piece)
        self._text, self._at = rest + self._decode(piece, self._ended), 0
        return bool(piece)
