"""Locks between processes, held by the kernel, so that a killed holder frees them.

``flock`` belongs to the open file description, which a forked child shares with its parent: the child must close its
copy without unlocking, or it would free a lock that its parent still relies on. `after_fork_in_child` does that; where
a program forks behind Python's back, the lock itself sees that the process is another one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.platform == "win32":  # pragma: no cover
    import filelock
else:
    import fcntl

FIRST_WAIT = 0.0002
LONGEST_WAIT = 0.005
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_locks: weakref.WeakSet[FileLock] = weakref.WeakSet()
# Held over a fork, since a descriptor that the child does not know of would keep the lock. Reentrant, since the garbage
# collector may drop a database, which takes its lock, while this thread is inside.
_opening = threading.RLock()


class FileLock:
    """An exclusive lock on a file of its own, for one holder in one process at a time.

    Not for threads: whoever shares an instance between threads guards it with a lock of his own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: Any = None
        self._held = False
        self._pid = os.getpid()
        _locks.add(self)

    @property
    def held(self) -> bool:
        """Whether this process holds the lock."""
        return self._held and self._pid == os.getpid()

    def try_acquire(self) -> bool:
        """Take the lock if it is free, without waiting.

        Returns:
            Whether it is held now.

        Raises:
            OSError: If the lock file can't be opened.
        """
        if self._pid != os.getpid():  # a fork that ran none of Python's hooks
            self.abandon()
        if not self._held:
            self._held = self._try_lock()
        return self._held

    def acquire(self, timeout: float) -> bool:
        """Take the lock, waiting at most ``timeout`` seconds.

        The wait polls, since ``flock`` can't be told a deadline and a stopped holder must not stop us for ever.

        Raises:
            OSError: If the lock file can't be opened.
        """
        deadline = time.monotonic() + timeout
        wait = FIRST_WAIT
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                return False
            time.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
        return True

    def release(self) -> None:
        """Free the lock; the file stays, since removing it would let two holders in."""
        if self.held:
            self._held = False
            self._unlock()

    @contextlib.contextmanager
    def hold(self, timeout: float) -> Iterator[bool]:
        """Hold the lock for a ``with`` block; yields False where it could not be had in ``timeout`` seconds."""
        held = self.acquire(timeout)
        try:
            yield held
        finally:
            self.release()

    if sys.platform == "win32":  # pragma: no cover

        def _try_lock(self) -> bool:
            self._handle = self._handle or filelock.FileLock(str(self.path))
            try:
                self._handle.acquire(blocking=False)
            except filelock.Timeout:
                return False
            return True

        def _unlock(self) -> None:
            self._handle.release()

        def close(self) -> None:
            """Free the lock and its file handle."""
            self.release()

        def abandon(self) -> None:
            """Do nothing: Windows does not fork."""
            self._pid = os.getpid()

    else:

        def _try_lock(self) -> bool:
            while True:
                with _opening:
                    if self._handle is None:
                        self._handle = os.open(self.path, _OPEN_FLAGS, 0o600)
                try:
                    fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
                if self._is_in_place():
                    return True
                self.abandon()

        def _is_in_place(self) -> bool:
            """Tell whether the file locked is the one others will lock: somebody may have removed it."""
            try:
                found = os.stat(self.path)  # noqa: PTH116 - called for each commit
            except FileNotFoundError:
                return False
            return os.path.samestat(found, os.fstat(self._handle))

        def _unlock(self) -> None:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

        def close(self) -> None:
            """Free the lock and its descriptor."""
            self.release()
            self.abandon()

        def abandon(self) -> None:
            """Close the descriptor without unlocking, as a forked child must."""
            handle, self._handle, self._held = self._handle, None, False
            self._pid = os.getpid()
            if handle is not None:
                os.close(handle)


def before_fork() -> None:
    """Let no thread be about to open a lock file while the process forks."""
    _opening.acquire()


def after_fork_in_parent() -> None:
    """Let the threads go on."""
    _opening.release()


def after_fork_in_child() -> None:
    """Let go of the descriptors of every lock that the parent opened."""
    global _opening  # noqa: PLW0603 - the inherited lock is held by the fork
    _opening = threading.RLock()
    for lock in list(_locks):
        lock.abandon()
