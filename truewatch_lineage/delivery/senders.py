"""Which sender a destination has: what kind of destination it is decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.delivery.outcome import Outcome


class Sends(Protocol):
    """What makes attempts to deliver to one destination; safe to use from threads and after a fork."""

    def send(self, body_gz: bytes, *, deadline: float) -> Outcome:
        """Try once to deliver an event, until a time of ``time.monotonic()`` at most."""

    def fingerprint(self, key: bytes) -> str | None:
        """Return a keyed hash of what decides how the destination is reached; None while that can't be told."""

    def close(self) -> None:
        """Close the connections."""


def sender_of(destination: DestinationSettings, *, connections: int, clock: Callable[[], float] = time.time) -> Sends:
    """Make the sender of a destination.

    Args:
        destination: Where to and how.
        connections: How many may be open at once, where each attempt has its own.
        clock: Seconds since the epoch, for an answer that tells a date.
    """
    if not destination.profile.endpoint:
        from truewatch_lineage.delivery.kafka import KafkaSender  # noqa: PLC0415 - 2 ms that few need

        return KafkaSender(destination)
    from truewatch_lineage.delivery.sender import Sender  # noqa: PLC0415 - as above

    return Sender(destination, connections=connections, clock=clock)
