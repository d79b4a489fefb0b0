"""The socket that a server listens on: connections count from accept on, and those above a limit are closed."""

from __future__ import annotations

import errno
import logging
import math
import socket
import time
import weakref
from collections.abc import Callable
from typing import Any, Final

from truewatch_lineage.notices import Notices
from truewatch_lineage.serving.counters import Counters

log = logging.getLogger(__name__)

REST_SECONDS: Final = 0.5
"""Must be less than asyncio's own pause, `asyncio.constants.ACCEPT_RETRY_DELAY`, after which it asks again."""

_CLOSED_AT_ONCE: Final = 100
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class ExhaustedError(OSError):
    """The system has no descriptor or memory for another connection; the log says so already."""


class Listener(socket.socket):
    """A TCP socket for asyncio's loop of selectors that closes what comes above a limit.

    Args:
        family: ``AF_INET`` or ``AF_INET6``.
    """

    def __init__(self, family: socket.AddressFamily) -> None:
        # asyncio sets TCP_NODELAY only on sockets made with the protocol's number; without it every answer waits 40 ms.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._counters = Counters()
        self._limit: float = math.inf
        self._rests_until = -math.inf
        self._notices = Notices(log)

    def count(self, counters: Counters, limit: int) -> None:
        """Count connections in ``counters`` from now on, and close those above ``limit``."""
        self._counters = counters
        self._limit = limit

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection, which counts until it is closed, and its address.

        Raises:
            BlockingIOError: There is none, or the system had no room for one a moment ago.
            ConnectionAbortedError: Many were closed, and others have their turn; asyncio comes back for what waits.
            ExhaustedError: The system has no room for one. asyncio rests for a second then, but asks up to a backlog's
                length more before.
        """
        if time.monotonic() < self._rests_until:
            raise BlockingIOError(errno.EAGAIN, "Resting.")
        for _ in range(_CLOSED_AT_ONCE):
            connection, address = self._next()
            if self._counters.now < self._limit:
                self._counters.connected()
                return _Accepted(connection, self._counters.disconnected), address
            connection.close()
            self._notices.warning("full", "There are %d connections, and no more are let in.", self._limit)
        raise ConnectionAbortedError

    def _next(self) -> tuple[socket.socket, Any]:
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            self._rests_until = time.monotonic() + REST_SECONDS
            self._notices.warning("exhausted", "No connection can be accepted now: %s.", error.strerror)
            raise ExhaustedError(error.errno, error.strerror) from None


class _Accepted(socket.socket):
    """One connection.

    Args:
        plain: It as it was accepted; not to be used any more.
        leave: Is called once, when it is closed or forgotten.
    """

    def __init__(self, plain: socket.socket, leave: Callable[[], None]) -> None:
        super().__init__(plain.family, plain.type, plain.proto, plain.detach())
        self._leave = weakref.finalize(self, leave)

    def close(self) -> None:
        """Close it and give back its place."""
        super().close()
        self._leave()
