"""Runs the receiver: binds, opens the store, serves until a signal."""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from truewatch_lineage.receiver.app import build_app
from truewatch_lineage.receiver.live import Live
from truewatch_lineage.receiver.retention import Keep
from truewatch_lineage.receiver.rules import OWNER
from truewatch_lineage.receiver.store import Store
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.guards import is_loopback
from truewatch_lineage.serving.server import Server, collect_seldom, configured, listen, room_for, url_of

MAX_CONNECTIONS = 1000
SWITCH_SECONDS = 0.05
"""The loop and the writing thread both compute; at Python's 0.005 a tenth of the time goes into taking turns."""


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
        ConfigError: The address can't be bound, the file can't be used, or too few files may be open.
    """
    _log_to_stderr()
    sys.setswitchinterval(SWITCH_SECONDS)
    collect_seldom()
    most = room_for(MAX_CONNECTIONS, owner=OWNER)
    with listen(options.host, options.port, owner=OWNER) as listener, _opened(options) as store:
        fill(store)
        live = Live()
        app = build_app(
            store,
            Gate(options.tokens, owner=OWNER),
            live,
            strict=options.strict,
            loopback=is_loopback(options.host),
            tee=options.tee,
        )
        config = configured(app, max_connections=most)
        url = url_of(options.host, listener)
        Server(config, lambda: announce(url), live.end).run(sockets=[listener])


def _log_to_stderr() -> None:
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)


@contextlib.contextmanager
def _opened(options: Options) -> Iterator[Store]:
    with contextlib.ExitStack() as stack:
        data = options.data
        if data is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="truewatch-lineage-receiver-"))
            data = Path(folder, "events.sqlite")
        yield stack.enter_context(contextlib.closing(Store(data, options.keep)))
