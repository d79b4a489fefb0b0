"""One SQLite connection a process, shared by its threads, safe over forks, kills, full disks and corruption.

Every write holds the lock ``write.lock`` as well as SQLite's own, and so does every checkpoint, since SQLite 3.7.0 to
3.51.2 can corrupt a database when a write and a checkpoint that resets the log meet (fixed in 3.51.3).
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import (
    SpoolBusyError,
    SpoolCorruptError,
    SpoolError,
    SpoolUnusableError,
)
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import folder as folders
from truewatch_lineage.spool import lifetimes, rescue, schema, soundness
from truewatch_lineage.spool.interval import Interval
from truewatch_lineage.spool.locks import FileLock

log = logging.getLogger(__name__)

BUSY_SECONDS: Final = 5.0
FORK_SECONDS: Final = 0.5
"""How long a fork waits for other processes to let it close the database."""

WAL_LIMIT: Final = 4 * MIB
"""A writer checkpoints by itself past this, so that a spool without a courier does not grow without bound.

Half of the ballast: on a full disk a checkpoint may have to lengthen the database by as much as the log holds.
"""

SHRINK_STEPS: Final = 16
RESERVED_PAGES: Final = 64
RESCUE_SECONDS: Final = 60.0
"""How often a damaged spool is tried to be saved: it costs a copy each time."""

_MISREAD: Final = (UnicodeDecodeError, TypeError, ValueError, ArithmeticError, LookupError)
"""What our own code raises where a row holds what we never wrote."""

_inherited: set[tuple[int, int]] = set()  # files that were open when a program forked behind Python's back


class Database:
    """The file ``spool.db`` of a folder.

    Args:
        folder: A folder that `folders.prepare` has passed.
        full: Whether a durable commit survives a power cut, or only a kill.
        busy: Seconds to wait for other processes.
        clock: In seconds, for what is not to be done again at once.
    """

    def __init__(
        self,
        folder: Path,
        *,
        full: bool = True,
        busy: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = folder / folders.FILE_NAME
        self.generation = 0  # grows whenever ids read before may be void
        self._full = full
        self._busy = busy
        self._rescues = Interval(RESCUE_SECONDS, clock)
        self._mutex = threading.RLock()
        self._gate = FileLock(folder / "write.lock")
        self._connection: sqlite3.Connection | None = None
        self._inode = (0, 0)
        self._durable: bool | None = None
        self._pid = os.getpid()
        self._depth = 0
        lifetimes.track(self)

    @contextlib.contextmanager
    def write(self, *, durable: bool = True, wait: float | None = None) -> Iterator[sqlite3.Connection]:
        """Run a ``with`` block as one transaction and commit it.

        Args:
            durable: False where losing the commit to a power cut costs no event, only a repeated delivery; such a
                commit does not wait for the disk.
            wait: Seconds to wait for other threads and processes, if less than usual.

        Raises:
            SpoolFullError: If the disk is full or a file-size limit is reached; nothing was written.
            SpoolBusyError: If others kept the spool locked for too long.
            SpoolCorruptError: If the file is damaged; it has been moved aside, and a second try finds a new one, unless
                the log tells that it could not be done yet.
            SpoolUnusableError: If the folder can't be written to.
        """
        with self._entered(wait), self._translated(), self._gated(wait):
            connection = self._open()
            if connection.in_transaction:  # a signal's exception came between its begin and its end
                connection.execute("ROLLBACK")
            self._set_durable(connection, durable=durable)
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self.generation += 1  # rows made in this transaction are gone
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if self.wal_bytes() > WAL_LIMIT:
                with contextlib.suppress(sqlite3.Error):  # the commit stands, whatever becomes of this
                    schema.checkpoint(connection, "PASSIVE", busy=self._busy)

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a ``with`` block the connection; what it reads it must fetch whole, so that no read stays open.

        Raises:
            SpoolError: As `write`.
        """
        with self._entered(), self._translated():
            connection = self._connection
            if connection is None or not self._is_in_place():
                with self._gated():
                    connection = self._open()
            yield connection

    def version(self) -> int:
        """Return a number that changes when another connection has committed.

        Raises:
            SpoolError: As `read`.
        """
        with self.read() as connection:
            return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def wal_bytes(self) -> int:
        """Return the size of the write-ahead log."""
        try:
            return os.stat(f"{self.path}-wal").st_size  # noqa: PTH116 - called for each commit
        except FileNotFoundError:
            return 0

    def checkpoint(self) -> None:
        """Bring the log's content into the database, so that the log can start anew.

        Raises:
            SpoolError: As `write`.
        """
        with self._entered(), self._translated(), self._gated():
            schema.checkpoint(self._open(), "TRUNCATE", busy=self._busy)

    def shrink(self) -> None:
        """Give back to the disk what an outage has left free in the file, at most 64 MiB at a time.

        Raises:
            SpoolError: As `write`.
        """
        with self._entered(), self._translated(), self._gated():
            connection = self._open()
            for _ in range(SHRINK_STEPS):
                if not schema.shrink(connection):
                    break
                schema.checkpoint(connection, "TRUNCATE", busy=self._busy)

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._own()
        with self._mutex:
            self._close(self._busy)

    def __del__(self) -> None:
        """Close without waiting, since Python itself would close a file that is no longer ours."""
        if "_depth" in vars(self):  # else a signal interrupted its making
            self._own()
            self._close(0.0)

    def before_fork(self) -> None:
        """Let no thread be inside SQLite while the process forks, and leave the child no open database.

        SQLite keeps a table of open files and their locks in the process; a child that inherits it believes that it
        holds locks which the kernel never gave it (https://sqlite.org/howtocorrupt.html, section 2.6).
        """
        self._mutex.acquire()
        if self._depth == 0:
            self._close(FORK_SECONDS)

    def after_fork_in_parent(self) -> None:
        """Let the other threads go on; the next call opens the database again."""
        self._mutex.release()

    def after_fork_in_child(self) -> None:
        """Begin anew: no connection, and a lock of our own, whoever held the inherited one."""
        connection, self._connection = self._connection, None
        if connection is not None:  # a fork that did not call our hook before it, such as uWSGI's
            _inherited.add(self._inode)
            lifetimes.leak(connection)
        self._gate.abandon()
        self._mutex = threading.RLock()
        self._depth = 0
        self._pid = os.getpid()
        self.generation += 1

    def _own(self) -> None:
        if self._pid != os.getpid():
            self.after_fork_in_child()

    @contextlib.contextmanager
    def _entered(self, wait: float | None = None) -> Iterator[None]:
        """Be the one thread inside; waits no longer for a thread than for a process."""
        self._own()
        mutex, wait = self._mutex, self._busy if wait is None else wait
        if not mutex.acquire(timeout=wait):
            raise SpoolBusyError(f"Other threads kept the spool for {wait:.1f} s.", path=str(self.path))
        try:
            self._have_folder()
            yield
        finally:
            mutex.release()

    def _have_folder(self) -> None:
        """Make the folder anew where somebody removed it, as programs do that tidy up temporary files."""
        if not os.path.isdir(self.path.parent):  # noqa: PTH112 - called for each commit
            folders.prepare(self.path.parent)

    def _close(self, timeout: float) -> None:
        """Close the connection, under the gate where it can be had in time, so that the file can't move meanwhile.

        Without the gate it is safe as well but for that moment: the last connection checkpoints under SQLite's
        exclusive lock, and one that is not the last only goes.
        """
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.ExitStack() as stack:
                with contextlib.suppress(OSError):  # the folder is gone
                    stack.enter_context(self._gate.hold(timeout))
                self._let_go(connection)
        self._gate.close()

    def _let_go(self, connection: sqlite3.Connection) -> None:
        if not self._is_in_place():
            lifetimes.leak(connection)
            return
        with contextlib.suppress(sqlite3.Error):
            connection.close()

    def _is_in_place(self) -> bool:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - called for each commit
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == self._inode

    def _open(self) -> sqlite3.Connection:
        """Return the connection, anew where another process has put a new file in the place of the one we had."""
        if self._connection is not None:
            if self._is_in_place():
                return self._connection
            lifetimes.leak(self._connection)
            self._connection = None
        rescue.complete(self.path)
        if folders.create_file(self.path) and self._inode != (0, 0):
            log.warning("The lineage spool %s was removed, with what waited in it; a new one was begun.", self.path)
        rescue.give_page(self.path)
        found = self.path.stat()
        self._inode = (found.st_dev, found.st_ino)
        self._check_inherited()
        self._connection = schema.connect(self.path, full=self._full, busy=self._busy)
        if lifetimes.ending.is_set():  # Python must not close it without the gate
            lifetimes.leak(self._connection)
        self._durable = None
        self.generation += 1
        return self._connection

    def _check_inherited(self) -> None:
        if self._inode in _inherited:
            raise SpoolUnusableError(
                "This process was forked, while the spool was open, by a program that does not tell Python.",
                path=str(self.path),
                fix="Let each worker load the application by itself (uWSGI: lazy-apps = true).",
            )

    def _set_durable(self, connection: sqlite3.Connection, *, durable: bool) -> None:
        if durable != self._durable:
            schema.set_synchronous(connection, full=self._full and durable)
            # What takes events away may still go where what brings them may not.
            schema.limit_pages(connection, RESERVED_PAGES if durable else 0)
            self._durable = durable

    @contextlib.contextmanager
    def _gated(self, wait: float | None = None) -> Iterator[None]:
        if self._depth:
            yield
            return
        wait = self._busy if wait is None else wait
        with self._gate.hold(wait) as held:
            if not held:
                raise SpoolBusyError(f"Other processes kept the spool locked for {wait:.1f} s.", path=str(self.path))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            found = rescue.explain(error, self.path)
            if isinstance(found, SpoolCorruptError):
                self._move_aside()
            raise found from error
        except SpoolCorruptError:
            self._move_aside()
            raise
        except _MISREAD as error:
            if self._connection is not None and soundness.is_sound(self._connection):
                raise  # then it is no fault of the file
            self._move_aside()
            raise SpoolCorruptError("The spool's file holds what was never written.", path=str(self.path)) from error

    def _move_aside(self) -> None:
        """Put a damaged file away, carry over what can be read, and let the next call open the new one."""
        try:
            with self._gated():
                if self._rescues.is_due():
                    connection, self._connection = self._connection, None
                    if connection is not None:
                        self._let_go(connection)
                    rescue.move_aside(self.path, self._inode, busy=self._busy)
        except SpoolBusyError:  # somebody else may be about to
            pass
        except (SpoolError, OSError, sqlite3.Error, UnicodeDecodeError) as error:
            log.error(  # noqa: TRY400 - its traceback tells users nothing
                "The lineage spool is damaged and can't be saved now, so it stays as it is and is tried again in a "
                "minute: %s",
                error,
            )
