"""From a message of the topic to what is to be done for it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from confluent_kafka import Message

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.gateway.kafka.events import Event, Parcel
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.intake import Batch, Intake, compress
from truewatch_lineage.spool import Entry

LANE: Final = "kafka:"
"""How the lanes of events begin that came by Kafka, also in the spool."""

_LONGEST_KEY: Final = 512

Read = tuple[Message, Offsets]
"""A message, and what is known of its partition."""


class Preparation:
    """Prepares messages for the stage.

    Args:
        settings: The settings; the order of destinations is kept.

    Attributes:
        empty: How many messages had no value (tombstones), which say nothing to deliver.
        skipped: How many events no destination wants.
    """

    def __init__(self, settings: Settings) -> None:
        self._intake = Intake(settings)
        self._bindings = [binding_of(destination) for destination in settings.destinations]
        self.empty = 0
        self.skipped = 0

    def prepare(self, messages: Iterable[Read]) -> list[Event]:
        """Return an event for each message, its parcels in the order of the destinations.

        Args:
            messages: None of them an error.
        """
        arrived = time.monotonic()
        return [self._event(message, offsets, arrived) for message, offsets in messages]

    def _event(self, message: Message, offsets: Offsets, arrived: float) -> Event:
        event, value = Event(offsets, message.offset() or 0, None, b"", arrived), _bytes(message.value())
        if value is None:
            self.empty += 1
            return event
        batch = self._intake.accept(value, self._bindings)
        if not batch.entries:
            self.skipped += 1
            return event
        key = _bytes(message.key())
        event.key = None if key is None else self._intake.mask(key)
        event.original = batch.packed() if batch.data is not None else compress(self._intake.mask(value))
        lane = None if event.key is None else _lane(event.key)
        event.parcels = [Parcel(event, _placed(entry, lane)) for entry in batch.entries]
        event.size = _size(event, batch)
        return event


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _placed(entry: Entry, lane: str | None) -> Entry:
    return replace(entry, lane=lane or f"{LANE}{entry.lane}")


def _lane(key: bytes) -> str:
    """Return the lane of a key; a key of any length is one of its own."""
    if len(key) > _LONGEST_KEY:
        return f"{LANE}{hashlib.sha256(key).hexdigest()}"
    return f"{LANE}{key.decode('utf-8', 'backslashreplace')}"


def _size(event: Event, batch: Batch) -> int:
    bodies = (entry.body for entry in batch.entries if entry.body is not None and entry.body is not event.original)
    return len(event.original) + sum(map(len, bodies))
