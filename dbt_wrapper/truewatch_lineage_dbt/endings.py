"""How the process of an in-process dbt ends when a signal kills it: as plain dbt does, after a word to the recorder.

dbt has no handler for SIGTERM or SIGHUP, so that they kill it at once, wherever it is. A Python handler would run only
when the main thread comes back to Python, perhaps after an hour in a query. Here the interpreter's own C handler writes
to a pipe, a thread reads it, and, once the last events are stored, ends the process by the same signal.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name) and os.name == "posix"
)


class Watch:
    """Watches for the signals that would kill dbt.

    Args:
        dying: Called, in a thread, before the process ends by a signal; it must come back soon.
    """

    def __init__(self, dying: Callable[[], None]) -> None:
        self._dying = dying
        self._exit_code: int | None = None

    def start(self) -> None:
        """Begin; only signals that would kill this process now are watched, since an ignored one must stay ignored.

        As process 1, of a container, nothing is watched: there the kernel keeps these signals from dbt.
        """
        watched = [one for one in _SIGNALS if signal.getsignal(one) is signal.SIG_DFL and os.getpid() != 1]
        if not watched or threading.current_thread() is not threading.main_thread():
            return
        reading, writing = os.pipe()
        # Before any handler: where no thread can be had, dbt must stay killable.
        threading.Thread(target=self._wait, args=(reading,), name="truewatch-lineage-signals", daemon=True).start()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for one in watched:
            # The handler writes too, should an event loop take the wakeup descriptor away: dbt must stay killable.
            signal.signal(one, lambda number, _: os.write(writing, bytes([number])))
        os.register_at_fork(
            before=partial(_hold, watched), after_in_parent=_release, after_in_child=partial(_forget, watched)
        )

    def dbt_ended(self, code: int) -> None:
        """Tell that dbt is done: a signal from now on ends the process by dbt's own exit code."""
        self._exit_code = code

    def _wait(self, reading: int) -> None:
        while True:
            for number in os.read(reading, 64):
                if number in _SIGNALS:
                    self._end(number)

    def _end(self, number: int) -> None:
        code = self._exit_code
        with contextlib.suppress(BaseException):  # whatever lineage does, the process must end
            self._dying()
        if code is not None:
            os._exit(code)
        _die(number)


_masks = threading.local()


def _hold(watched: Sequence[signal.Signals]) -> None:
    """Hold back the signals of a child that is about to be forked, until it has forgotten the pipe."""
    _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)


def _release() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _masks.before)


def _forget(watched: Sequence[signal.Signals]) -> None:
    """Let a forked child die of its own signals, which must not reach the parent through the pipe they share."""
    signal.set_wakeup_fd(-1)
    for one in watched:
        signal.signal(one, signal.SIG_DFL)
    _release()


def _die(number: int) -> None:
    """End this process by a signal, from any thread: Python lets only the main thread restore a signal's default."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal.restype = ctypes.c_void_p
        libc.signal(number, None)  # SIG_DFL is a null pointer
        os.kill(os.getpid(), number)
        time.sleep(1)  # the signal takes this thread as well
    os._exit(128 + number)
