"""From Python objects to plain JSON trees, as fast as pure Python goes.

What comes out equals upstream's ``Serde.to_dict`` but for the values that JSON lacks (see ``to_tree`` in
:mod:`truewatch_lineage.events.serialise`). For every attrs class a function is generated once from its
fields, so that an event costs no reflection; everything else goes through a table from type to function,
filled at first sight.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from collections import deque
from collections.abc import Callable
from keyword import iskeyword
from typing import Any, Final

from truewatch_lineage.events.paths import MAX_DEPTH, MAX_ITEMS

Handler = Callable[[Any, int], Any]
"""Takes a value and the levels still allowed below it; returns plain JSON or :data:`LEAVE_OUT`."""

LEAVE_OUT: Final = object()
"""What a handler returns for a null that Serde would drop (a NaN becomes a null that stays)."""

_MAX_CLASSES: Final = 4096
"""Types remembered at most: old upstream versions make a class for every facet with additional properties."""


_COUNTED_BELOW: Final = MAX_DEPTH - 12
"""Attrs instances are counted where fewer levels are left: real events have none so deep, and counting all would cost
5 % of the time. Lists and dicts are counted everywhere."""


class TooDeepError(Exception):
    """More than :data:`MAX_DEPTH` levels: internal, the caller finds the place and raises an ``EventError``."""


class TooManyError(Exception):
    """More than :data:`MAX_ITEMS` items, as shared references multiply: internal, as :class:`TooDeepError`."""


def convert(value: object, *, drop_nulls: bool) -> Any:
    """Return a fresh plain tree of ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and None.

    Args:
        value: An attrs instance, or anything else.
        drop_nulls: Drop None in dicts and lists and ``{}`` in lists, as Serde does for event objects. Attrs
            instances are always treated so.

    Raises:
        TooDeepError: On more than 200 levels, and so on a cycle.
        TooManyError: On more than 4,000,000 items.
    """
    try:
        converter = _idle.pop()
    except IndexError:
        converter = Converter()
    try:
        converter.left[0] = MAX_ITEMS
        handlers = converter.dropping if drop_nulls else converter.keeping
        return handlers[type(value)](value, MAX_DEPTH)
    finally:
        _idle.append(converter)


class Converter:
    """The handlers for one conversion at a time, so that its count of items need not be handed from call to call.

    Attributes:
        left: The items still allowed, a list of one number, which the handlers share.
        keeping: The handlers that keep nulls.
        dropping: The handlers that drop them.
    """

    def __init__(self) -> None:
        self.left = [MAX_ITEMS]
        self.keeping = _Handlers(self, drop_nulls=False)
        self.dropping = _Handlers(self, drop_nulls=True)

    def key_text(self, key: object) -> str:
        """Return a dict's key as text.

        Strings as they are, numbers, booleans and None as JSON writes them (as ``json.dumps`` does), everything
        else as its value would be, composite ones as compact JSON text.
        """
        plain = self.keeping[type(key)](key, MAX_DEPTH)
        if isinstance(plain, str):
            return plain
        if isinstance(key, float) and plain is None:
            return json.dumps(float(key))
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


class _Handlers(dict[type, Handler]):
    """The table from a type to its handler; one for each way of treating nulls."""

    def __init__(self, converter: Converter, *, drop_nulls: bool) -> None:
        super().__init__()
        self._converter = converter
        self._drop_nulls = drop_nulls
        self._dict = _dict_handler(self, converter, drop_nulls=drop_nulls)
        self._list = _list_handler(self, converter.left, drop_nulls=drop_nulls)
        self._attrs: dict[tuple[str, ...], Handler] = {}
        self.update(_AS_THEY_ARE)

    def __missing__(self, cls: type) -> Handler:
        if len(self) >= _MAX_CLASSES:
            self.clear()
            self._attrs.clear()
            self.update(_AS_THEY_ARE)
        handler = self[cls] = self._resolve(cls)
        return handler

    def _resolve(self, cls: type) -> Handler:
        """Choose in Serde's own order, so that a class which is several things at once turns out the same."""
        fields = getattr(cls, "__attrs_attrs__", None)
        if fields is not None:
            return self._of_attrs(tuple(field.name for field in fields))
        if issubclass(cls, (tuple, list, set, frozenset)):
            return self._list
        if issubclass(cls, dict):
            return self._dict
        if issubclass(cls, enum.Enum):
            return self._enum
        return _leaf_handler(cls)

    def _of_attrs(self, names: tuple[str, ...]) -> Handler:
        """Return the handler of attrs classes with these fields; classes with equal fields share it."""
        if names not in self._attrs:
            # Serde drops the nulls of attrs instances wherever they stand.
            self._attrs[names] = _attrs_handler(names, self._converter)
        return self._attrs[names]

    def _enum(self, value: enum.Enum, depth: int) -> Any:
        # Serde does not look into a member's value, so nulls inside it stay.
        if value.value is None:
            return LEAVE_OUT if self._drop_nulls else None
        return self._converter.keeping[type(value.value)](value.value, depth)


