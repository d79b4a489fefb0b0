"""How a command that runs for long is told to end."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator
from typing import Any


class Stop:
    """What one thread waits for and a signal handler may set, in the middle of anything, that wait included."""

    def __init__(self) -> None:
        # Not an Event: a handler that runs inside its `wait` would wait for ever for the lock that it holds.
        # This queue may be put to there (https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_set = False

    def set(self) -> None:
        """End the wait, and those to come; takes no lock."""
        self._is_set = True
        self._wakes.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, and return whether it is.

        Args:
            timeout: Seconds to wait at most; None to wait for as long as it takes.
        """
        if not self._is_set:
            with contextlib.suppress(queue.Empty):
                self._wakes.get(timeout=timeout)
        return self._is_set


def _signals() -> list[int]:
    """Return those that end a command; a hangup does not where it was started with nohup, and Windows has none."""
    hangup = getattr(signal, "SIGHUP", None)
    minds = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGINT, *([hangup] if minds and hangup is not None else [])]


@contextlib.contextmanager
def stopped_by_signal() -> Iterator[Stop]:
    """Give what SIGTERM, SIGINT and SIGHUP set; a second one, the same or another, ends the process at once."""
    stopped = Stop()
    kept = {number: signal.getsignal(number) for number in _signals()}

    def stop(_number: int, _frame: Any) -> None:
        for number in kept:
            signal.signal(number, signal.SIG_DFL)
        stopped.set()

    for number in kept:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
