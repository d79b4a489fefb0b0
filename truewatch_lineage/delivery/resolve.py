"""Name resolution within a deadline: ``getaddrinfo`` can't be cancelled, so a daemon thread asks and we wait.

A name has at most one pending thread, whoever asks; a late answer still serves the next attempt. A forked child
inherits what is known, never what is pending, since no thread survives a fork.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.delivery.forks import PerProcess

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
"""What ``socket.getaddrinfo`` gives: family, kind, protocol, canonical name, address."""

CACHE_SECONDS: Final = 30.0
"""How long an answer is believed: short, so that a destination that moves is followed."""

_Name = tuple[str, int]


class NameTimeoutError(TimeoutError):
    """The name was not resolved before the deadline."""


@dataclass(slots=True)
class _State:
    """What one process knows and waits for."""

    known: dict[_Name, tuple[float, Sequence[AddressInfo]]] = field(default_factory=dict)
    pending: dict[_Name, Future[Sequence[AddressInfo]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


def _inherit(parent: _State | None) -> _State:
    return _State(known=dict(parent.known) if parent else {})


class Resolver:
    """Resolves names for all connections of a process; safe to use from threads and after a fork."""

    def __init__(self) -> None:
        self._state: PerProcess[_State] = PerProcess(_inherit)

    def resolve(self, host: str, port: int, deadline: float) -> Sequence[AddressInfo]:
        """Return the addresses of ``host``, waiting until ``deadline`` (``time.monotonic()``) at most.

        Raises:
            NameTimeoutError: There was no answer in time.
            OSError: The name can't be resolved (``socket.gaierror``).
        """
        fixed = _without_lookup(host, port)
        if fixed is not None:
            return fixed
        state = self._state.get()
        expires, addresses = state.known.get((host, port), (0.0, ()))
        if time.monotonic() < expires:
            return addresses
        try:
            lookup = self._lookup(state, (host, port))
        except RuntimeError:
            # No thread starts while the interpreter ends (3.12 on): an old answer is better than none.
            if addresses:
                return addresses
            raise socket.gaierror(socket.EAI_AGAIN, "no thread can be started") from None
        return _wait(lookup, deadline)

    def forget(self, host: str, port: int) -> None:
        """Look the name up anew next time, since none of its addresses could be reached."""
        self._state.get().known.pop((host, port), None)

    def _lookup(self, state: _State, name: _Name) -> Future[Sequence[AddressInfo]]:
        with state.lock:
            lookup = state.pending.get(name)
            if lookup is None:
                lookup = Future()
                threading.Thread(
                    target=_ask, args=(state, name, lookup), name="truewatch-lineage-resolve", daemon=True
                ).start()
                state.pending[name] = lookup
            return lookup


def is_loopback(host: str) -> bool:
    """Tell whether ``host`` is this machine by its form alone: localhost (RFC 6761, 6.3) or a loopback address."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _literal(host)
    return address is not None and address.is_loopback


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _without_lookup(host: str, port: int) -> Sequence[AddressInfo] | None:
    if _literal(host) is not None:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    if not is_loopback(host):
        return None
    # "localhost names … always return the IP loopback address" (RFC 6761, 6.3): no server is asked.
    tcp = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
    return [(socket.AF_INET, *tcp, ("127.0.0.1", port)), (socket.AF_INET6, *tcp, ("::1", port, 0, 0))]


def _ask(state: _State, name: _Name, lookup: Future[Sequence[AddressInfo]]) -> None:
    """Run in the thread; the waiting side raises what is raised here."""
    try:
        addresses = socket.getaddrinfo(*name, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        _done(state, name)
        lookup.set_exception(error if isinstance(error, OSError) else socket.gaierror(socket.EAI_NONAME, "illegal"))
        return
    state.known[name] = (time.monotonic() + CACHE_SECONDS, addresses)
    _done(state, name)
    lookup.set_result(addresses)


def _done(state: _State, name: _Name) -> None:
    with state.lock:
        state.pending.pop(name, None)


def _wait(lookup: Future[Sequence[AddressInfo]], deadline: float) -> Sequence[AddressInfo]:
    try:
        return lookup.result(max(0.0, deadline - time.monotonic()))
    except FutureTimeoutError:
        raise NameTimeoutError from None


RESOLVER: Final = Resolver()
"""The process's resolver, shared by all destinations."""