def _dict_handler(handlers: _Handlers, converter: Converter, *, drop_nulls: bool) -> Handler:
    """Make the handler of dicts: a closure, since attribute look-ups would show in every item."""
    left, key_text = converter.left, converter.key_text

    def convert_dict(value: dict[Any, Any], depth: int) -> dict[str, Any]:
        if depth <= 0:
            raise TooDeepError
        depth -= 1
        if not value:
            return {}
        left[0] = rest = left[0] - len(value)
        if rest < 0:
            raise TooManyError
        out: dict[str, Any] = {}
        for key, item in value.items():
            if type(item) is str:
                new = item
            elif item is None:
                if drop_nulls:
                    continue
                new = None
            else:
                new = handlers[type(item)](item, depth)
                if new is LEAVE_OUT:
                    continue
            out[key if type(key) is str else key_text(key)] = new
        return out

    return convert_dict


def _list_handler(handlers: _Handlers, left: list[int], *, drop_nulls: bool) -> Handler:
    """Make the handler of lists, tuples and sets."""

    def convert_list(value: list[Any], depth: int) -> list[Any]:
        if depth <= 0:
            raise TooDeepError
        depth -= 1
        if not value:
            return []
        left[0] = rest = left[0] - len(value)
        if rest < 0:
            raise TooManyError
        out: list[Any] = []
        for item in value:
            if item is None:
                if not drop_nulls:
                    out.append(None)
                continue
            if type(item) is str:
                out.append(item)
                continue
            new = handlers[type(item)](item, depth)
            if new is not LEAVE_OUT and (new or not drop_nulls or new != {}):
                out.append(new)
        return out

    return convert_list


def _attrs_handler(names: tuple[str, ...], converter: Converter) -> Handler:
    """Generate the handler of attrs classes with these fields: straight-line code, a branch for each field.

    A name that is no identifier is read by ``getattr``; names are quoted, so that no name can become code.
    """
    lines = [
        "def convert_attrs(o, depth):",
        "    if depth <= 0: raise TooDeepError",
        "    depth -= 1",
        f"    if depth < {_COUNTED_BELOW}:",
        f"        left[0] -= {len(names)}",
        "        if left[0] < 0: raise TooManyError",
        "    out = {}",
    ]
    for name in names:
        plain = name.isidentifier() and not iskeyword(name)
        lines += [
            f"    v = {f'o.{name}' if plain else f'getattr(o, {name!r})'}",
            f"    if type(v) is str: out[{name!r}] = v",
            "    elif v is not None:",
            "        v = handlers[type(v)](v, depth)",
            f"        if v is not LEAVE_OUT: out[{name!r}] = v",
        ]
    lines.append("    return out")
    scope: dict[str, Any] = {"handlers": converter.dropping, "left": converter.left, "LEAVE_OUT": LEAVE_OUT}
    scope |= {"TooDeepError": TooDeepError, "TooManyError": TooManyError}
    exec("\n".join(lines), scope)  # noqa: S102 - the source is built from quoted names only
    handler: Handler = scope["convert_attrs"]
    return handler


def _leaf_handler(cls: type) -> Handler:
    """Choose the handler of anything that is neither attrs, nor a container, nor an enum."""
    for base, turn in _LEAVES:
        if issubclass(cls, base):
            return _guarded(turn)
    # Pandas uses numpy.int64; Serde knows it by its name, since neither may be installed.
    return _guarded(int) if cls.__name__ == "int64" else _placeholder


def _guarded(turn: Callable[[Any], Any]) -> Handler:
    """Turn a leaf into JSON, or into the placeholder if its own methods raise."""

    def convert_leaf(value: Any, _depth: int) -> Any:
        try:
            return turn(value)
        except Exception:  # noqa: BLE001 - a subclass's own method may raise anything, and must not cost the event
            return _placeholder(value, _depth)

    return convert_leaf


def _placeholder(value: object, _depth: int) -> str:
    """Return what Serde writes for an object that JSON lacks."""
    return f"<<non-serializable: {type(value).__qualname__}>>"


def _finite(value: float) -> float | None:
    number = float.__float__(value)
    return number if number - number == 0 else None


def _base64(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode("ascii")


def _same(value: Any, _depth: int) -> Any:
    return value


_LEAVES: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...]] = (
    (dt.date, lambda value: value.isoformat()),  # datetime is a subclass
    (uuid.UUID, str),
    (bool, bool),
    (str, str.__str__),
    (int, int.__int__),
    (float, _finite),
    (type(None), lambda value: value),
    (dt.time, lambda value: value.isoformat()),
    (dt.timedelta, lambda value: value.total_seconds()),
    ((decimal.Decimal, pathlib.PurePath), str),
    ((bytes, bytearray, memoryview), _base64),
)

_AS_THEY_ARE: Final[dict[type, Handler]] = {str: _same, int: _same, bool: _same}
_idle: Final[deque[Converter]] = deque([Converter()])
"""Those that no thread is using; a deque's ends are atomic, so that threads and forks need no lock."""
