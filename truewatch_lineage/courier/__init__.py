"""Drains the spool, or another queue: a leader each destination, in the caller's thread or in threads of its own."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.courier import inline
from truewatch_lineage.courier.leader import Leader, binding_of
from truewatch_lineage.courier.queue import Queue
from truewatch_lineage.courier.service import Service
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Binding

log = logging.getLogger(__name__)

__all__ = ["Courier", "binding_of"]

CONNECTIONS: Final = 64
"""Attempts in flight at most in a process that only delivers, for a destination that sets no ``concurrency``."""

POLL_SECONDS: Final = 0.02
"""Between two looks for events of other processes, in a process that only delivers."""

SETTLING_SECONDS: Final = 0.2
"""How long after a deadline the attempts that it has cut may take to be noted in the spool."""


class Courier:
    """Delivers the events of some destinations.

    Args:
        queue: The spool, or another queue.
        destinations: Whose events are delivered; rows bound to other settings are left alone.
        connections: Attempts in flight at most for a destination that sets no ``concurrency``.
        chance: Returns a float in [0, 1), for the jitter.
    """

    def __init__(
        self,
        queue: Queue,
        destinations: Sequence[DestinationSettings],
        *,
        connections: int = CONNECTIONS,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._queue = queue
        self._leaders = {binding_of(one): Leader(queue, one, connections, chance) for one in destinations}
        self._services: list[Service] = []

    def start(self, *, poll: float, probe: bool = False) -> None:
        """Deliver in the background: a daemon thread for each destination, so that none delays another.

        Args:
            poll: Seconds between two looks for events of other processes.
            probe: Tell what waits and try paused destinations once at the start, due or not; for processes that only
                deliver, which somebody starts: were every task of a job to do so, an outage would cost each a request.

        Raises:
            RuntimeError: If no thread can be started, as at interpreter exit.
        """
        for leader in self._leaders.values():
            service = Service(self._queue, leader, poll, probe=probe)
            service.start()
            self._services.append(service)

    def wake(self) -> None:
        """Tell the background threads that there is something to deliver."""
        for service in self._services:
            service.wake()

    def deliver(self, ids: Mapping[Binding, int], deadline: float) -> None:
        """Try to have these events delivered before returning.

        Args:
            ids: The event to deliver for each destination.
            deadline: Of ``time.monotonic()``.
        """
        self._each(ids, deadline, lambda leader: inline.deliver(self._queue, leader, ids[leader.binding], deadline))

    def drain(self, timeout: float, *, probe: bool = False, wait: bool = False, follow: bool = True) -> None:
        """Deliver what is due, for at most ``timeout`` seconds.

        Args:
            timeout: Seconds.
            probe: Try stopped destinations at once.
            wait: Wait for what becomes due in time; otherwise return when nothing is due.
            follow: Wait while another process leads; otherwise leave it to that one.
        """
        deadline = time.monotonic() + timeout
        self._each(
            self._leaders,
            deadline,
            lambda leader: inline.drain(leader, deadline, probe=probe, wait=wait, follow=follow),
        )

    def pending(self) -> int:
        """Count the events that wait for these destinations.

        Raises:
            SpoolError: If the spool can't be read.
        """
        return sum(self._queue.pending(binding) for binding in self._leaders)

    def finish(self, timeout: float) -> None:
        """Tell the background threads to deliver what is due for at most ``timeout`` seconds more and then to end."""
        deadline = time.monotonic() + timeout
        for service in self._services:
            service.finish(deadline)

    def has_ended(self) -> bool:
        """Tell whether no background thread of this courier runs."""
        return not any(service.is_alive() for service in self._services)

    def all_live(self) -> bool:
        """Tell whether every destination has its background thread, and that runs; False before `start`."""
        running = [service for service in self._services if service.is_alive()]
        return len(running) == len(self._leaders)

    def stop(self) -> None:
        """Wait for the background threads until the deadline of `finish`, then close what they had open."""
        for service in self._services:
            service.join()
        for leader in self._leaders.values():
            leader.close()
        if self._services:
            self._services.clear()
            self._queue.close()

    def _each(self, bindings: Iterable[Binding], deadline: float, action: Callable[[Leader], None]) -> None:
        """Run an action for several destinations at once, so that a slow one does not spend another's budget."""
        leaders = [self._leaders[binding] for binding in bindings]
        mine, others = leaders[:1], leaders[1:]
        threads = [threading.Thread(target=_guarded, args=(action, leader), daemon=True) for leader in others]
        for thread, leader in zip(threads, others, strict=True):
            try:
                thread.start()
            except RuntimeError:  # at interpreter exit no thread can be started
                mine.append(leader)
        for leader in mine:
            _guarded(action, leader)
        for thread in (thread for thread in threads if thread.ident is not None):
            thread.join(max(0.0, deadline - time.monotonic()) + SETTLING_SECONDS)


def _guarded(action: Callable[[Leader], None], leader: Leader) -> None:
    try:
        action(leader)
    except Exception as error:  # noqa: BLE001 - the event is stored, and whatever this is, the job must not see it
        told = error if isinstance(error, (SpoolError, OSError)) else type(error).__name__
        Notices(log).warning("error", "Lineage can't be delivered now and stays in the spool: %s", told)
