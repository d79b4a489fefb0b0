"""Values that JSON lacks or that clients get wrong, and what each must arrive as (design, "Values")."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import pathlib
import types
import uuid
from typing import Any, NamedTuple

import attr


class Colour(enum.Enum):
    """A plain enum with values of several types."""

    RED = "red"
    NOTHING = None
    MANY = ("a", None)


class Level(enum.IntEnum):
    """An enum that is an int."""

    HIGH = 3


class Word(str, enum.Enum):
    """An enum that is text."""

    YES = "yes"


class Text(str):
    """A subclass of str."""

    __slots__ = ()


class Number(int):
    """A subclass of int."""


class Ratio(float):
    """A subclass of float."""


class Pair(NamedTuple):
    """A named tuple."""

    left: Any
    right: Any


class int64:  # noqa: N801 - the name of numpy's class is how Serde knows it
    """What numpy.int64 looks like: a number that is no int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value


class Hostile:
    """An object whose own text raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class HostileDate(dt.date):
    """A date that can't be written."""

    def isoformat(self) -> str:
        raise RuntimeError("no text")


@attr.define
class Point:
    """An attrs class of the user's own."""

    x: Any = None
    y: Any = None


DROPPED = object()
"""The key is left out."""

ROWS: list[tuple[str, Any, Any]] = [
    ("none", None, DROPPED),
    ("true", True, True),
    ("text", "plain", "plain"),
    ("cjk", "订单", "订单"),
    ("astral", "😀", "😀"),
    ("control", "a\x00\n\u2028b", "a\x00\n\u2028b"),
    ("lone surrogate", "\ud800bad", "\ufffdbad"),
    ("two halves of one character", "\ud83d\ude00", "😀"),
    ("surrogate in a key", {"\udfff": 1}, {"\ufffd": 1}),
    ("int above 64 bits", 2**70, 2**70),
    ("int below 64 bits", -(2**70), -(2**70)),
    ("int of 4,300 digits", 10**4299, 10**4299),
    ("float", 1.5, 1.5),
    ("nan", float("nan"), None),
    ("infinity", float("inf"), None),
    ("minus infinity in a list", [1, float("-inf")], [1, None]),
    ("decimal", decimal.Decimal("1.10"), "1.10"),
    ("decimal nan", decimal.Decimal("NaN"), "NaN"),
    ("complex", 1j, "<<non-serializable: complex>>"),
    ("path", pathlib.PurePosixPath("/x/y"), "/x/y"),
    ("uuid", uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ("datetime", dt.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),  # noqa: DTZ001 - without offset
    ("aware datetime", dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc), "2026-01-02T00:00:00+00:00"),
    ("date", dt.date(2026, 1, 2), "2026-01-02"),
    ("time", dt.time(1, 2), "01:02:00"),
    ("timedelta", dt.timedelta(minutes=1, milliseconds=500), 60.5),
    ("bytes", b"\x00\xff", "AP8="),
    ("bytearray", bytearray(b"\x00\xff"), "AP8="),
    ("memoryview", memoryview(b"\x00\xff"), "AP8="),
    ("enum", Colour.RED, "red"),
    ("enum of none", Colour.NOTHING, DROPPED),
    ("enum of a tuple", Colour.MANY, ["a", None]),
    ("int enum", Level.HIGH, 3),
    ("text enum", Word.YES, "yes"),
    ("str subclass", Text("t"), "t"),
    ("int subclass", Number(7), 7),
    ("float subclass", Ratio(0.5), 0.5),
    ("nan of a float subclass", Ratio("nan"), None),
    ("numpy's int64", int64(5), 5),
    ("tuple", (Colour.RED, None), ["red"]),
    ("named tuple", Pair(1, (2, None)), [1, [2]]),
    ("set", {1}, [1]),
    ("frozenset", frozenset({"a"}), ["a"]),
    ("deque", collections.deque([1]), "<<non-serializable: deque>>"),
    ("mapping that is no dict", types.MappingProxyType({}), "<<non-serializable: mappingproxy>>"),
    ("null and empty object in a dict", {"a": None, "b": {}}, {"b": {}}),
    ("null and empty object in a list", [{}, None, 1, {"a": None}], [1]),
    ("ordered dict", collections.OrderedDict(a=1), {"a": 1}),
    (
        "keys that are no text",
        {1: "a", 2.5: "b", False: "c", None: "d"},
        {"1": "a", "2.5": "b", "false": "c", "null": "d"},
    ),
    ("mixed keys", {1: "a", "b": 2}, {"1": "a", "b": 2}),
    ("keys JSON lacks", {dt.date(2026, 1, 2): 1, Colour.RED: 2, b"k": 3}, {"2026-01-02": 1, "red": 2, "aw==": 3}),
    ("tuple as key", {(1, "a"): 1}, {'[1,"a"]': 1}),
    ("nan as key", {float("nan"): 1}, {"NaN": 1}),
    ("attrs object", Point(1), {"x": 1}),
    ("attrs objects in a list", [Point(), Point(y=[None])], [{"y": []}]),
    ("class", Point, "<<non-serializable: type>>"),
    ("ellipsis", ..., "<<non-serializable: ellipsis>>"),
    ("object whose repr raises", Hostile(), "<<non-serializable: Hostile>>"),
    ("date whose isoformat raises", HostileDate(2026, 1, 2), "<<non-serializable: HostileDate>>"),
]
