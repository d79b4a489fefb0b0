"""Leads one destination: one process at a time takes the heads of lanes, has them tried and settles the outcomes."""

from __future__ import annotations

import math
import random
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.courier.policy import Attempt, Moment, decide, reopened
from truewatch_lineage.courier.queue import Queue
from truewatch_lineage.courier.refused import Refused
from truewatch_lineage.courier.telling import Telling
from truewatch_lineage.courier.workers import Finished, Window, Workers
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.delivery.senders import sender_of
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.spool import Binding, Standing
from truewatch_lineage.spool.queries import CLOCK_TOLERANCE

POLL_SECONDS: Final = 0.25
"""How often a leader that waits for attempts looks for events of other processes."""

GRACE: Final = 0.1
"""Seconds past the deadline in which attempts may still report; those that started before a `cut` may take longer."""

_CUT: Final = Outcome(Verdict.RETRY, "no answer within the time that the process could spend", ambiguous=True)

Goal = Callable[[], bool]


def binding_of(destination: DestinationSettings) -> Binding:
    """Return the identity under which a destination's events are stored."""
    return Binding(destination.name, destination.profile.kind, destination.url)


class Leader:
    """The deliverer of one destination in this process.

    Args:
        queue: The spool, or another queue.
        destination: Whose events are delivered.
        connections: How many attempts may be in flight, where the destination sets no ``concurrency``.
        chance: Returns a float in [0, 1), for the jitter.
    """

    def __init__(
        self,
        queue: Queue,
        destination: DestinationSettings,
        connections: int,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.binding = binding_of(destination)
        self._queue = queue
        self._destination = destination
        self._connections = destination.concurrency or connections
        self._chance = chance
        self._sender = sender_of(destination, connections=self._connections, clock=queue.clock)
        self._workers = Workers(self._try)
        self._window = Window(self._connections)
        self._told = Telling(destination.name)
        self._turn = threading.Lock()
        self._lock = queue.leadership(self.binding)
        self._number = 0
        self._unsettled: list[Finished] = []
        self._key = b""
        self._refused: str | None = None
        self._deadline = self._cut = math.inf

    def try_lead(self) -> bool:
        """Become the leader if nobody is: no other thread of this process, and no other process.

        Raises:
            OSError: If the lock file can't be opened.
        """
        if not self._turn.acquire(blocking=False):
            return False
        try:
            leads = self._lock.try_acquire()
        except OSError:
            self._turn.release()
            raise
        if not leads:
            self._turn.release()
        return leads

    def resign(self) -> None:
        """Let another thread or process lead."""
        self._lock.release()
        self._turn.release()

    @property
    def is_behind(self) -> bool:
        """Tell whether results of attempts could not be written down; nothing new is tried before they are."""
        return bool(self._unsettled)

    def standing(self) -> Standing:
        """Return how the destination stands, opened if its token or its settings have changed since it was parked.

        Not for settings that were refused here last: another process with other settings may have parked it since.

        Raises:
            SpoolError: If the spool can't be read.
        """
        standing = self._queue.standing(self.binding)
        if standing.state == "parked" and standing.parked_with is not None:
            fingerprint = self._fingerprint()
            if fingerprint not in (None, standing.parked_with, self._refused):
                return reopened(standing)
        return standing

    def seconds_until(self, when: float) -> float:
        """Return the seconds until a time; one further ahead than any we set means that the clock was turned back."""
        ahead = when - self._queue.clock()
        return 0.0 if ahead > CLOCK_TOLERANCE else max(0.0, ahead)

    def may_try(self, standing: Standing) -> bool:
        """Tell whether anything may be tried now: the destination is ready, or its probe is due."""
        return standing.state == "ready" or self.seconds_until(standing.until or 0.0) == 0.0

    def wait_seconds(self, standing: Standing) -> float:
        """Return after how many seconds something may be tried; infinity if nothing waits.

        Raises:
            SpoolError: If the spool can't be read.
        """
        if standing.state != "ready":  # asked at each emit of an outage: next_due would look at all that waits
            waits = self._queue.pending(self.binding, limit=1)
            return self.seconds_until(standing.until or 0.0) if waits else math.inf
        due = self._queue.next_due(self.binding)
        return math.inf if due is None else self.seconds_until(due)

    def lead(self, *, goal: Goal, deadline: float, threads: bool, probe: bool = False) -> None:
        """Deliver what is due, as the leader, until nothing more can be tried now.

        Args:
            goal: Nothing new is tried once it returns True.
            deadline: Of ``time.monotonic()``: no attempt lasts longer. `cut` shortens it.
            threads: Try many at once; otherwise one after the other, in this thread.
            probe: Try a stopped destination at once, due or not.

        Raises:
            SpoolError: If the spool can't be read or written. What became of attempts is kept and written first by the
                next `lead`; it is tried again only where this process ends before, or another one leads.
        """
        flying: dict[int, Attempt] = {}
        self._deadline = min(deadline, self._cut)
        try:
            self._catch_up()
            self._deliver(flying, goal, threads=threads, probe=probe)
        except SpoolError:
            while flying:
                self._keep(self._gather(flying), flying)
            raise
        self._queue.tidy_if_due()

    def wake(self) -> None:
        """Let `lead` look for new events while it waits for attempts."""
        self._workers.wake()

    def cut(self, deadline: float) -> None:
        """Shorten the deadline of a `lead` that runs in another thread, or is about to."""
        self._cut = deadline
        self._deadline = min(self._deadline, deadline)

    def close(self) -> None:
        """Stop the threads, close the connections and free the lock."""
        self._workers.stop()
        self._sender.close()
        self._lock.close()

    def _catch_up(self) -> None:
        """Write down what an earlier `lead` could not, but for another spool, whose ids mean other events."""
        key = self._queue.fingerprint_key()
        if key != self._key:
            self._unsettled.clear()
            self._key = key
        if self._unsettled:
            self._settle()

    def _deliver(self, flying: dict[int, Attempt], goal: Goal, *, threads: bool, probe: bool) -> None:
        while True:
            finished: list[Finished] = []
            if time.monotonic() < self._deadline and not goal():
                attempts = self._next(flying, threads=threads, probe=probe)
                flying.update({attempt.event.id: attempt for attempt in attempts})
                finished = self._launch(attempts, threads=threads)
            if not flying:
                break
            finished = finished or self._gather(flying)
            if finished:
                probe = False
                self._keep(finished, flying)
                self._settle()

    def _next(self, flying: Collection[int], *, threads: bool, probe: bool) -> list[Attempt]:
        room = (self._window.size if threads else 1) - len(flying)
        if room <= 0:
            return []
        standing = self.standing()
        if standing.state == "ready":
            found = self._queue.heads(self.binding, room, leave_out=flying)
        else:
            may_probe = not flying and (probe or self.may_try(standing))
            found = self._queue.probe(self.binding) if may_probe else []
        first = max(self._number, standing.attempts) + 1
        self._number = first + len(found) - 1
        return [Attempt(event, first + i, standing.stopped_at) for i, event in enumerate(found)]

    def _launch(self, attempts: list[Attempt], *, threads: bool) -> list[Finished]:
        if not threads:
            return [self._try(attempt) for attempt in attempts]
        for attempt in attempts:
            self._workers.launch(attempt)
        return []

    def _gather(self, flying: Mapping[int, Attempt]) -> list[Finished]:
        """Wait a moment for attempts to end; those that outlive a deadline which has been cut count as failed."""
        left = self._deadline + GRACE - time.monotonic()
        finished = self._workers.gather(min(POLL_SECONDS, left))
        return finished or ([(attempt, _CUT) for attempt in flying.values()] if left <= 0 else [])

    def _try(self, attempt: Attempt) -> Finished:
        deadline = min(self._deadline, time.monotonic() + self._destination.timeout)
        try:
            outcome = self._sender.send(attempt.event.body, deadline=deadline)
            return replace(attempt, fingerprint=self._fingerprint()), outcome
        except (OSError, EOFError, zlib.error):  # what gunzip raises
            return attempt, Outcome(Verdict.DEAD, "its body in the spool is damaged")
        except Exception as error:  # noqa: BLE001 - a thread that ends without a report stops the destination for ever
            reason = f"a fault of truewatch-lineage: {type(error).__name__}"
            return attempt, Outcome(Verdict.RETRY, reason, ambiguous=True)

    def _keep(self, finished: Iterable[Finished], flying: dict[int, Attempt]) -> None:
        """Note what attempts have come to, until it is settled."""
        for attempt, outcome in finished:
            self._window.note(outcome)
            self._unsettled.append((attempt, outcome))
            flying.pop(attempt.event.id, None)

    def _settle(self) -> None:
        before = standing = self.standing()
        settlements, letters = [], []
        for attempt, outcome in sorted(self._unsettled, key=lambda pair: pair[0].number):
            moment = Moment(self._queue.clock(), self._chance)
            settlement, standing = decide(standing, attempt, outcome, moment)
            settlements.append(settlement)
            if settlement.result == "dead":
                place = self._queue.place(settlement.id)  # which a queue may not know once it is settled
                letters.append(Refused(attempt.event, self.binding.kind, place, settlement.reason))
        self._queue.settle(self.binding, settlements, standing)
        self._note_refusal(standing)
        self._unsettled.clear()
        self._told.settled(before, standing, settlements)
        self._told.refused(letters)
        self._queue.relieve()

    def _note_refusal(self, standing: Standing) -> None:
        """Note whether what is being settled was refused with the settings of this process."""
        if standing.state == "ready":
            self._refused = None
        elif standing.state == "parked" and standing.parked_with in {one.fingerprint for one, _ in self._unsettled}:
            self._refused = standing.parked_with

    def _fingerprint(self) -> str | None:
        return self._sender.fingerprint(self._queue.fingerprint_key())
