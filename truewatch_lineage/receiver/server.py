"""Runs the receiver: binds, opens the store, serves until a signal."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.receiver.app import build_app
from truewatch_lineage.receiver.auth import Gate
from truewatch_lineage.receiver.connection import ReceiverProtocol
from truewatch_lineage.receiver.guards import is_loopback
from truewatch_lineage.receiver.live import Live
from truewatch_lineage.receiver.retention import Keep
from truewatch_lineage.receiver.store import Store

MAX_CONNECTIONS = 1000
IDLE_SECONDS = 30
GRACE_SECONDS = 1
SWITCH_SECONDS = 0.05
"""The loop and the writing thread both compute; at Python's 0.005 a tenth of the time goes into taking turns."""

GC_THRESHOLDS = (50_000, 20, 20)
"""Measured by benchmarks/receiver.py: 2,200 events a second with Python's own, 2,500 to 3,100 with these."""

_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes:
        host: The address to bind to.
        port: 0 for a free one.
        tokens: Those that are accepted; empty to ask for none. Never shown.
        data: The file of events, or None for one that is gone afterwards.
        strict: Whether formats that real events break are errors.
        keep: How much is kept.
        tee: Is given the bytes of each accepted event, in a thread, before the answer.
    """

    host: str
    port: int
    tokens: tuple[str, ...]
    data: Path | None
    strict: bool
    keep: Keep = field(default_factory=Keep)
    tee: Callable[[bytes], None] | None = None

    def __repr__(self) -> str:
        return f"Options(host={self.host!r}, port={self.port}, tokens={len(self.tokens)}, data={self.data})"


def run(options: Options, announce: Callable[[str], None], fill: Callable[[Store], None] = lambda _store: None) -> None:
    """Serve until SIGINT or SIGTERM; open requests get ``GRACE_SECONDS`` to end.

    Args:
        options: How.
        announce: Is called with the receiver's url once it accepts connections.
        fill: Is called with the store before that, to put events in; see `loading.load`.

    Raises:
        ConfigError: The address can't be bound, or the file can't be used.
    """
    _log_to_stderr()
    sys.setswitchinterval(SWITCH_SECONDS)
    _collect_seldom()
    with _bind(options) as listener, _opened(options) as store:
        fill(store)
        live = Live()
        app = build_app(
            store,
            Gate(options.tokens),
            live,
            strict=options.strict,
            loopback=is_loopback(options.host),
            tee=options.tee,
        )
        config = uvicorn.Config(
            app,
            http=ReceiverProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        url = _url(options.host, listener.getsockname()[1])
        _Server(config, lambda: announce(url), live).run(sockets=[listener])


def _collect_seldom() -> None:
    """Look for garbage less often: an event is thousands of objects, none of which holds another in a circle."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


class _Server(uvicorn.Server):
    """uvicorn's server that tells when it is ready, and ends with 0 after a signal instead of dying by it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], live: Live) -> None:
        super().__init__(config)
        self._ready = ready
        self._live = live

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._live.end()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)


def _log_to_stderr() -> None:
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)


def _bind(options: Options) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return _listen(family, options.host, options.port)
    except OSError as error:
        where = f"port {options.port} on {options.host}"
        if error.errno == errno.EADDRINUSE:
            fix = "Stop the program that uses it, or choose another with --port (0 takes a free one)."
            raise ConfigError(f"The receiver can't listen: {where} is taken.", key="--port", fix=fix) from error
        fix = "Choose another --host or --port."
        raise ConfigError(f"The receiver can't listen on {where}: {error.strerror}.", key="--host", fix=fix) from error


def _listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only on sockets made with the protocol's number; without it every answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def _opened(options: Options) -> Iterator[Store]:
    with contextlib.ExitStack() as stack:
        data = options.data
        if data is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="truewatch-lineage-receiver-"))
            data = Path(folder, "events.sqlite")
        yield stack.enter_context(contextlib.closing(Store(data, options.keep)))


def _url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
