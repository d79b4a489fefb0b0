"""The ends and the beginnings that databases and locks live through: forks and the interpreter's exit."""

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
import weakref
from typing import Protocol

from truewatch_lineage.spool import locks


class Tracked(Protocol):
    """A database, as far as its process is concerned."""

    def before_fork(self) -> None:
        """Let no thread be inside while the process forks."""

    def after_fork_in_parent(self) -> None:
        """Let the threads go on."""

    def after_fork_in_child(self) -> None:
        """Begin anew."""

    def close(self) -> None:
        """Close what is open."""


_tracked: weakref.WeakSet[Tracked] = weakref.WeakSet()
_registry = threading.Lock()
ending = threading.Event()
"""Set once `close` was called on all, since the interpreter ends; a daemon thread may still open one again."""


def track(database: Tracked) -> None:
    """Call a database's methods at the right times, as long as it lives."""
    with _registry:
        _tracked.add(database)


def leak(connection: sqlite3.Connection) -> None:
    """Keep a connection from ever being closed.

    Closing one that was inherited over a fork, or whose file has been renamed, would delete the log that now stands
    under its old name.
    """
    import ctypes  # noqa: PLC0415 - 5 ms that only a rare fork or rescue needs

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _before_fork() -> None:
    # Locks last: a thread inside a database may be opening one, and is waited for.
    _registry.acquire()
    for database in sorted(_tracked, key=id):
        database.before_fork()
    locks.before_fork()


def _after_fork_in_parent() -> None:
    locks.after_fork_in_parent()
    for database in _tracked:
        database.after_fork_in_parent()
    _registry.release()


def _after_fork_in_child() -> None:
    global _registry  # noqa: PLW0603 - the inherited lock is held by the fork
    _registry = threading.Lock()
    locks.after_fork_in_child()
    for database in _tracked:
        database.after_fork_in_child()


def _close_all() -> None:
    """Close what is open when the interpreter ends, since it would close it without the gate."""
    ending.set()
    for database in list(_tracked):
        database.close()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
