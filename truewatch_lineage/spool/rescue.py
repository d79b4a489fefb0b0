"""What SQLite's errors mean for a spool, and how a damaged spool is put away and its rows are saved."""

from __future__ import annotations

import contextlib
import errno
import hashlib
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
SALVAGED: Final = ("destination", "body", "event", "receipt")
GAP_LIMIT: Final = 100_000
"""How many ids in a row may be unreadable before the rest of a table is given up: some seconds."""

ID_GAP: Final = 1_000_000
"""How far ids jump, so that no answer that is still under way settles a new event under the id of one that is lost."""

_LOGS: Final = ("-wal", "-shm", "-journal")
_BODY_LOST: Final = "Its body was lost when the spool was damaged."

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
    ("locking protocol", SpoolBusyError, "Other programs kept the spool locked."),
    ("readonly", SpoolUnusableError, "The spool can't be written to."),
    ("unable to open", SpoolUnusableError, "The spool can't be opened."),
)


def explain(error: sqlite3.Error, path: Path) -> SpoolError:
    """Turn SQLite's error into ours."""
    text = str(error).lower()
    for part, cls, problem in MEANINGS:
        if part in text:
            if cls is SpoolFullError and not os.access(path.parent, os.W_OK):
                return SpoolUnusableError("The spool can't be written to any more.", path=str(path))
            return cls(problem, path=str(path))
    return SpoolUnusableError(f"The spool can't be used: {error}.", path=str(path))


def move_aside(path: Path, inode: tuple[int, int], *, busy: float) -> None:
    """Put a new database, with what can be read of the damaged one, in its place, and keep the damaged one.

    The caller holds the write lock. Another process may have done it already: then the file is no longer the one that
    was found damaged, and nothing happens. Until the new one is complete and safe on the disk, nothing is moved, so a
    kill or a power cut before costs nothing; after one in between, `complete` does the rest.

    Args:
        path: The database.
        inode: Device and inode of the file that was found damaged.
        busy: As `schema.connect`.

    Raises:
        OSError: If the files can't be renamed.
        SpoolError: If the new file can't be made.
        sqlite3.Error: If the new file can't be written, as on a full disk.
    """
    found = path.stat()
    if (found.st_dev, found.st_ino) != inode:
        return
    saved = _build(path, busy)
    away = _away(path)
    path.rename(away)
    complete(path)
    log.error(
        "The lineage spool was damaged: it was moved to %s, a new one was begun, and %d waiting events were saved.",
        away,
        saved,
    )


def complete(path: Path) -> None:
    """Put the salvaged database where the damaged one was; nothing happens unless that one has been moved away.

    Each step is made durable before the next: a log that outlived its database would be taken for the new one's.

    Raises:
        OSError: If the files can't be renamed.
    """
    fresh = _fresh(path)
    if path.exists() or not fresh.exists():
        return
    away = _away(path)
    folders.sync_folder(path.parent)
    for suffix in _LOGS:
        _move(f"{path}{suffix}", f"{away}{suffix}")
    folders.sync_folder(path.parent)
    fresh.rename(path)
    folders.sync_folder(path.parent)


def _away(path: Path) -> Path:
    return Path(f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}")


def _fresh(path: Path) -> Path:
    return Path(f"{path}.salvaged")


