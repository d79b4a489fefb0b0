"""A message on its way: once for its partition, and once for each destination that it goes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from truewatch_lineage.gateway.kafka.offsets import Mark, Offsets
from truewatch_lineage.spool import Entry, Queued, Settlement


@dataclass(slots=True, eq=False)
class Event:
    """A message of the topic.

    Attributes:
        offsets: Of its partition, while it is assigned.
        offset: Its place there.
        key: Its key, masked.
        original: Its value, masked, gzipped, before any destination's own changes.
        arrived: When it was read, by ``time.monotonic()``.
        size: The bytes of memory that it takes, but for a small overhead.
        parcels: What is to be done for it.
        left: How many of these are not done.
        mark: Its place, once it is in the stage.
    """

    offsets: Offsets
    offset: int
    key: bytes | None
    original: bytes
    arrived: float
    size: int = 0
    parcels: list[Parcel] = field(default_factory=list)
    left: int = 0
    mark: Mark | None = None

    def __str__(self) -> str:
        """Return its place in its topic, as ``[partition]@offset``."""
        return f"[{self.offsets.partition}]@{self.offset}"


@dataclass(slots=True, eq=False)
class Parcel:
    """An event for one destination, as it waits; what was tried is noted as in the spool.

    Attributes:
        event: The event.
        entry: What would be stored in the spool; dead where it can't be sent.
        id: Its place in the order of arrival.
        attempts: How often it was tried.
        failed_at: The number of its first failed attempt, 0 if none failed.
        failed_first: When that was, in epoch seconds.
        status: The HTTP status of its last failed attempt.
        due: When it may be tried again, in epoch seconds.
        is_unposted: Whether the topic of dead letters has refused it.
        is_too_large: Whether that topic never takes it.
    """

    event: Event
    entry: Entry
    id: int = 0
    attempts: int = 0
    failed_at: int = 0
    failed_first: float | None = None
    status: int | None = None
    due: float = 0.0
    is_unposted: bool = False
    is_too_large: bool = False

    def queued(self) -> Queued:
        """Return it as a leader takes it."""
        body = self.entry.body or b""
        return Queued(self.id, self.entry.lane, body, self.attempts, self.failed_at, self.failed_first, self.status)

    def note(self, failed: Settlement, now: float) -> None:
        """Note a failed attempt after which it goes on waiting."""
        self.attempts += 1
        self.due = failed.due
        self.status = failed.status
        self.failed_at = self.failed_at or failed.attempt
        self.failed_first = now if self.failed_first is None else self.failed_first
