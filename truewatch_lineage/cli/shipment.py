"""Takes events to the spool and follows each until it is delivered, refused or left waiting."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import Courier, binding_of
from truewatch_lineage.delivery.outcome import CACHED
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.faults import faults_in_words
from truewatch_lineage.events.serialise import to_tree
from truewatch_lineage.intake import Intake
from truewatch_lineage.spool import Binding, Entry, Store
from truewatch_lineage.spool.fates import Fate, fates
from truewatch_lineage.spool.queries import CLOCK_TOLERANCE
from truewatch_lineage.spool.report import in_words, iso, shown

COUNTS: Final = ("delivered", "cached", "waiting", "dead", "skipped", "left_out", "lost")
"""What can become of an event at a destination; ``cached`` is a part of ``delivered``."""

_BATCH: Final = 100
_BATCH_BYTES: Final = 4 * 1024 * 1024
_MOST_FLYING: Final = 5000
"""Events that are followed at once: more are not read before some have arrived, however large the file."""

_SHORTEST_LOOK, _LONGEST_LOOK = 0.01, 0.25

Tell = Callable[[str], None]


@dataclass(slots=True)
class _Batch:
    entries: list[tuple[Entry, str]] = field(default_factory=list)
    size: int = 0

    def add(self, entry: Entry, where: str) -> None:
        self.entries.append((entry, where))
        self.size += len(entry.body or b"")


class Shipment:
    """The events of one ``send``.

    Args:
        settings: With at least one destination.
        store: The spool.
        courier: Delivers in the background; None where that is left to others.
        patience: Seconds without any progress after which waiting is given up.
        tell: Is given a sentence for each event that was refused or lost.
    """

    def __init__(self, settings: Settings, store: Store, courier: Courier | None, patience: float, tell: Tell) -> None:
        self.counts: dict[str, Counter[str]] = {one.name: Counter() for one in settings.destinations}
        self.accepted = 0
        self.is_read = False  # whether all that was to be sent has been taken
        self._settings = settings
        self._bindings = [binding_of(destination) for destination in settings.destinations]
        self._intake = Intake(settings)
        self._store = store
        self._courier = courier
        self._patience = patience
        self._tell = tell
        self._flying: dict[int, tuple[Binding, str]] = {}
        self._batch = _Batch()

    def add(self, where: str, data: bytes) -> None:
        """Take one event.

        Args:
            where: Where it stands, for messages.
            data: Its JSON.

        Raises:
            EventError: It is no JSON object, or can't be JSON.
            SpoolError: The spool can't be written.
        """
        taken = self._intake.accept(to_tree(data), self._bindings)
        for binding in self._bindings:
            skipped = binding in taken.skipped
            kept = any(entry.binding == binding for entry in taken.entries)
            self.counts[binding.name]["skipped"] += skipped
            self.counts[binding.name]["left_out"] += not (skipped or kept)
            if skipped:
                self._store.count(binding, skipped=1)
        for entry in taken.entries:
            self._batch.add(entry, where)
        if len(self._batch.entries) >= _BATCH or self._batch.size >= _BATCH_BYTES:
            self.commit()

    def commit(self) -> None:
        """Store what was taken; where the spool is full, wait until there is room, else the event is lost and told.

        Raises:
            SpoolError: The spool can't be written.
        """
        batch, self._batch = self._batch, _Batch()
        left = self._put(batch.entries)
        deadline = time.monotonic() + self._patience
        while (left or len(self._flying) > _MOST_FLYING) and self._may_wait(deadline):
            if self.settle():
                deadline = time.monotonic() + self._patience
            left = self._put(left) if left else left
            time.sleep(_SHORTEST_LOOK)
        for entry, where in left:
            self.counts[entry.binding.name]["lost"] += 1
            self._tell(f"{where}: not sent to {entry.binding.name}: the spool has no more room for it")

    def wait(self, timeout: float, watch: Callable[[], None]) -> None:
        """Wait until all are delivered or refused, or nothing more can be before the time is up.

        Args:
            timeout: Seconds.
            watch: Is called now and then.

        Raises:
            SpoolError: The spool can't be read.
        """
        deadline = time.monotonic() + timeout
        look = _SHORTEST_LOOK
        while True:
            look = _SHORTEST_LOOK if self.settle() else min(look * 2, _LONGEST_LOOK)
            watch()
            if not self._flying or not self._may_wait(deadline):
                return
            time.sleep(min(look, max(0.0, deadline - time.monotonic())))

    def settle(self) -> int:
        """Look what has become of those that wait; returns how many wait no more.

        Raises:
            SpoolError: The spool can't be read.
        """
        found = fates(self._store, list(self._flying))
        ended = [(event_id, fate) for event_id, fate in found.items() if fate.state != "pending"]
        for event_id, fate in ended:
            self._end(event_id, fate)
        return len(ended)

    def finish(self) -> None:
        """Count what waits still."""
        for binding, _ in self._flying.values():
            self.counts[binding.name]["waiting"] += 1

    @property
    def done(self) -> int:
        """How many of the accepted ones wait no more."""
        return self.accepted - len(self._flying)

    def stopped(self) -> Iterator[str]:
        """Say of each destination for which something waits how it stands.

        Raises:
            SpoolError: The spool can't be read.
        """
        for binding in dict.fromkeys(binding for binding, _ in self._flying.values()):
            standing = self._store.standing(binding)
            if standing.state != "ready":
                until = iso(standing.until or 0.0)
                yield f"{binding.name}: {in_words(standing.state, standing.reason, until, self._store.clock())}"

    def _put(self, entries: list[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
        """Store entries in one commit; returns those that found no room."""
        if not entries:
            return []
        ids = self._store.put([entry for entry, _ in entries])
        left = []
        for (entry, where), event_id in zip(entries, ids, strict=True):
            if event_id is None:
                left.append((entry, where))
            elif entry.dead is not None:
                self._refused(entry.binding, where, entry.dead)
            else:
                self._flying[event_id] = (entry.binding, where)
        self.accepted += len(entries) - len(left)
        if self._courier is not None:
            self._courier.wake()
        return left

    def _may_wait(self, deadline: float) -> bool:
        """Tell whether anything that waits may be tried before ``deadline`` (``time.monotonic()``)."""
        left = deadline - time.monotonic()
        bindings = dict.fromkeys(binding for binding, _ in self._flying.values()) or self._bindings
        return left > 0 and any(self._seconds_until_tried(binding) <= left for binding in bindings)

    def _seconds_until_tried(self, binding: Binding) -> float:
        standing = self._store.standing(binding)
        due = self._store.next_due(binding) if standing.state == "ready" else standing.until
        ahead = (due or 0.0) - self._store.clock()
        return 0.0 if ahead > CLOCK_TOLERANCE else max(0.0, ahead)

    def _end(self, event_id: int, fate: Fate) -> None:
        binding, where = self._flying.pop(event_id)
        # Without receipts, an event that is gone has been delivered.
        if fate.state == "delivered" or (fate.state == "unknown" and not self._settings.receipts_days):
            self.counts[binding.name]["delivered"] += 1
            self.counts[binding.name]["cached"] += fate.reason == CACHED
        elif fate.state == "dead":
            self._refused(binding, where, fate.reason or "", event_id)
        else:
            self.counts[binding.name]["lost"] += 1
            self._tell(f"{where}: for {binding.name} it is gone from the spool: somebody dropped it, or it was damaged")

    def _refused(self, binding: Binding, where: str, reason: str, event_id: int | None = None) -> None:
        self.counts[binding.name]["dead"] += 1
        faults = _faults(self._store, event_id, binding.kind) if event_id is not None else ""
        self._tell(f"{where}: refused for {binding.name}: {reason}{faults}")


def _faults(store: Store, event_id: int, kind: str) -> str:
    """Name by JSON path what `validate` finds wrong with a refused event."""
    found: Any = shown(store, event_id)
    if found is None or found[1] is None:
        return ""
    try:
        return faults_in_words(to_tree(found[1]), kind)
    except EventError:
        return ""
