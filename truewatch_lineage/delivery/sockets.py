"""Sockets that keep one deadline for a whole attempt, whatever the layer: plain, TLS, or TLS within TLS.

A socket's own timeout starts anew with each read, so a peer that drips bytes could hold a thread for ever. Here every
read and write is given only the time that is left until the deadline of the attempt. The methods take arguments as
sockets do, by place or by name: gevent's own sockets call them by name.
"""

from __future__ import annotations

import math
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from truewatch_lineage.delivery.resolve import RESOLVER, AddressInfo

LONGEST_SECONDS: Final = 86_400.0
"""What is left outside of any attempt: no operating system takes an endless timeout as a number."""

_TOLERANCE: Final = 0.001
"""Of the time that is left, how much an operation may have more or less."""

_deadline: Final = ContextVar("deadline", default=math.inf)
"""Of the attempt that this thread makes: an attempt never leaves its thread. A variable of the context, since greenlets
have contexts of their own but share their thread."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let every read, write, connect and handshake of this thread end at ``deadline`` (``time.monotonic()``)."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


def remaining() -> float:
    """Return the seconds that are left for this thread's attempt, more than 0 and a day at most.

    Raises:
        TimeoutError: None is left.
    """
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, LONGEST_SECONDS)


class DeadlineSocket(socket.socket):
    """A socket whose every operation ends at the deadline of the thread's attempt."""

    __slots__ = ()

    def recv(self, *args: Any, **options: Any) -> bytes:
        """Read; what comes first of an answer is read so, and TLS within TLS."""
        self._arm()
        return super().recv(*args, **options)

    def recv_into(self, *args: Any, **options: Any) -> int:
        """Read into a buffer; ``makefile()`` and so ``http.client`` read the rest so."""
        self._arm()
        return super().recv_into(*args, **options)

    def send(self, *args: Any, **options: Any) -> int:
        """Write a part; TLS may write all in a loop of these."""
        self._arm()
        return super().send(*args, **options)

    def sendall(self, *args: Any, **options: Any) -> None:
        """Write all."""
        self._arm()
        super().sendall(*args, **options)

    def _arm(self) -> None:
        """Give the next operation the time that is left; not anew where it has that already, which is a system call."""
        left = remaining()
        if abs((self.gettimeout() or 0.0) - left) > left * _TOLERANCE:
            self.settimeout(left)


class DeadlineTlsSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS: what ``SSLContext.sslsocket_class`` is set to."""

    def do_handshake(self, block: bool = False) -> None:
        """Shake hands within what is left; ``block`` as in :class:`ssl.SSLSocket`."""
        self._arm()
        super().do_handshake(block)


def open_socket(host: str, port: int) -> DeadlineSocket:
    """Resolve ``host`` and connect to the first of its addresses that answers, within the thread's deadline.

    Raises:
        OSError: No address could be reached; the name can't be resolved (``socket.gaierror``); or the time was up
            (``TimeoutError``).
    """
    addresses = RESOLVER.resolve(host, port, time.monotonic() + remaining())
    try:
        return _connect_any(addresses)
    except OSError:
        RESOLVER.forget(host, port)
        raise


def _connect_any(addresses: Sequence[AddressInfo]) -> DeadlineSocket:
    failures: list[OSError] = []
    for index, info in enumerate(addresses):
        try:
            # Each address gets its share, so that one that swallows packets leaves time for the next.
            return _connect(info, remaining() / (len(addresses) - index))
        except OSError as error:
            failures.append(error)
    refused = [error for error in failures if isinstance(error, ConnectionRefusedError)]
    raise (refused or failures)[0]


def _connect(info: AddressInfo, seconds: float) -> DeadlineSocket:
    family, kind, protocol, _, address = info
    sock = DeadlineSocket(family, kind, protocol)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(seconds)
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock
