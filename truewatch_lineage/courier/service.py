"""Delivery in the background: a daemon thread for one destination."""

from __future__ import annotations

import logging
import math
import threading
import time

from truewatch_lineage.courier.inline import drain
from truewatch_lineage.courier.leader import Leader
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.spool import Store

log = logging.getLogger(__name__)

_AFTER_ERROR = 1.0


class Service:
    """Leads a destination whenever something is due and nobody else leads.

    Args:
        store: The spool.
        leader: Of the destination.
        poll: Seconds between two looks for events of other processes; `wake` tells of this one's.
    """

    def __init__(self, store: Store, leader: Leader, poll: float) -> None:
        self._store = store
        self._leader = leader
        self._poll = poll
        self._signal = threading.Event()
        self._finish_by = math.inf
        self._seen = -1
        self._next = 0.0
        self._thread = threading.Thread(target=self._run, name="truewatch-lineage-courier", daemon=True)

    def start(self) -> None:
        """Begin.

        Raises:
            RuntimeError: If no thread can be started, as at interpreter exit.
        """
        self._thread.start()

    def wake(self) -> None:
        """Tell that an event was stored."""
        self._next = 0.0
        self._signal.set()
        self._leader.wake()

    def finish(self, deadline: float) -> None:
        """Deliver what is due by a deadline of ``time.monotonic()``, then end."""
        self._finish_by = deadline
        self._leader.cut(deadline)
        self._signal.set()
        self._leader.wake()

    def join(self, deadline: float) -> None:
        """Wait for the thread until a deadline of ``time.monotonic()``."""
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self) -> None:
        while self._finish_by == math.inf:
            pause = self._poll
            try:
                self._turn()
            except (SpoolError, OSError) as error:
                log.warning("Lineage can't be delivered now and stays in the spool: %s", error)
                pause = _AFTER_ERROR
            self._signal.wait(pause)
            self._signal.clear()
        try:
            drain(self._leader, self._finish_by)
        except (SpoolError, OSError) as error:
            log.warning("Lineage stays in the spool: %s", error)

    def _turn(self) -> None:
        """Lead while something is due; costs one small query where nothing has changed."""
        version = self._store.database.version()
        if version == self._seen and time.monotonic() < self._next:
            return
        self._seen = version
        standing = self._leader.standing()
        if self._leader.wait_seconds(standing) == 0.0:
            if not self._leader.try_lead():
                return
            try:
                self._leader.lead(goal=lambda: False, deadline=self._finish_by, threads=True)
            finally:
                self._leader.resign()
            standing = self._leader.standing()
        wait = self._leader.wait_seconds(standing)
        # A token may be rotated at any time, so a parked destination is looked at again before its probe is due.
        self._next = time.monotonic() + (min(wait, 1.0) if standing.state == "parked" else wait)
