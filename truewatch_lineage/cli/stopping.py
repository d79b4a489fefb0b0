"""How a command that runs for long is told to end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


def _signals() -> list[int]:
    """Return those that end a command; a hangup does not where it was started with nohup, and Windows has none."""
    hangup = getattr(signal, "SIGHUP", None)
    minds = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGINT, *([hangup] if minds and hangup is not None else [])]


@contextlib.contextmanager
def stopped_by_signal() -> Iterator[threading.Event]:
    """Give an event that SIGTERM, SIGINT and SIGHUP set; a second one ends the process at once."""
    stopped = threading.Event()
    kept = {number: signal.getsignal(number) for number in _signals()}

    def stop(number: int, _: Any) -> None:
        stopped.set()
        signal.signal(number, signal.SIG_DFL)

    for number in kept:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
