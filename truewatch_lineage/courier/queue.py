"""What a leader drains: the spool, or another queue of events that wait by destination and lane."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from truewatch_lineage.spool import Binding, Queued, Settlement, Standing


class Leadership(Protocol):
    """The right to deliver to one destination; one holder at a time."""

    def try_acquire(self) -> bool:
        """Take it if it is free, without waiting; returns whether it is held now."""

    def release(self) -> None:
        """Let another take it."""

    def close(self) -> None:
        """Let it go for good."""


class Queue(Protocol):
    """Events that wait, and how each destination stands. Every method may raise `SpoolError`."""

    @property
    def clock(self) -> Callable[[], float]:
        """The wall clock, in epoch seconds."""

    def leadership(self, binding: Binding) -> Leadership:
        """Return the right to deliver to a destination, not taken yet."""

    def heads(self, binding: Binding, limit: int, *, leave_out: Collection[int] = ()) -> list[Queued]:
        """Return the oldest events that may leave now: the first of each lane whose time has come."""

    def probe(self, binding: Binding) -> list[Queued]:
        """Return the one event to probe a stopped destination with, due or not."""

    def settle(self, binding: Binding, settlements: Iterable[Settlement], standing: Standing) -> None:
        """Write down what became of attempts and how the destination stands now."""

    def standing(self, binding: Binding) -> Standing:
        """Return how a destination stands."""

    def pending(self, binding: Binding, *, before: int | None = None, limit: int = -1) -> int:
        """Count the events that wait for a destination, up to ``limit``, or those before an id."""

    def is_pending(self, event_id: int) -> bool:
        """Tell whether an event still waits."""

    def place(self, event_id: int) -> str:
        """Say where people find a waiting event, also once it is a dead letter."""

    def lane_due(self, event_id: int) -> float | None:
        """Return when the head of a waiting event's lane is due, in epoch seconds; None if the event waits no more."""

    def next_due(self, binding: Binding) -> float | None:
        """Return when the first waiting head is due, in epoch seconds, or None if nothing waits."""

    def version(self) -> int:
        """Return a number that changes when another process has written."""

    def fingerprint_key(self) -> bytes:
        """Return the key under which fingerprints of settings are kept."""

    def relieve(self) -> None:
        """Keep small what settling lets grow; called after `settle`."""

    def tidy_if_due(self) -> None:
        """Do at most every ten minutes what keeps the queue in order."""

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
