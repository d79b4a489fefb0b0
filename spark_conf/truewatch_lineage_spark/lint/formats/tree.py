"""JSON and YAML read into one kind of tree, each node with the line it stands on."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MAX_NODES: Final = 200_000
"""No definition of a job is as large; a YAML file of a few lines can unfold to more."""

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_QUOTED: Final = re.compile(r"'[^']{3,}'")
"""A piece of the file in a message of PyYAML's, longer than a character's escape."""

_RECURSIVE: Final = "is nested too deep, or in itself"


class TreeError(ValueError):
    """A file is not of its format.

    Args:
        line: Where.
        problem: What is wrong, never with the file's text in it.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Node:
    """A value.

    Attributes:
        line: In which it begins.
        text: A scalar's, as the listener gets it; None for the others.
        members: A mapping's, in order; a key that comes twice is there twice.
        items: A list's.
    """

    line: int
    text: str | None = None
    members: tuple[tuple[str, int, Node], ...] | None = None
    items: tuple[Node, ...] | None = None

    def get(self, *names: str) -> Node | None:
        """Return the last member of one of these names."""
        found = [node for key, _, node in self.members or () if key in names]
        return found[-1] if found else None

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it."""
        yield self
        for _, _, node in self.members or ():
            yield from node.walk()
        for node in self.items or ():
            yield from node.walk()


def scalar_text(value: Any) -> str:
    """Return the text of a JSON scalar; null is empty, since the listener drops both."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def from_json(text: str) -> Node:
    """Read JSON.

    Args:
        text: Of one document.

    Raises:
        TreeError: It is no JSON.
    """
    try:
        json.loads(text, parse_int=str, parse_float=str)
        return _Json(text).read()
    except json.JSONDecodeError as error:
        raise TreeError(error.lineno, f"is no JSON: {error.msg}") from None
    except RecursionError:
        raise TreeError(1, _RECURSIVE) from None


class _Json:
    """Reads a text that is known to be JSON once more, for the lines, which the standard library does not tell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._scalars = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)

    def read(self) -> Node:
        first = self._next()
        line = self._line()
        if first == "{":
            return Node(line, members=tuple(self._members()))
        if first == "[":
            return Node(line, items=tuple(self._items()))
        return Node(line, scalar_text(self._scalar()))

    def _members(self) -> Iterator[tuple[str, int, Node]]:
        while self._more("}"):
            line = self._line()
            key = self._scalar()
            self._next()
            self._at += 1
            yield key, line, self.read()

    def _items(self) -> Iterator[Node]:
        while self._more("]"):
            yield self.read()

    def _more(self, end: str) -> bool:
        """Step over a bracket or comma; tell whether another value follows."""
        done = self._next() == end
        self._at += 1
        if not done and self._next() == end:
            self._at += 1
            return False
        return not done

    def _next(self) -> str:
        match = _BLANKS.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at]

    def _scalar(self) -> Any:
        value, self._at = self._scalars.raw_decode(self._text, self._at)
        return value

    def _line(self) -> int:
        return bisect.bisect_left(self._ends, self._at) + 1


def from_yaml(text: str) -> list[Node]:
    """Read YAML.

    Args:
        text: Of one document or several.

    Raises:
        TreeError: It is no YAML.
    """
    import yaml  # noqa: PLC0415 - other formats need none

    try:
        return [_Yaml().read(node) for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise TreeError(line, f"is no YAML: {_QUOTED.sub('...', error.problem or '')}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise TreeError(line, "holds a character that YAML does not allow") from None
    except (ValueError, OverflowError):  # an escape beyond the last character
        raise TreeError(1, "is no YAML: an escape stands for no character") from None
    except RecursionError:
        raise TreeError(1, _RECURSIVE) from None


class _Yaml:
    """Turns PyYAML's nodes into ours, few enough of them."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, node: Any) -> Node:
        self._count += 1
        line = node.start_mark.line + 1
        if self._count > MAX_NODES:
            raise TreeError(line, f"unfolds to more than {MAX_NODES:,} values")
        if node.id == "mapping":
            return Node(line, members=tuple(self._member(key, value) for key, value in node.value))
        if node.id == "sequence":
            return Node(line, items=tuple(self.read(one) for one in node.value))
        return Node(line, "" if node.tag.endswith(":null") else node.value)

    def _member(self, key: Any, value: Any) -> tuple[str, int, Node]:
        name = key.value if isinstance(key.value, str) else ""
        return name, key.start_mark.line + 1, self.read(value)
