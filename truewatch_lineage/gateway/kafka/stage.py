"""What was read from Kafka and is not done: in memory, by destination and lane, for the same leaders as the spool's."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from truewatch_lineage.gateway.kafka.events import Event, Parcel
from truewatch_lineage.gateway.kafka.lanes import Lanes
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.options import MAX_EVENTS
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import Binding, Queued, Settlement, Standing

MAX_BYTES: Final = 64 * MIB
"""Of bodies, gzipped; at it nothing more is read, and the read before may go above it by a fetch."""


class _Turn:
    """The right to deliver to one destination, in this process."""

    def __init__(self, land: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._land = land

    def try_acquire(self) -> bool:
        return self._lock.acquire(blocking=False)

    def release(self) -> None:
        self._land()
        self._lock.release()

    def close(self) -> None:
        """Do nothing: no leader closes before it has released."""


class Stage:
    """Events of the partitions that are assigned now; a `courier.queue.Queue`.

    Safe to use from threads. What is settled of a partition that was taken away meanwhile is left alone.

    Args:
        bindings: The destinations.
        max_events: How many events may be read that may not be committed.
        clock: The wall clock, in epoch seconds.
        topic: Where they come from, for messages.

    Attributes:
        delivered: How many events each destination has taken, by its name.
        dead: How many could not be delivered.
    """

    def __init__(
        self,
        bindings: Sequence[Binding],
        max_events: int = MAX_EVENTS,
        clock: Callable[[], float] = time.time,
        topic: str = "",
    ) -> None:
        self._topic = topic
        self.clock = clock
        self.max_events = max_events
        self.delivered: Counter[str] = Counter({binding.name: 0 for binding in bindings})
        self.dead: Counter[str] = Counter({binding.name: 0 for binding in bindings})
        self._lock = threading.Lock()
        self._lanes = {binding: Lanes() for binding in bindings}
        self._standing = {binding: Standing() for binding in bindings}
        self._turns = {binding: _Turn(partial(self._land, binding)) for binding in bindings}
        self._events: dict[Event, None] = {}
        self._bytes = 0
        self._dead: list[Parcel] = []
        self._last_id = 0
        self._version = 0
        self._key = secrets.token_bytes(16)

    # What a leader asks for: `courier.queue.Queue`.

    def leadership(self, binding: Binding) -> _Turn:
        """Return the right to deliver to a destination; what its holder has not settled on its release waits again."""
        return self._turns[binding]

    def heads(self, binding: Binding, limit: int, *, leave_out: Collection[int] = ()) -> list[Queued]:  # noqa: ARG002
        """Return the oldest events that may leave now; they are under way until they are settled.

        Args:
            binding: The destination.
            limit: How many at most.
            leave_out: What is under way, which is known.
        """
        with self._lock:
            return [parcel.queued() for parcel in self._lanes[binding].take(limit, self.clock())]

    def probe(self, binding: Binding) -> list[Queued]:
        """Return the one event to probe a stopped destination with, due or not: that which was tried least."""
        with self._lock:
            return [parcel.queued() for parcel in self._lanes[binding].take_least_tried()]

    def settle(self, binding: Binding, settlements: Iterable[Settlement], standing: Standing) -> None:
        """Note what became of attempts and how the destination stands now."""
        with self._lock:
            lanes, now = self._lanes[binding], self.clock()
            self._standing[binding] = standing
            for one in settlements:
                parcel = lanes.get(one.id)
                if parcel is not None:
                    self._settle(lanes, parcel, one, now)

    def standing(self, binding: Binding) -> Standing:
        """Return how a destination stands, as far as this process has tried it."""
        return self._standing[binding]

    def pending(self, binding: Binding, *, before: int | None = None, limit: int = -1) -> int:
        """Count what waits for a destination, without what waits for the spool to be delivered first."""
        with self._lock:
            return self._lanes[binding].waiting(limit, before)

    def is_pending(self, event_id: int) -> bool:
        """Tell whether an event still waits."""
        with self._lock:
            return any(lanes.get(event_id) is not None for lanes in self._lanes.values())

    def place(self, event_id: int) -> str:
        """Return ``topic[partition]@offset`` of a waiting event; empty if it waits no more."""
        with self._lock:
            found = (lanes.get(event_id) for lanes in self._lanes.values())
            return next((f"{self._topic}{parcel.event}" for parcel in found if parcel is not None), "")

    def lane_due(self, event_id: int) -> float | None:
        """Return when a waiting event's own time comes, in epoch seconds; None if it waits no more."""
        with self._lock:
            found = (lanes.get(event_id) for lanes in self._lanes.values())
            return next((parcel.due for parcel in found if parcel is not None), None)

    def next_due(self, binding: Binding) -> float | None:
        """Return when the first waiting head is due, in epoch seconds, or None if nothing waits."""
        with self._lock:
            return self._lanes[binding].due(self.clock())

    def version(self) -> int:
        """Return a number that changes when the reader has brought something.

        Whoever drains looks again by it, also where it has left `Courier.wake` unheard since nothing was waiting for a
        destination that is stopped.
        """
        return self._version

    def fingerprint_key(self) -> bytes:
        """Return a key that this process has drawn."""
        return self._key

    def relieve(self) -> None:
        """Do nothing: what is settled takes no room."""

    def tidy_if_due(self) -> None:
        """Do nothing: everything is in order always."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    # What the reader does.

    def add(self, events: Iterable[Event], blocked: Collection[tuple[Binding, str]] = ()) -> None:
        """Let events wait; those that go nowhere are done at once.

        Args:
            events: In the order of their partitions.
            blocked: Lanes of destinations of which the spool holds older events.
        """
        with self._lock:
            self._version += 1
            for event in events:
                event.mark = event.offsets.take(event.offset)
                event.left = len(event.parcels)
                if event.left:
                    self._events[event] = None
                    self._bytes += event.size
                    for parcel in event.parcels:
                        self._add(parcel, blocked)
                else:
                    event.offsets.done(event.mark)

    def finish(self, parcel: Parcel) -> None:
        """Note that a dead letter is kept for good, or that the spool has an event now."""
        with self._lock:
            self._finish(parcel)

    def take_dead(self) -> list[Parcel]:
        """Take what could not be delivered, for the topic of dead letters; it is done once `finish` says so."""
        with self._lock:
            taken, self._dead = self._dead, []
            return taken

    def revoke(self, partitions: Collection[Offsets]) -> None:
        """Let nothing more of some partitions be tried, and forget what is not under way."""
        with self._lock:
            for offsets in partitions:
                offsets.revoked = True
            for lanes in self._lanes.values():
                lanes.drop(lambda event: event.offsets in partitions, flying=False)

    def forget(self, partitions: Collection[Offsets]) -> None:
        """Forget everything of partitions that were revoked."""
        with self._lock:
            for lanes in self._lanes.values():
                lanes.drop(lambda event: event.offsets in partitions, flying=True)
            self._dead = [parcel for parcel in self._dead if parcel.event.offsets not in partitions]
            for event in [event for event in self._events if event.offsets in partitions]:
                self._forget(event)

    def flying(self, partitions: Collection[Offsets]) -> int:
        """Count the attempts under way for some partitions."""
        with self._lock:
            return sum(lanes.flying(lambda event: event.offsets in partitions) for lanes in self._lanes.values())

    def to_commit(self, partitions: Iterable[Offsets]) -> list[tuple[Offsets, int]]:
        """Return what is to be committed of partitions now; it counts as asked for."""
        with self._lock:
            found = [(offsets, offsets.ask()) for offsets in partitions]
        return [(offsets, position) for offsets, position in found if position is not None]

    def committed(self, offsets: Offsets, position: int, *, committed: bool) -> None:
        """Note the answer to a commit."""
        with self._lock:
            offsets.answer(position, committed=committed)

    def withdraw_commits(self, partitions: Iterable[Offsets]) -> None:
        """Expect no answer any more to the last commit of partitions, so that all that is done can be asked for."""
        with self._lock:
            for offsets in partitions:
                offsets.withdraw()

    # What the spill does.

    def withdraw(self, before: float, stuck_before: float | None = None) -> list[Parcel]:
        """Take out what is to go to the spool: heads of lanes, and what follows them, in the order of arrival.

        Args:
            before: Whatever arrived until this time of ``time.monotonic()``.
            stuck_before: Where the stage is full: also what waits for a destination that is stopped or for the spool,
                and what arrived until this time and waits for its own.
        """
        taken: list[Parcel] = []
        with self._lock:
            stopped = {binding for binding, standing in self._standing.items() if standing.state != "ready"}
            for event in self._events:
                if event.arrived > before and stuck_before is None:
                    break
                for parcel in event.parcels:
                    lanes = self._lanes[parcel.entry.binding]
                    if lanes.get(parcel.id) is None:
                        continue
                    is_stuck = stuck_before is not None and (
                        parcel.entry.binding in stopped
                        or lanes.is_blocked(parcel)
                        or (parcel.due > 0 and event.arrived <= stuck_before)
                    )
                    if (is_stuck or event.arrived <= before) and lanes.withdraw(parcel):
                        taken.append(parcel)
        return taken

    def put_back(self, parcels: Sequence[Parcel]) -> None:
        """Give back what the spool did not take, in the order it was taken out; its lanes stay blocked."""
        with self._lock:
            for binding, lanes in self._lanes.items():
                lanes.put_back(parcel for parcel in parcels if parcel.entry.binding == binding)

    def blocked(self, binding: Binding) -> list[str]:
        """Return the lanes of a destination that wait for the spool."""
        with self._lock:
            return self._lanes[binding].blocked()

    def unblock(self, binding: Binding, lanes: Iterable[str]) -> None:
        """Let lanes go on, of which the spool holds nothing more."""
        with self._lock:
            self._version += 1
            self._lanes[binding].unblock(lanes)

    def states(self) -> dict[str, str]:
        """Return the state of each destination, by its name."""
        return {binding.name: standing.state for binding, standing in self._standing.items()}

    def any_ready(self) -> bool:
        """Tell whether some destination is ready, so that whatever fills the stage may hold it up."""
        return any(standing.state == "ready" for standing in self._standing.values())

    # What metrics tell.

    def __len__(self) -> int:
        """Count the events that are not done."""
        return len(self._events)

    @property
    def bytes(self) -> int:
        """The bytes of their bodies."""
        return self._bytes

    def oldest(self) -> float | None:
        """Return when the oldest event that is not done arrived, by ``time.monotonic()``; None where there is none."""
        with self._lock:
            first = next(iter(self._events), None)
            return None if first is None else first.arrived

    def _land(self, binding: Binding) -> None:
        with self._lock:
            self._lanes[binding].land()

    def _add(self, parcel: Parcel, blocked: Collection[tuple[Binding, str]]) -> None:
        self._last_id += 1
        parcel.id = self._last_id
        if parcel.entry.dead is None:
            is_blocked = bool(blocked) and (parcel.entry.binding, parcel.entry.lane) in blocked
            self._lanes[parcel.entry.binding].add(parcel, blocked=is_blocked)
        else:
            self._bury(parcel)

    def _settle(self, lanes: Lanes, parcel: Parcel, one: Settlement, now: float) -> None:
        if one.result == "wait" and not parcel.event.offsets.revoked:
            parcel.note(one, now)
            lanes.postpone(parcel)
            return
        lanes.remove(parcel)
        if one.result == "delivered":
            self.delivered[parcel.entry.binding.name] += 1
            self._finish(parcel)
        elif one.result == "dead":
            parcel.entry = replace(parcel.entry, dead=one.reason or "")
            parcel.status = one.status
            self._bury(parcel)

    def _bury(self, parcel: Parcel) -> None:
        self.dead[parcel.entry.binding.name] += 1
        self._dead.append(parcel)

    def _finish(self, parcel: Parcel) -> None:
        event = parcel.event
        event.left -= 1
        if not event.left and event in self._events and event.mark is not None:
            event.offsets.done(event.mark)
            self._forget(event)

    def _forget(self, event: Event) -> None:
        del self._events[event]
        self._bytes -= event.size
