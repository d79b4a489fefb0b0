"""Passes on to dbt the signals this process gets, each exactly once, while both are in one process group.

dbt stays in this process's group, so that a terminal treats both as one command. What is sent to the group reaches dbt
without help; what is sent to this process alone has to be passed on. For most signals a second copy changes nothing.
A second SIGINT does: dbt breaks off its cleaning up. So a small process in the same group tells which of both it was.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from truewatch_lineage_dbt.reporter import Reporter

_PASSED: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)
_STOPPING: Final = frozenset({signal.SIGINT, signal.SIGTERM})
_PR_SET_PDEATHSIG: Final = 1
"""prctl(2), Linux only."""

GROUP_SECONDS: Final = 0.5
"""How long the other members of a group may take to notice a signal that was sent to all of it, on a busy machine."""

_LOOK_SECONDS: Final = 0.005
_PENDING: Final = re.compile(r"^ShdPnd:\s*([0-9a-f]+)$", re.MULTILINE)
"""In ``/proc/PID/status``: the signals that a process has got and not taken yet (proc(5), Linux only)."""


class Forwarding:
    """Handles signals for a ``with`` block.

    Attributes:
        was_told_to_stop: Whether a SIGINT or SIGTERM has come.
    """

    def __init__(self) -> None:
        self.was_told_to_stop = False
        self._process: subprocess.Popen[bytes] | None = None
        self._reporter: Reporter | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}
        self._canary: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Forwarding:  # noqa: PYI034 - Self is Python 3.11's
        self._canary = _canary()
        for number in _PASSED:
            if signal.getsignal(number) is not signal.SIG_IGN:  # what nohup ignores, dbt ignores as well
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._canary is not None:
            self._canary.communicate()  # it ends with its input

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for dbt; returns its exit code, negative where a signal ended it."""
        self._process = process
        for number in self._early:
            process.send_signal(number)
        return process.wait()

    def leave_to(self, reporter: Reporter) -> None:
        """Let signals from now on, as dbt has ended, only hurry what is left to do."""
        self._reporter = reporter

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.was_told_to_stop |= number in _STOPPING
        if self._reporter is not None:
            self._reporter.hurry()
        elif self._process is None:
            self._early.append(number)
        elif number != signal.SIGINT or not self._went_to_the_group():
            self._process.send_signal(number)

    def _went_to_the_group(self) -> bool:
        """Tell whether the last SIGINT has hit the canary as well, and set a new one out."""
        canary, deadline = self._canary, time.monotonic() + GROUP_SECONDS
        while canary is not None and time.monotonic() < deadline:
            if canary.poll() is not None or _has_pending(canary.pid, signal.SIGINT):
                canary.communicate()
                self._canary = _canary()
                return True
            time.sleep(_LOOK_SECONDS)
        return False


def die_with_parent() -> Callable[[], None] | None:
    """Return what a child calls before it becomes dbt, so that the kernel ends it when this process is killed.

    None where the kernel can't (all but Linux).
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has died before the kernel was asked
            os._exit(128 + signal.SIGKILL)

    return ask


def _canary() -> subprocess.Popen[bytes] | None:
    """Start a process that does nothing and ends with this one, as its input does.

    It dies of a SIGINT; where it can be seen that it has got one, it blocks it, so that it need not run to show it, and
    none is lost while it is only being started.
    """
    with _blocked(signal.SIGINT) if _pending(os.getpid()) is not None else contextlib.nullcontext():
        with contextlib.suppress(OSError):
            return subprocess.Popen(
                ["cat"],  # noqa: S607 - any will do
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return None


@contextlib.contextmanager
def _blocked(number: signal.Signals) -> Iterator[None]:
    """Block a signal for a ``with`` block: what is started in it inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _has_pending(pid: int, number: signal.Signals) -> bool:
    return bool((_pending(pid) or 0) >> (number - 1) & 1)


def _pending(pid: int) -> int | None:
    """Return the mask of the signals that wait for a process to take them; None where the system does not tell."""
    with contextlib.suppress(OSError):
        found = _PENDING.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace"))
        return int(found[1], 16) if found else None
    return None
