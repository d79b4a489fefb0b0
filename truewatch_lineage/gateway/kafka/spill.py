"""Moves what waits for too long to the gateway's own spool, and keeps order between it and what comes later."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from truewatch_lineage.errors import SpoolError
from truewatch_lineage.gateway.kafka.events import Event, Parcel
from truewatch_lineage.gateway.kafka.preparing import LANE
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Binding, Entry, Store
from truewatch_lineage.spool.admin import reopen
from truewatch_lineage.spool.lanes import any_waiting, waiting

log = logging.getLogger(__name__)

STUCK_SECONDS: Final = 5.0
"""How long an event may wait for its own time where the stage is full, before it is moved."""

_WAIT: Final = 2.0
"""Seconds to wait for the spool, in which nothing is read from Kafka."""

_RELIEVE_SECONDS: Final = 0.2
"""How often a full stage is looked through for what holds up others."""

_LOOK_SECONDS: Final = 0.5
"""How often the spool is asked what it still holds of lanes that wait for it."""


class Spill:
    """Moves events from the stage to the spool, whose own courier delivers them.

    Args:
        stage: Where events wait.
        store: The gateway's spool.
        bindings: The destinations.
        hold_seconds: After how long an event is moved.

    Attributes:
        spilled: How many events of each destination were moved, by its name.
    """

    def __init__(self, stage: Stage, store: Store, bindings: Sequence[Binding], hold_seconds: float) -> None:
        self._stage = stage
        self._store = store
        self._hold = hold_seconds
        self._notices = Notices(log)
        # While the spool holds nothing of Kafka's for a destination, no lane is asked for.
        self._may_hold = dict.fromkeys(bindings, True)
        self._delivered = dict.fromkeys(bindings, 0)
        self._relieve_at = self._look_at = -math.inf
        self.spilled: Counter[str] = Counter({binding.name: 0 for binding in bindings})

    def blocked(self, events: Iterable[Event]) -> set[tuple[Binding, str]]:
        """Return the lanes of new events of which the spool holds older ones; all of them where it can't tell."""
        lanes: dict[Binding, set[str]] = defaultdict(set)
        if any(self._may_hold.values()):
            for parcel in (parcel for event in events for parcel in event.parcels):
                if self._may_hold[parcel.entry.binding]:
                    lanes[parcel.entry.binding].add(parcel.entry.lane)
        return {(binding, lane) for binding, names in lanes.items() for lane in self._waiting(binding, list(names))}

    def turn(self, *, crowded: bool) -> bool:
        """Move what has waited for too long, and let lanes go on that the spool holds nothing more of.

        Args:
            crowded: Whether the stage is full, so that what holds up others is moved before its time.

        Returns:
            Whether a lane may go on that could not before.
        """
        now = time.monotonic()
        stuck = None
        if crowded and now >= self._relieve_at and self._stage.any_ready():
            self._relieve_at, stuck = now + _RELIEVE_SECONDS, now - STUCK_SECONDS
        taken = self._stage.withdraw(self.overdue(), stuck)
        if taken:
            self._stage.put_back(self._moved(taken))
        if now < self._look_at:
            return False
        self._look_at = now + _LOOK_SECONDS
        holding = [binding for binding, may_hold in self._may_hold.items() if may_hold]
        for binding in holding:
            self._hurry(binding)
        freed = [self._let_go(binding) for binding in holding]
        return any(freed)

    def overdue(self) -> float:
        """Return the time of ``time.monotonic()`` until which an event must have arrived to have waited too long."""
        return time.monotonic() - self._hold

    def bury(self, dead: Sequence[Parcel]) -> list[Parcel]:
        """Store dead letters that the topic of dead letters can't take, in the spool; returns those that it can't."""
        return self._moved(dead)

    def _moved(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        """Commit parcels to the spool; returns those that it did not take."""
        for parcel in parcels:
            self._may_hold[parcel.entry.binding] = True
        entries = [_entry(parcel) for parcel in parcels]
        try:
            ids = self._store.put(entries, wait=_WAIT)
        except SpoolError as error:
            self._notices.warning("spool", "Events of Kafka wait in memory, as the spool can't take them: %s", error)
            return list(parcels)
        left = [parcel for parcel, event_id in zip(parcels, ids, strict=True) if event_id is None]
        for name in dict.fromkeys(parcel.entry.binding.name for parcel in left):
            text = "Events of Kafka for `%s` wait in memory: its share of the spool is full."
            self._notices.warning(f"full {name}", text, name)
        for parcel, event_id in zip(parcels, ids, strict=True):
            if event_id is not None:
                self.spilled[parcel.entry.binding.name] += 1
                self._stage.finish(parcel)
        return left

    def _hurry(self, binding: Binding) -> None:
        """Have the spool try a destination that takes what the stage has; its own pause may have minutes left."""
        delivered, before = self._stage.delivered[binding.name], self._delivered[binding]
        self._delivered[binding] = delivered
        try:
            if delivered > before and reopen(self._store, binding):
                log.info("%s answers again: what waits in the spool is tried at once.", binding.name)
        except SpoolError as error:
            self._notices.warning("reopen", "What waits in the spool waits for its own time: %s", error)

    def _let_go(self, binding: Binding) -> bool:
        lanes = self._stage.blocked(binding)
        free = set(lanes) - self._waiting(binding, lanes)
        self._stage.unblock(binding, free)
        if not lanes:
            self._may_hold[binding] = self._holds(binding)
        return bool(free)

    def _waiting(self, binding: Binding, lanes: Sequence[str]) -> set[str]:
        if not lanes:
            return set()
        try:
            return waiting(self._store, binding, lanes)
        except SpoolError as error:
            self._notices.warning("read", "Events of Kafka wait, as the spool can't be read: %s", error)
            return set(lanes)

    def _holds(self, binding: Binding) -> bool:
        try:
            return any_waiting(self._store, binding, LANE)
        except SpoolError:
            return True


def _entry(parcel: Parcel) -> Entry:
    """Return what is stored: of what could not be read, the text, so that it is not lost with the topic."""
    entry = parcel.entry
    return replace(entry, body=parcel.event.original) if entry.body is None else entry
