"""Events that go past the spool: those without room get one bounded try, and all are counted."""

from __future__ import annotations

import contextlib
import queue
from collections import Counter, deque
from collections.abc import Sequence
from typing import Final, Literal

from truewatch_lineage.delivery.outcome import Verdict
from truewatch_lineage.direct import Direct
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Binding, Entry, Store

Kind = Literal["delivered", "skipped", "tombstones"]

MAX_HELD: Final = 1_000
"""Events that wait in memory at most while another process keeps the spool locked."""


class Overflow:
    """Keeps the counts until the spool can take them.

    A spool that is locked or full can't be written to when such a count comes up, and asking again at once would only
    make the job wait a second time.

    Args:
        notices: Where losses are told.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._lost = 0
        self._held: deque[Entry] = deque()
        self._counted: queue.SimpleQueue[tuple[Binding, Kind]] = queue.SimpleQueue()

    def skip(self, binding: Binding) -> None:
        """Count an event of a kind that the destination does not take."""
        self._counted.put((binding, "skipped"))

    def send(self, entry: Entry, direct: Direct, store: Store | None, deadline: float, *, is_busy: bool) -> None:
        """Give an event without room one try; if that fails, it is a tombstone: lost, but counted.

        Args:
            entry: The event.
            direct: Makes the try.
            store: The spool, which knows whether the destination is stopped, or None if there is none.
            deadline: Of ``time.monotonic()``.
            is_busy: The spool is only locked: keep the event in memory for a while instead of giving it up.
        """
        reason = entry.dead or (None if is_busy else _stopped(store, entry.binding))
        if reason is None:
            outcome = direct.send(entry, deadline)
            if outcome.verdict is Verdict.DELIVERED:
                self._counted.put((entry.binding, "delivered"))
                return
            reason = outcome.reason
        if is_busy and len(self._held) < MAX_HELD:
            self._held.append(entry)
            return
        why = "there is no spool to keep it" if store is None else "there was no room to keep it"
        self._give_up(entry, f"{why}, and {reason}")

    def take_held(self) -> list[Entry]:
        """Take the events that wait in memory for the spool to be free, oldest first."""
        held: list[Entry] = []
        with contextlib.suppress(IndexError):
            while True:
                held.append(self._held.popleft())
        return held

    def hold(self, entries: Sequence[Entry]) -> None:
        """Put events back that were taken."""
        self._held.extendleft(reversed(entries))

    def give_up_held(self) -> None:
        """Count what waits in memory as lost, since the process ends."""
        for entry in self.take_held():
            self._give_up(entry, "the spool was locked until the process ended")

    def _give_up(self, entry: Entry, reason: str) -> None:
        self._notices.error("lost", "An event for %s was lost: %s", entry.binding.name, reason)
        self._counted.put((entry.binding, "tombstones"))
        self._lost += 1

    def tell(self) -> None:
        """Tell how many were lost in all, since each loss by itself is told at most once a minute."""
        lost, self._lost = self._lost, 0
        if lost:
            self._notices.error("total", "%d of this process's events were lost.", lost)

    def write(self, store: Store) -> None:
        """Write the counts down; where that fails they are kept for the next time."""
        for (binding, kind), number in self._take().items():
            try:
                store.count(binding, **{kind: number})
            except SpoolError as error:
                self._notices.error("count", "Events outside the spool are counted later: %s", error)
                for _ in range(number):
                    self._counted.put((binding, kind))

    def _take(self) -> Counter[tuple[Binding, Kind]]:
        taken: Counter[tuple[Binding, Kind]] = Counter()
        with contextlib.suppress(queue.Empty):
            while True:
                taken[self._counted.get_nowait()] += 1
        return taken


def _stopped(store: Store | None, binding: Binding) -> str | None:
    """Return why a destination is paused or parked, or None if it is ready as far as the spool can tell."""
    if store is None:
        return None
    try:
        standing = store.standing(binding)
    except SpoolError:
        return None
    return None if standing.state == "ready" else f"the destination is {standing.state}: {standing.reason}"
