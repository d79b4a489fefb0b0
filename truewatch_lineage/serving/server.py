"""How a server runs: it listens, with TLS where asked for, and lets uvicorn serve one application."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.serving.connection import BoundedProtocol
from truewatch_lineage.serving.handshakes import Remains, slim_buffers
from truewatch_lineage.serving.listener import ExhaustedError, Listener

IDLE_SECONDS: Final = 30
GRACE_SECONDS: Final = 1
"""How long open requests get to end once the server is to stop."""

HANDSHAKE_SECONDS: Final = 10.0
"""TLS must be agreed on this long after the connection's start; asyncio would wait for a minute."""

REFUSED_IN_WORDS: Final = 100
"""So many connections above the limit are answered 503, further ones closed: each takes a descriptor."""

GC_THRESHOLDS: Final = (50_000, 20, 20)
"""Measured by benchmarks/receiver.py: 2,200 events a second with Python's own, 2,500 to 3,100 with these."""

_BACKLOG: Final = 1024
_OTHER_FILES: Final = 512
"""Kept for the spool, for connections to destinations and brokers, and for clients that are refused in words."""

LEAST_CONNECTIONS: Final = 64
"""With room for fewer a server does not start: it would refuse clients all the time, and nobody would know why."""


def collect_seldom() -> None:
    """Look for garbage less often: an event is thousands of objects, none of which holds another in a circle."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def configured(app: ASGIApp, *, max_connections: int, tls: ssl.SSLContext | None = None) -> uvicorn.Config:
    """Return uvicorn's settings for an application.

    Args:
        app: The application.
        max_connections: Above it every request is answered 503.
        tls: For https, or None for http.
    """
    config = uvicorn.Config(
        app,
        loop="asyncio",  # others accept past the `Listener`
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        limit_concurrency=max_connections,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    config.load()
    config.ssl = tls
    return config


class Server(uvicorn.Server):
    """uvicorn's server that tells when it is ready, and ends with 0 after a signal instead of dying by it.

    Args:
        config: As `configured` returns it.
        ready: Is called once connections are accepted.
        ending: Is called before connections are closed.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._ending = ending
        self._remains = Remains()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, accept connections on ``sockets``, then tell."""
        await super().startup([])  # it would listen without a bound on handshakes
        if not self.started:  # an older uvicorn returns where a newer one ends
            return
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_unless_told)
        slim_buffers()
        for listener in sockets or []:
            self._count(listener)
            tls = self.config.ssl
            seconds = HANDSHAKE_SECONDS if tls else None
            server = await loop.create_server(
                self._protocol, sock=listener, ssl=tls, backlog=_BACKLOG, ssl_handshake_timeout=seconds
            )
            self.servers.append(server)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell, then end."""
        self._ending()
        await super().shutdown(sockets)

    def _count(self, listener: socket.socket) -> None:
        limit = self.config.limit_concurrency
        if isinstance(listener, Listener) and limit is not None:
            listener.count(self.lifespan.state["counters"], limit + REFUSED_IN_WORDS)

    def _protocol(self) -> BoundedProtocol:
        protocol = BoundedProtocol(self.config, self.server_state, self.lifespan.state)
        if self.config.ssl:
            self._remains.watch(protocol)
        return protocol

    async def on_tick(self, counter: int) -> bool:
        """Do what is done ten times a second; returns whether the server is to end."""
        self._remains.clear(self.lifespan.state["counters"].now)
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End at SIGINT and SIGTERM, in the main thread; elsewhere signals are for whoever started the server."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)


def _unless_told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong in the loop, but for what the listener has said."""
    if not isinstance(context.get("exception"), ExhaustedError):
        loop.default_exception_handler(context)


def listen(host: str, port: int, *, owner: str) -> Listener:
    """Return a socket that accepts connections.

    Args:
        host: The address.
        port: 0 for a free one.
        owner: What the server is called in messages.

    Raises:
        ConfigError: It can't be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return _listen(family, host, port)
    except OSError as error:
        where = f"port {port} on {host}"
        if error.errno == errno.EADDRINUSE:
            fix = "Stop the program that uses it, or choose another with --port (0 takes a free one)."
            raise ConfigError(f"The {owner} can't listen: {where} is taken.", key="--port", fix=fix) from error
        fix = "Choose another --host or --port."
        raise ConfigError(f"The {owner} can't listen on {where}: {error.strerror}.", key="--host", fix=fix) from error


def _listen(family: socket.AddressFamily, host: str, port: int) -> Listener:
    listener = Listener(family)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def room_for(connections: int, *, spare: int = 0, owner: str) -> int:
    """Return how many connections there is room for, the process's limit of open files raised as far as is allowed.

    Args:
        connections: How many are wanted.
        spare: How many more there must be room for; `_OTHER_FILES` besides are kept for whatever else is open.
        owner: What the server is called in messages.

    Raises:
        ConfigError: There is room for fewer than `LEAST_CONNECTIONS`, or than are wanted where that is less.
    """
    if sys.platform == "win32":  # pragma: no cover - no such limit there
        return connections
    import resource  # noqa: PLC0415 - not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = spare + _OTHER_FILES
    wanted = connections + kept
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS allows less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    room = connections if soft == resource.RLIM_INFINITY else min(connections, soft - kept)
    least = min(connections, LEAST_CONNECTIONS)
    if room < least:
        problem = f"The {owner} may have {soft} open files and needs {least + kept}, or {wanted} for all its clients."
        fix = f"Raise the limit: `ulimit -n {wanted}`, or LimitNOFILE={wanted} in a systemd unit."
        raise ConfigError(problem, fix=fix)
    return room


def url_of(host: str, listener: socket.socket, *, scheme: str = "http") -> str:
    """Return the url that a listener on ``host`` is reached by from this machine."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"{scheme}://[{shown}]:{port}" if ":" in shown else f"{scheme}://{shown}:{port}"
