"""The connections to one destination: so many at once, and those that are idle kept for the next request."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from truewatch_lineage.delivery.connection import Connection
from truewatch_lineage.delivery.forks import PerProcess
from truewatch_lineage.delivery.sockets import remaining

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is trusted: less than servers and gateways commonly keep one."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What one process holds: a permit for each connection that may be open, and the idle ones, newest last."""

    permits: queue.SimpleQueue[None]
    idle: deque[tuple[Connection, float]] = field(default_factory=deque)

    def drop(self) -> None:
        """Close the idle ones; no lock is needed, since a deque's ends are atomic."""
        while self.idle:
            self.idle.pop()[0].close()


class Pool:
    """Lends connections; safe to use from threads and after a fork.

    Args:
        limit: How many may be lent at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: PerProcess[_Held] = PerProcess(self._make)
        self._closed = False

    def take(self, make: Callable[[], Connection]) -> Connection:
        """Lend an idle connection that is still open, or what ``make`` returns.

        Raises:
            TimeoutError: None became free by the thread's deadline.
        """
        held = self._held.get()
        try:
            held.permits.get(timeout=remaining())
        except queue.Empty:
            raise TimeoutError from None
        try:
            return _alive(held.idle) or make()
        except BaseException:
            held.permits.put(None)
            raise

    def give(self, connection: Connection, *, keep: bool) -> None:
        """Take a connection back, to be kept open if ``keep``."""
        held = self._held.get()
        if keep and not self._closed:
            held.idle.append((connection, time.monotonic()))
        else:
            connection.close()
        held.permits.put(None)

    def close(self) -> None:
        """Close the idle connections; those that are lent are closed when they come back."""
        self._closed = True
        self._held.get().drop()

    def _make(self, parent: _Held | None) -> _Held:
        if parent is not None:
            # This closes only our descriptors: the parent's connections stay open, and are not ours to use.
            parent.drop()
        held = _Held(queue.SimpleQueue())
        for _ in range(self._limit):
            held.permits.put(None)
        return held


def _alive(idle: deque[tuple[Connection, float]]) -> Connection | None:
    while True:
        try:
            connection, since = idle.pop()
        except IndexError:
            return None
        # One that has something to read before it was asked has been closed by the peer, or is out of step.
        if time.monotonic() - since < IDLE_SECONDS and connection.is_connected:
            return connection
        connection.close()
