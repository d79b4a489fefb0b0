"""The receiver and the gateway side by side, for the tests of what both are held to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.gateway import Gateway
from support.receiver import Receiver
from support.served import Served
from support.spooled import stored

SERVERS = ("receiver", "gateway")

_RECEIVE = "from truewatch_lineage.cli.receive import command; command()"
_RELAY = "from truewatch_lineage.cli import main; main()"


@dataclass
class Scene:
    """A server and what it has taken so far."""

    server: Served
    all_events: Callable[[], list[Any]]
    before: int = 0

    def events(self) -> list[Any]:
        """Return what it has taken since the test began."""
        return self.all_events()[self.before :]

    def memory(self) -> float:
        """Return its resident memory in MiB."""
        text = Path(f"/proc/{self.server.pid}/status").read_text("ascii")
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024


@contextlib.contextmanager
def serving(name: str, prefix: str = "") -> Iterator[Scene]:
    """Start a server that asks for no token; the gateway's destination answers nothing.

    Args:
        name: One of `SERVERS`.
        prefix: Python that runs before it.
    """
    if name == "receiver":
        with Receiver(program=["-c", prefix + _RECEIVE]) as receiver:
            yield Scene(receiver, lambda: [one["event"] for one in receiver.events()])
    else:
        with Gateway(program=["-c", prefix + _RELAY]) as gateway:
            yield Scene(gateway, lambda: stored(gateway.spool))
