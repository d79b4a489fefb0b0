"""How a command that runs for long is told to end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def stopped_by_signal() -> Iterator[threading.Event]:
    """Give an event that SIGTERM and SIGINT set; a second one ends the process at once."""
    stopped = threading.Event()
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

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
