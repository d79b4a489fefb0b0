"""JSON paths (RFC 9535), and the search for the place where a value can't become JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from truewatch_lineage.errors import EventError

MAX_DEPTH: Final = 200
"""Objects and arrays inside each other: orjson writes 254, and what reads the event walks it by recursion."""

MAX_ITEMS: Final = 4_000_000
"""Members of objects and arrays in one event, each counted as often as it is written: the largest real events, of some
10 MB, have a tenth. References to one list from several places multiply: 40 levels of two would be 10^12."""

MAX_INT: Final = 10**4300
"""Python's own limit for integers as text (CVE-2020-10735); a receiver in Python refuses longer ones."""

_SHOWN_PATH: Final = 200
"""Characters; a path is cut between its names, never within one, half of which might be half of a secret."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def join(path: str, key: object) -> str:
    """Append a member's name or an index to a JSON path: ``$.run``, ``$.inputs[0]``, ``$['a b']``."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = str(key)
    if _PLAIN_NAME.match(name):
        return f"{path}.{name}"
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"{path}['{quoted}']"


def find_fault(root: object) -> EventError | None:
    """Find the first thing in a value that JSON can't carry, or None.

    That is a cycle, more than :data:`MAX_DEPTH` levels, or an integer of over 4,300 digits. Only called after
    writing failed, so that the normal way pays nothing for it.
    """
    with suppress(Exception):  # properties and iterators of the caller's own classes may raise anything
        return _find_fault(root)
    return None


def find_excess(root: object) -> EventError:
    """Find where a value is written with more than :data:`MAX_ITEMS` items, though it may hold few objects."""
    path = "$"
    with suppress(Exception):  # as above
        sizes: dict[int, int] = {}
        owners = [("$", root)]
        while len(owners) == 1:
            path, owner = owners[0]
            members = [(join(path, key), item) for key, item in _members(owner)]
            owners = [(place, item) for place, item in members if _size(item, sizes) > MAX_ITEMS]
    return EventError(
        f"The event has over {MAX_ITEMS:,} values, each counted as often as it is written.",
        path=path,
        fix="Put what stands in several places there once, or leave it out.",
    )


def _size(value: object, sizes: dict[int, int]) -> int:
    """Return how many items a value is written with, looking into each object once: ``sizes`` by id."""
    if not _is_container(value):
        return 0
    if id(value) not in sizes:
        sizes[id(value)] = 0  # what a cycle counts for
        sizes[id(value)] = sum(1 + _size(item, sizes) for _, item in _members(value))
    return sizes[id(value)]


def _find_fault(root: object) -> EventError | None:
    trail: list[tuple[int, str, Iterator[tuple[object, Any]]]] = [(id(root), "$", _members(root))]
    active = {id(root)}
    while trail:
        owner, path, members = trail[-1]
        for key, item in members:
            place = join(path, key)
            if isinstance(item, int) and abs(item) >= MAX_INT:
                return EventError("An integer of over 4,300 digits can't be sent.", path=place)
            if id(item) in active:
                return EventError(f"The value contains itself (it is {_path_of(trail, item)}).", path=place)
            if _is_container(item):
                if len(trail) >= MAX_DEPTH:
                    shown = next(path for _, path, _ in reversed(trail) if len(path) <= _SHOWN_PATH)
                    return EventError(f"Nested too deep: over {MAX_DEPTH} levels.", path=f"{shown}…")
                active.add(id(item))
                trail.append((id(item), place, _members(item)))
                break
        else:
            active.discard(owner)
            trail.pop()
    return None


def _path_of(trail: list[tuple[int, str, Iterator[tuple[object, Any]]]], item: object) -> str:
    return next(path for owner, path, _ in trail if owner == id(item))


def _is_container(value: object) -> bool:
    return isinstance(value, (dict, list, tuple, set, frozenset)) or _fields(value) is not None


def _members(value: Any) -> Iterator[tuple[object, Any]]:
    fields = _fields(value)
    if fields is not None:
        return ((field.name, getattr(value, field.name, None)) for field in fields)
    if isinstance(value, dict):
        return ((key if isinstance(key, str) else repr(type(key)), item) for key, item in value.items())
    return iter(enumerate(value)) if _is_container(value) else iter(())


def _fields(value: object) -> Any:
    """Return the attrs fields of an instance's class, or None."""
    return getattr(type(value), "__attrs_attrs__", None)
