"""What SQLite's errors mean for a spool, and how a damaged spool is put away and its rows are saved."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.errors import (
    SpoolBusyError,
    SpoolCorruptError,
    SpoolError,
    SpoolFullError,
    SpoolUnusableError,
)
from truewatch_lineage.spool import folder as folders
from truewatch_lineage.spool import schema

log = logging.getLogger(__name__)

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
SUFFIXES: Final = ("", "-wal", "-shm")
SALVAGED: Final = ("destination", "body", "event", "receipt")
GAP_LIMIT: Final = 10_000
"""How many ids in a row may be unreadable before the rest of a table is given up."""

# Python 3.10 has no error codes on its exceptions, so the texts of sqlite3ErrStr decide.
MEANINGS: Final[tuple[tuple[str, type[SpoolError], str], ...]] = (
    ("malformed", SpoolCorruptError, "The spool's file is damaged."),
    ("not a database", SpoolCorruptError, "The spool's file is no SQLite database."),
    ("no such table", SpoolCorruptError, "The spool's file lacks a table."),
    ("no such column", SpoolCorruptError, "The spool's file lacks a column."),
    ("full", SpoolFullError, "The disk is full."),
    (
        "disk i/o error",
        SpoolFullError,
        "The disk can't be written to: it is full, or a limit on file sizes is reached.",
    ),
    ("locked", SpoolBusyError, "Other programs kept the spool locked."),
    ("readonly", SpoolUnusableError, "The spool can't be written to."),
    ("unable to open", SpoolUnusableError, "The spool can't be opened."),
)


def explain(error: sqlite3.Error, path: Path) -> SpoolError:
    """Turn SQLite's error into ours."""
    text = str(error).lower()
    for part, cls, problem in MEANINGS:
        if part in text:
            return cls(problem, path=str(path))
    return SpoolUnusableError(f"The spool can't be used: {error}.", path=str(path))


def move_aside(path: Path, inode: tuple[int, int], *, full: bool, busy: float) -> None:
    """Rename a damaged database, make a new one in its place and copy over what can be read.

    The caller holds the write lock. Another process may have done it already: then the file is no longer the one that
    was found damaged, and nothing happens.

    Args:
        path: The database.
        inode: Device and inode of the file that was found damaged, zeros if it could not be opened.
        full: As `schema.connect`.
        busy: As `schema.connect`.

    Raises:
        OSError: If the files can't be renamed.
        SpoolError: If the new file can't be made.
    """
    found = path.stat()
    if any(inode) and (found.st_dev, found.st_ino) != inode:
        return
    if not any(inode) and _is_sound(path):
        return
    away = Path(f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}")
    for suffix in SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{away}{suffix}")  # noqa: PTH104 - the suffix is no path of its own
    folders.create_file(path)
    new = schema.connect(path, full=full, busy=busy)
    try:
        saved = _salvage(away, new)
    finally:
        new.close()
    log.error(
        "The lineage spool was damaged: it was moved to %s, a new one was begun, and %d waiting events were saved.",
        away,
        saved,
    )


def _is_sound(path: Path) -> bool:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("SELECT count(*) FROM event").fetchone())
    return False


def _salvage(away: Path, new: sqlite3.Connection) -> int:
    """Copy the rows that can be read; returns how many events came over."""
    try:
        old = sqlite3.connect(away)
    except sqlite3.Error:
        return 0
    with contextlib.closing(old):
        new.execute("BEGIN IMMEDIATE")
        for table in SALVAGED:
            for columns, row in _rows(old, table):
                names, marks = ", ".join(columns), ", ".join("?" * len(columns))
                with contextlib.suppress(sqlite3.IntegrityError):
                    new.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - our own names
        _mend(new)
        new.execute("COMMIT")
    return int(new.execute("SELECT count(*) FROM event").fetchone()[0])


def _rows(old: sqlite3.Connection, table: str) -> Iterator[tuple[list[str], tuple[Any, ...]]]:
    """Read a table row by row, stepping over the ids whose page is damaged."""
    last, gap = 0, 1
    while gap <= GAP_LIMIT:
        try:
            cursor = old.execute(f"SELECT * FROM {table} WHERE id > ? ORDER BY id", (last + gap - 1,))  # noqa: S608
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                last, gap = row[0], 1
                yield columns, row
        except sqlite3.Error:
            gap += 1
        else:
            return


def _mend(new: sqlite3.Connection) -> None:
    """Make the rows agree again: no event without its destination, bodies counted, one head a lane."""
    new.execute("DELETE FROM event WHERE destination_id NOT IN (SELECT id FROM destination)")
    new.execute("DELETE FROM event WHERE state = 0 AND body_id NOT IN (SELECT id FROM body)")
    new.execute("UPDATE event SET body_id = NULL WHERE body_id NOT IN (SELECT id FROM body)")
    new.execute("UPDATE body SET refs = (SELECT count(*) FROM event WHERE body_id = body.id)")
    new.execute("DELETE FROM body WHERE refs = 0")
    new.execute(
        "UPDATE event SET head = state = 0 AND id IN "
        "(SELECT min(id) FROM event WHERE state = 0 GROUP BY destination_id, lane)"
    )
    new.execute(
        "UPDATE destination SET "
        "bytes = (SELECT coalesce(sum(bytes), 0) FROM event WHERE destination_id = destination.id AND body_id IS NOT NULL), "
        "dead_bytes = (SELECT coalesce(sum(bytes), 0) FROM event "
        "WHERE destination_id = destination.id AND body_id IS NOT NULL AND state = 1)"
    )
