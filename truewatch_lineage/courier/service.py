"""Delivery in the background: a daemon thread for one destination."""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from truewatch_lineage.courier.inline import drain
from truewatch_lineage.courier.leader import Leader
from truewatch_lineage.courier.queue import Queue
from truewatch_lineage.courier.telling import at_start
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.notices import Notices

log = logging.getLogger(__name__)

_AFTER_ERROR: Final = 1.0
"""Seconds in which nothing is tried after an error; doubled each time that results of attempts can't be written."""

_LONGEST_AFTER_ERROR: Final = 60.0
_SHORTEST_REST: Final = 0.01
_PARKED_REST: Final = 1.0
"""A token may be rotated at any time, so a parked destination is looked at again before its probe is due."""

_MARGIN: Final = 0.5
"""Seconds before the deadline of `finish` in which attempts that take too long are noted as failed."""


class Service:
    """Leads a destination whenever something is due and nobody else leads.

    Args:
        waiting: What the leader drains.
        leader: Of the destination.
        poll: Seconds between two looks for events of other processes; `wake` tells of this one's.
        probe: Tell at the start what waits, and try a paused destination once, due or not.
    """

    def __init__(self, waiting: Queue, leader: Leader, poll: float, *, probe: bool = False) -> None:
        self._waiting = waiting
        self._leader = leader
        self._poll = poll
        self._probe = probe
        # Not an Event: `finish` may be called by the garbage collector, in the middle of anything, and this queue alone
        # may be put to there (https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
        self._signals: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_signalled = False
        self._notices = Notices(log)
        self._finish_by = math.inf
        self._seen = -1
        self._next = self._quiet_until = self._blocked_until = 0.0
        self._after_error = _AFTER_ERROR
        self._thread = threading.Thread(target=self._run, name="truewatch-lineage-courier", daemon=True)

    def start(self) -> None:
        """Begin.

        Raises:
            RuntimeError: If no thread can be started, as at interpreter exit.
        """
        self._thread.start()

    def wake(self) -> None:
        """Tell that an event was stored; costs next to nothing while the destination is stopped."""
        if time.monotonic() < self._quiet_until:
            return
        if not self._is_signalled:
            self._is_signalled = True
            self._signals.put(None)
        self._leader.wake()  # each time: while it leads, nobody takes the signal

    def finish(self, deadline: float) -> None:
        """Deliver what is due by a deadline of ``time.monotonic()``, then end; takes no lock."""
        self._finish_by = deadline
        left = max(0.0, deadline - time.monotonic())
        self._leader.cut(deadline - min(_MARGIN, left / 4))
        self._signals.put(None)
        self._leader.wake()

    def is_alive(self) -> bool:
        """Tell whether the thread runs."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait for the thread until the deadline of `finish`."""
        self._thread.join(max(0.0, self._finish_by - time.monotonic()))

    def _run(self) -> None:
        is_signalled = True
        if self._probe:
            self._guarded(self._begin)
        while self._finish_by == math.inf:
            if time.monotonic() >= self._blocked_until:
                self._guarded(partial(self._turn, is_signalled=is_signalled))
            is_signalled = self._rest()
        self._guarded(partial(drain, self._leader, self._finish_by))
        self._leader.close()

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a thread that ends delivers nothing as long as the process lives
            told = error if isinstance(error, (SpoolError, OSError)) else type(error).__name__
            self._notices.warning("error", "Lineage can't be delivered now and stays in the spool: %s", told)
            self._back_off()
        else:
            self._after_error = _AFTER_ERROR

    def _back_off(self) -> None:
        """Rest after an error, whatever is signalled or written meanwhile; only `finish` ends it."""
        self._next = self._quiet_until = self._blocked_until = time.monotonic() + self._after_error
        longer = min(2 * self._after_error, _LONGEST_AFTER_ERROR)
        self._after_error = longer if self._leader.is_behind else _AFTER_ERROR

    def _rest(self) -> bool:
        """Wait until it is time to look again; returns whether `wake` or `finish` ended the wait."""
        seconds = min(self._poll, max(_SHORTEST_REST, self._next - time.monotonic()))
        try:
            self._signals.get(timeout=seconds)
        except queue.Empty:
            return False
        self._is_signalled = False  # before the next look: what was stored until here is found by it
        return True

    def _begin(self) -> None:
        """Tell what waits, and try a destination once that is paused: whoever starts this may have mended it."""
        binding = self._leader.binding
        standing, waiting = self._leader.standing(), self._waiting.pending(binding)
        if waiting:
            log.info("%s: %s", binding.name, at_start(standing, waiting, self._waiting.clock()))
        if waiting and standing.state == "paused":
            self._lead(probe=True)

    def _lead(self, *, probe: bool = False) -> bool:
        """Lead unless another does; returns whether it did."""
        if not self._leader.try_lead():
            return False
        try:
            self._leader.lead(goal=lambda: False, deadline=self._finish_by, threads=True, probe=probe)
        finally:
            self._leader.resign()
        return True

    def _turn(self, *, is_signalled: bool) -> None:
        """Lead while something is due; costs one small query where nothing has changed."""
        # Commits of this process do not change the version; `wake` tells of them.
        version = self._waiting.version()
        if not is_signalled and version == self._seen and time.monotonic() < self._next:
            return
        self._seen = version
        standing = self._leader.standing()
        wait = self._leader.wait_seconds(standing)
        if wait == 0.0:
            if not self._lead():
                self._next = time.monotonic() + self._poll  # whoever leads may be killed without a trace
                return
            standing = self._leader.standing()
            wait = self._leader.wait_seconds(standing)
        self._next = time.monotonic() + (min(wait, _PARKED_REST) if standing.state == "parked" else wait)
        self._quiet_until = 0.0 if standing.state == "ready" else self._next
