"""Events as the Kafka intake's parts hand them to each other, made without a broker."""

from __future__ import annotations

import time
from collections.abc import Sequence

from truewatch_lineage.gateway.kafka.events import Event, Parcel
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.intake import compress
from truewatch_lineage.spool import Binding, Entry, Settlement

HERE = Binding("here", "dataway", "https://here.example/v1/write/openlineage")
THERE = Binding("there", "dataway", "https://there.example/v1/write/openlineage")


def message(
    offsets: Offsets,
    offset: int,
    key: str = "a",
    *,
    bindings: Sequence[Binding] = (HERE,),
    dead: str | None = None,
    age: float = 0.0,
) -> Event:
    """Make the event of a message.

    Args:
        offsets: Of its partition.
        offset: Its place there; its body says it.
        key: Its key, which is its lane.
        bindings: Where it goes.
        dead: Why it can't be sent anywhere.
        age: Seconds since it was read.
    """
    body = compress(b'{"offset": %d}' % offset)
    event = Event(offsets, offset, key.encode(), body, time.monotonic() - age, len(body))
    event.parcels = [Parcel(event, Entry(binding, f"kafka:{key}", body, dead=dead)) for binding in bindings]
    return event


def delivered(event_id: int) -> Settlement:
    """Tell that an event was delivered."""
    return Settlement(event_id, 1, "delivered", "200", 200)


def refused(event_id: int, reason: str = "422") -> Settlement:
    """Tell that an event can't be delivered."""
    return Settlement(event_id, 1, "dead", reason, 422)


def failed(event_id: int, due: float = 0.0, attempt: int = 1) -> Settlement:
    """Tell that an event goes on waiting."""
    return Settlement(event_id, attempt, "wait", "503", 503, due)
