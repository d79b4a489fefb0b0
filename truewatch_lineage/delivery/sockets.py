"""Sockets that keep one deadline for a whole attempt, whatever the layer: plain, TLS, or TLS within TLS.

A socket's own timeout starts anew with each read, so a peer that drips bytes could hold a thread for ever. Here every
read and write is given only the time that is left until the deadline of the thread's attempt.
"""

from __future__ import annotations

import math
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from truewatch_lineage.delivery.resolve import RESOLVER, AddressInfo


class _Attempt(threading.local):
    """The deadline of the attempt that this thread makes: an attempt never leaves its thread."""

    deadline: float = math.inf


_attempt = _Attempt()


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let every read, write, connect and handshake of this thread end at ``deadline`` (``time.monotonic()``)."""
    _attempt.deadline = deadline
    try:
        yield
    finally:
        _attempt.deadline = math.inf


def remaining() -> float:
    """Return the seconds that are left for this thread's attempt, always more than 0.

    Raises:
        TimeoutError: None is left.
    """
    left = _attempt.deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class DeadlineSocket(socket.socket):
    """A socket whose every operation ends at the deadline of the thread's attempt."""

    __slots__ = ()

    def recv(self, *args: Any) -> bytes:
        """Read; TLS within TLS reads so."""
        self.settimeout(remaining())
        return super().recv(*args)

    def recv_into(self, *args: Any) -> int:
        """Read into a buffer; ``makefile()`` and so ``http.client`` read so."""
        self.settimeout(remaining())
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:
        """Write a part; TLS may write all in a loop of these."""
        self.settimeout(remaining())
        return super().send(*args)

    def sendall(self, *args: Any) -> None:
        """Write all."""
        self.settimeout(remaining())
        super().sendall(*args)


class DeadlineTlsSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS: what ``SSLContext.sslsocket_class`` is set to."""

    def do_handshake(self, block: bool = False) -> None:
        """Shake hands within what is left; ``block`` as in :class:`ssl.SSLSocket`."""
        self.settimeout(remaining())
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
