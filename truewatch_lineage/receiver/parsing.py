"""Reading one event's JSON, within bounds and without two meanings."""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

from truewatch_lineage.serving.answers import Refusal

MAX_TOP_LEVEL_KEYS: Final = 1000
"""An event of the specification has eleven."""

_ROOM: Final = 4
"""Levels of nesting below the writer's limit (254): what is projected wraps parts of the event again."""

_KEY: Final = b'":'
_BLANKS: Final = (b" :", b"\t:", b"\n:", b"\r:")


def parse(body: bytes) -> dict[str, Any]:
    """Read one event from its decoded bytes; raises ``Refusal`` 400 if it is no JSON object, or an ambiguous one."""
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        message = f"$: the body is not valid JSON: {error.msg} at byte {error.pos}."
        raise Refusal(400, "invalidJson", message) from None
    if isinstance(tree, list):
        # T says it: "JSON arrays and the OpenLineage batch endpoint are not supported."
        raise Refusal(400, "arrayNotSupported", "$: send one event in a request, not an array.")
    if not isinstance(tree, dict):
        raise Refusal(400, "notAnObject", "$: an event is a JSON object.")
    if len(tree) > MAX_TOP_LEVEL_KEYS:
        raise Refusal(400, "tooManyKeys", f"$: an event has at most {MAX_TOP_LEVEL_KEYS} keys at the top level.")
    _refuse_duplicates(body, _written(tree))
    return tree


def _written(tree: dict[str, Any]) -> bytes:
    try:
        whole = orjson.dumps([[[[tree]]]])
    except orjson.JSONEncodeError:
        raise Refusal(400, "nestedTooDeep", "$: objects and arrays are nested too deep.") from None
    return whole[_ROOM:-_ROOM]


def _refuse_duplicates(body: bytes, again: bytes) -> None:
    """Refuse an object that gives a key two values: readers take the first or the last, so it would mean two events.

    The same value twice has one meaning, and real events have it: the Spark listener 1.53.0 writes an RDD job's facet
    ``processing_engine`` twice.

    Looking at every key is slow, so it is done only where the event may have more keys written than read: in the
    absence of blanks before a colon, and of escapes that hide a quotation mark, ``":`` occurs equally often in both
    unless a key was dropped.

    Args:
        body: The event as received.
        again: The same, written from what was read.
    """
    if again == body:
        return
    plain = b"\\u" not in body and not any(blank in body for blank in _BLANKS)
    if not (plain and body.count(_KEY) == again.count(_KEY)):
        json.loads(body, object_pairs_hook=_clear, parse_int=_number, parse_float=_number)


def _clear(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        # The key is not repeated: it may hold anything, a token too.
        raise Refusal(400, "duplicateKey", "$: an object gives a key two values.")
    return found


def _number(text: str) -> tuple[str]:
    """Keep a number as it is written, apart from texts: reading a huge one would take long."""
    return (text,)
