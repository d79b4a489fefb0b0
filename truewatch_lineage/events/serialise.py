"""Events as JSON: from whatever ``emit()`` is given to a plain tree, and from a tree to strict UTF-8."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import orjson

from truewatch_lineage import protocol
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.convert import TooDeepError, TooManyError, convert
from truewatch_lineage.events.model import kind_of, without_lone_surrogates
from truewatch_lineage.events.paths import MAX_DEPTH, find_excess, find_fault

_ONE_EVENT = "A request takes one event; JSON arrays and the OpenLineage batch endpoint are not supported."
_BOM = "\ufeff"
_SHOWN_KEY = 100

MAX_VALUES: Final = 1_000_000
"""Of an event as JSON. One of 64 MiB takes some 400 MiB to read then (600 where its texts have characters above U+FFFF,
of which one makes each of its text take four bytes). What is real has 10 bytes a value at least: it fits up to 10 MB.
Objects, which whoever gives them has in memory already, may have `MAX_ITEMS`."""

_LEVELS_LEFT = 254 - MAX_DEPTH
"""How many arrays around an event of `MAX_DEPTH` levels orjson still writes."""

_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_MANY_DIGITS = b"0" * 19
"""2^63 has so many, with every digit made a zero."""


def to_tree(event: object) -> dict[str, Any]:
    """Return an event as a fresh tree of ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and None.

    Equal to upstream's ``Serde.to_json`` after parsing, but for: NaN and infinities become null; Decimal,
    Path and UUID text; date, time and datetime ISO 8601; timedelta seconds; bytes base64; keys text; other
    objects ``<<non-serializable: X>>``. Nulls are dropped in event objects only, as Serde does; those of
    dicts and JSON stay. A lone surrogate stays until :func:`dumps`.

    Args:
        event: An OpenLineage event object (any attrs class), a mapping, or JSON text as ``str`` or UTF-8
            ``bytes``.

    Raises:
        EventError: It is none of these, a JSON array, no strict JSON (a key with two values, a NaN token,
            invalid UTF-8) or JSON of over 1,000,000 values, or it contains itself, is nested too deep, holds an
            integer of over 4,300 digits or, as objects, over 4,000,000 values.
    """
    if isinstance(event, (bytearray, memoryview)):
        event = bytes(event)
    if isinstance(event, (str, bytes)):
        _refuse_excess(event)
        if isinstance(event, bytes) and (read := _read_plain(event)) is not None:
            return read
        event = _parse(event)
        if not isinstance(event, (Mapping, list)):
            raise EventError("Not a JSON object.", fix="Send one event, as an object.")
    is_object = getattr(type(event), "__attrs_attrs__", None) is not None
    if not is_object and not isinstance(event, Mapping):
        _refuse(event)
    source = event
    try:
        source = event if is_object else dict(event)  # type: ignore[call-overload]
        tree: dict[str, Any] = convert(source, drop_nulls=is_object)
    except (TooDeepError, RecursionError):
        raise find_fault(source) or EventError(f"Nested too deep: over {MAX_DEPTH} levels.") from None
    except TooManyError:
        raise find_excess(source) from None
    except Exception as error:
        # The outermost guard: properties and iterators of the caller's own classes may raise anything.
        raise EventError(f"The event can't be read: its own code raised {type(error).__name__}.") from error
    return tree


def dumps(tree: Mapping[str, Any]) -> bytes:
    """Return a tree as strict, compact UTF-8 JSON (RFC 8259), keys in the tree's order.

    Integers go through exactly, whatever their size; a lone surrogate becomes U+FFFD, NaN and infinities
    null.

    Raises:
        EventError: The tree contains itself, is nested too deep or holds an integer of over 4,300 digits.
    """
    try:
        return orjson.dumps(tree)
    except TypeError:
        return _dumps_slowly(tree)


def normalise(tree: dict[str, Any]) -> dict[str, Any]:
    """Mend what may be changed on the way: a known eventType's case, and a missing schemaURL.

    Returns:
        The same tree if nothing is to be mended, else a shallow copy. runId, names and times are never
        changed.
    """
    changes = {}
    event_type = tree.get("eventType")
    known = event_type.upper() if isinstance(event_type, str) else None
    if known != event_type and known in protocol.EVENT_TYPES:
        changes["eventType"] = known
    kind = kind_of(tree)
    if kind is not None and tree.get("schemaURL") is None:
        changes["schemaURL"] = protocol.SCHEMA_URLS[kind]
    return {**tree, **changes} if changes else tree


def _read_plain(data: bytes) -> dict[str, Any] | None:
    """Parse JSON by orjson, three times as fast; None where `_parse` has to look, to refuse it or to read it exactly.

    That is where orjson refuses it, where there may be an integer above 64 bits, which orjson makes a float, or a key
    that stands twice, of which orjson keeps the last. What is written again as it was has neither.
    """
    try:
        tree = orjson.loads(data)
        again = orjson.dumps(_wrapped(tree))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    is_same = len(again) == len(data) + 2 * _LEVELS_LEFT and again.startswith(data, _LEVELS_LEFT)
    return tree if isinstance(tree, dict) and (is_same or _is_plain(data, again)) else None


def _is_plain(data: bytes, again: bytes) -> bool:
    """Tell whether JSON holds no integer above 64 bits and no key twice in one object, by what orjson wrote again.

    Every key has a colon, so that one which was dropped shows in their number, unless an escape hides one.
    """
    has_escapes = b"\\" in data and b"\\u003" in data  # one byte is found in a tenth of the time
    return not has_escapes and _MANY_DIGITS not in data.translate(_DIGITS) and data.count(b":") == again.count(b":")


def _wrapped(tree: object) -> object:
    """Put a tree into so many arrays that orjson refuses it where it has more than `MAX_DEPTH` levels."""
    for _ in range(_LEVELS_LEFT):
        tree = [tree]
    return tree


def _parse(data: str | bytes) -> object:
    """Parse strict JSON by the standard library: orjson would round integers above 64 bits to floats."""
    text = data if isinstance(data, str) else _decode(data)
    try:
        return json.loads(text.removeprefix(_BOM), object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise EventError(f"Not JSON: {error.msg} (line {error.lineno}, column {error.colno}).") from None
    except RecursionError:
        raise EventError(f"Nested too deep: over {MAX_DEPTH} levels.") from None
    except ValueError:
        raise EventError("An integer of over 4,300 digits can't be sent.") from None


def _refuse_excess(data: str | bytes) -> None:
    """Refuse what would take gigabytes and minutes to read: every value but one has a comma or a bracket before it.

    Those in texts are counted too, of which no real event has so many.
    """
    if len(data) <= MAX_VALUES:
        return
    count = sum(map(data.count, ",[{")) if isinstance(data, str) else sum(map(data.count, b",[{"))
    if count > MAX_VALUES:
        raise EventError(f"The event has over {MAX_VALUES:,} values.", fix="Leave out what is so large.")


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EventError(f"Not UTF-8: byte {error.start} is wrong.", fix="Save the event as UTF-8.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives a name two values: receivers differ in which one they keep (RFC 8259, 4).

    The same value twice has one meaning, and real events have it: the Spark listener 1.53.0 writes an RDD job's facet
    ``processing_engine`` twice.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        # Only what stands twice is written out: else each level of a deep event would be, with all that is below it.
        again = ((key, value) for key, value in pairs if value is not members[key])
        changed = (key for key, value in again if _text(value) != _text(members[key]))
        if (repeated := next(changed, None)) is not None:
            # Whole or not at all: half a key might be half a secret, which would not be found and masked.
            shown = f"the key {repeated!r}" if len(repeated) <= _SHOWN_KEY else f"a key of {len(repeated):,} characters"
            raise EventError(f"Not strict JSON: {shown} stands twice in one object, with two values.")
    return members


def _text(value: Any) -> str:
    """Return a value as text that differs wherever JSON does: in Python, true equals 1."""
    return json.dumps(value, sort_keys=True)


def _no_constant(token: str) -> NoReturn:
    raise EventError(f"Not strict JSON: {token} is no JSON value.", fix="Write null instead.")


def _refuse(value: object) -> NoReturn:
    if isinstance(value, (list, tuple)):
        raise EventError(f"Not one event but an array. {_ONE_EVENT}", fix="Send each event by itself.")
    name = "null" if value is None else type(value).__qualname__
    raise EventError(f"An OpenLineage event, a dict or a JSON object is expected, not {name}.")


def _dumps_slowly(tree: Mapping[str, Any]) -> bytes:
    fault = find_fault(tree)
    if fault is not None:
        raise fault
    try:
        return json.dumps(_mend(tree), ensure_ascii=False, separators=(",", ":")).encode()
    except ValueError as error:
        # The process may have a lower limit of digits than Python's own: sys.set_int_max_str_digits.
        raise EventError(f"The event can't be written: {error}.") from None


def _mend(value: Any) -> Any:
    """Replace what neither orjson nor strict JSON takes: lone surrogates, and NaN, which orjson writes as null."""
    if isinstance(value, str):
        # Through UTF-16, so that two halves that belong together join, as they do when JSON escapes are
        # parsed.
        return without_lone_surrogates(value)
    if isinstance(value, Mapping):
        return {_mend(key): _mend(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mend(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