def _move(old: str, new: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.rename(old, new)  # noqa: PTH104 - the suffix is no path of its own


def _build(path: Path, busy: float) -> int:
    """Make the new database under another name, durably; returns how many waiting events were saved."""
    draft = Path(f"{path}.salvaging")
    for suffix in ("", *_LOGS):
        Path(f"{draft}{suffix}").unlink(missing_ok=True)
    folders.create_file(draft)
    with contextlib.closing(schema.connect(draft, full=True, busy=busy)) as new:
        saved = _salvage(path, new)
    draft.rename(_fresh(path))
    folders.sync_folder(path.parent)
    return saved


def _salvage(path: Path, new: sqlite3.Connection) -> int:
    """Copy the rows that can be read; returns how many waiting events came over."""
    new.execute("BEGIN IMMEDIATE")
    with contextlib.closing(sqlite3.connect(path)) as old:
        known = _read(old, "SELECT name FROM sqlite_master WHERE type = 'table'")
        for table in SALVAGED:
            if (table,) in known:
                _copy(old, new, table)
        _copy_bindings(old, new)
        _copy_from_indices(old, new)
    _mend(new)
    new.execute("COMMIT")
    return int(new.execute("SELECT count(*) FROM event WHERE state = 0").fetchone()[0])


def _read(old: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds, or nothing where it meets a damaged page."""
    with contextlib.suppress(sqlite3.Error):
        return old.execute(query).fetchall()
    return []


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    for columns, row in _rows(old, table):
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        with contextlib.suppress(sqlite3.IntegrityError):
            new.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - our own names


def _copy_bindings(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Read the destinations from their index too: their table is one page, and without it no event has an address."""
    found = _read(old, "SELECT id, name, kind, url FROM destination ORDER BY name, kind, url")
    new.executemany("INSERT OR IGNORE INTO destination (id, name, kind, url) VALUES (?, ?, ?, ?)", found)


def _copy_from_indices(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Put pending events together again whose own page is damaged: place and body are in two indices as well."""
    found = _read(old, "SELECT id, destination_id, lane FROM event INDEXED BY event_lane WHERE state = 0")
    bodies = dict(_read(old, "SELECT id, body_id FROM event INDEXED BY event_body WHERE body_id IS NOT NULL"))
    new.executemany(
        "INSERT OR IGNORE INTO event (id, destination_id, lane, body_id, state, head, bytes, created) "
        "SELECT ?, ?, ?, id, 0, 0, length(data), ? FROM body WHERE id = ?",
        [(event, destination, lane, time.time(), bodies.get(event)) for event, destination, lane in found],
    )


def _rows(old: sqlite3.Connection, table: str) -> Iterator[tuple[list[str], tuple[Any, ...]]]:
    """Read a table row by row, stepping over the ids whose page is damaged."""
    highest = _highest_id(old, table)
    last = gap = 0
    while gap < GAP_LIMIT and last + gap <= highest:
        try:
            cursor = old.execute(f"SELECT * FROM {table} WHERE id > ? ORDER BY id", (last + gap,))  # noqa: S608
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                if row[0] > last:  # a damaged tree may lead back to where we were
                    last, gap = row[0], 0
                    yield columns, row
        except sqlite3.Error:
            gap += 1
        else:
            return


def _highest_id(old: sqlite3.Connection, table: str) -> int:
    """Return the last id that a table ever had, or a number beyond all where that can't be read."""
    sequences = dict(_read(old, "SELECT name, seq FROM sqlite_sequence"))
    return int(sequences.get("event" if table == "receipt" else table, 1 << 62))


def _mend(new: sqlite3.Connection) -> None:
    """Make the rows agree again: no event without its destination, bodies whole and counted, one head a lane."""
    new.create_function("sha256", 1, lambda data: hashlib.sha256(data).digest(), deterministic=True)
    new.execute("DELETE FROM body WHERE digest != sha256(data)")
    new.execute(
        "INSERT INTO destination (id, name, kind, url) "
        "SELECT DISTINCT destination_id, 'salvaged-' || destination_id, '', '' FROM event "
        "WHERE destination_id NOT IN (SELECT id FROM destination)"
    )
    new.execute(
        "UPDATE event SET state = 1, reason = ? WHERE state = 0 AND body_id NOT IN (SELECT id FROM body)", (_BODY_LOST,)
    )
    new.execute("UPDATE event SET body_id = NULL WHERE body_id NOT IN (SELECT id FROM body)")
    new.execute("UPDATE body SET refs = (SELECT count(*) FROM event WHERE body_id = body.id)")
    new.execute("DELETE FROM body WHERE refs = 0")
    new.execute(
        "UPDATE event SET head = state = 0 AND id IN "
        "(SELECT min(id) FROM event WHERE state = 0 GROUP BY destination_id, lane)"
    )
    new.execute(
        "UPDATE destination SET (bytes, dead_bytes) = "
        "(SELECT coalesce(sum(bytes), 0), coalesce(sum(bytes * state), 0) FROM event "
        "WHERE destination_id = destination.id AND body_id IS NOT NULL)"
    )
    _leave_gap(new)


def _leave_gap(new: sqlite3.Connection) -> None:
    last = new.execute(
        "SELECT coalesce(max(id), 0) FROM (SELECT max(id) AS id FROM event UNION ALL SELECT max(id) FROM receipt)"
    ).fetchone()[0]
    new.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")
    new.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", (last + ID_GAP,))
