"""Live updates as server-sent events: what changed is told at most every so often, however many events arrive."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

import orjson

from truewatch_lineage.receiver.arrival import Arrival, Entry, Refused
from truewatch_lineage.receiver.ids import NodeKey, node_id
from truewatch_lineage.receiver.writer import Stored
from truewatch_lineage.serving.answers import Refusal

MAX_LISTENERS: Final = 32
INTERVAL: Final = 0.2
"""Seconds between two messages at least."""

_ALIVE_SECONDS: Final = 15.0
_MOST_EVENTS: Final = 50
_MOST_NODES: Final = 500


class Listener:
    """What one client has yet to be told; bounded, however slowly it reads."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.cleared = False
        self.count = 0
        self.seq = 0
        self.events: list[dict[str, Any]] = []
        self.nodes: dict[str, None] = {}
        self.refused: list[dict[str, Any]] = []

    def messages(self) -> list[bytes]:
        """Return what is to be told, and forget it."""
        found = [message("cleared", {})] if self.cleared else []
        if self.count:
            told = {"seq": self.seq, "count": self.count, "events": self.events, "nodes": list(self.nodes)}
            found.append(message("changed", told, number=self.seq))
        found += [message("refused", one) for one in self.refused]
        self.cleared, self.count, self.events, self.nodes, self.refused = False, 0, [], {}, []
        self.woken.clear()
        return found


class Live:
    """Tells every client what changes; its methods are called on the event loop."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._ended = False

    def committed(self, entries: Sequence[Entry], stored: Sequence[Stored]) -> None:
        """Note what a commit brought."""
        if not self._listeners:
            return
        came = [entry for entry in entries if isinstance(entry, Arrival)]
        refused = [entry for entry in entries if isinstance(entry, Refused)]
        told = [_event(item) for item in stored[-_MOST_EVENTS:]]
        nodes = dict.fromkeys(name for item in stored for name in _nodes(item))
        for listener in self._listeners:
            listener.count += len(came)
            listener.seq = max([listener.seq, *(item.seq for item in stored)])
            listener.events = [*listener.events, *told][-_MOST_EVENTS:]
            listener.nodes = dict.fromkeys([*listener.nodes, *nodes][:_MOST_NODES])
            listener.refused = [*listener.refused, *map(_refusal, refused)][-_MOST_EVENTS:]
            listener.woken.set()

    def cleared(self) -> None:
        """Note that everything was forgotten."""
        for listener in self._listeners:
            listener.cleared = True
            listener.woken.set()

    def end(self) -> None:
        """Let every stream end, since the receiver stops."""
        self._ended = True
        for listener in self._listeners:
            listener.woken.set()

    def check(self) -> None:
        """Raise ``Refusal`` 503 if too many listen already."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise Refusal(503, "tooManyListeners", f"At most {MAX_LISTENERS} clients can follow.", {"Retry-After": "5"})

    async def stream(self, seq: int) -> AsyncIterator[bytes]:
        """Yield one client's stream.

        Args:
            seq: The last event that was stored.
        """
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield message("hello", {"seq": seq})
            while not self._ended:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(listener.woken.wait(), _ALIVE_SECONDS)
                yield b"".join(listener.messages()) or b": alive\n\n"
                await asyncio.sleep(INTERVAL)
        finally:
            self._listeners.discard(listener)


def message(event: str, data: object, number: int | None = None) -> bytes:
    """Return one message; ``number`` becomes its id."""
    head = f"id: {number}\n" if number is not None else ""
    return f"event: {event}\n{head}".encode() + b"data: " + orjson.dumps(data) + b"\n\n"


def _event(item: Stored) -> dict[str, Any]:
    common = item.projection.common
    names = ("event_id", "event_time", "run_id", "job_namespace", "job_name", "dataset_namespace", "dataset_name")
    return {
        "seq": item.seq,
        "destination": item.arrival.destination,
        "kind": item.arrival.kind,
        "event_type": item.projection.records[0].get("event_type"),
        **{name: common.get(name) for name in names},
        "job": node_id(item.job) if item.job else None,
    }


def _nodes(item: Stored) -> Iterator[str]:
    if item.job is not None:
        yield node_id(item.job)
    for record in item.projection.records[:_MOST_NODES]:
        if record["lineage_record_type"] in {"dataset", "dataset_edge"}:
            yield node_id(NodeKey("dataset", record["dataset_namespace"], record["dataset_name"]))


def _refusal(item: Refused) -> dict[str, Any]:
    return {"destination": item.destination, "reason_code": item.reason}
