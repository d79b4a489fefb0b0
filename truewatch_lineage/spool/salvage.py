"""Copies what can be read of a damaged spool into a new one, and makes the rows agree again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.errors import SpoolFullError
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool.soundness import LAST_ID, TABLES, columns

GAP_PART: Final = 100
"""Steps over unreadable ids grow to a hundredth of them, so that any number is passed in some 4,000 steps."""

ID_GAP: Final = 1_000_000
"""How far ids jump, so that no answer that is still under way settles a new event under the id of one that is lost."""

ROOM_LEFT: Final = 4 * MIB
"""What a copy leaves free on the disk: a job may need it for other things than lineage."""

_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises: the second where SQLite quotes what it found in its message."""

_BODY_LOST: Final = "Its body was lost when the spool was damaged."


def salvage(path: Path, new: sqlite3.Connection) -> int:
    """Copy the rows that can be read.

    Args:
        path: The damaged database.
        new: An empty one.

    Returns:
        How many waiting events came over.

    Raises:
        SpoolFullError: If the disk has not enough room for a copy; nothing was written.
        sqlite3.Error: If the new one can't be written.
    """
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.text_factory = lambda data: data.decode(errors="replace")
        _read(old, "PRAGMA writable_schema=ON")  # else one damaged entry of the schema keeps all tables shut
        _check_room(old, path)
        # No write-ahead log: it would hold everything a second time.
        new.execute("PRAGMA journal_mode=DELETE").fetchone()
        new.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            _copy(old, new, table)
        _copy_bindings(old, new)
        _copy_from_indices(old, new)
    _mend(new)
    new.execute("COMMIT")
    return int(new.execute("SELECT count(*) FROM event WHERE state = 0").fetchone()[0])


def _read(old: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds, or nothing where it meets a damaged page."""
    with contextlib.suppress(*_UNREADABLE):
        return old.execute(query).fetchall()
    return []


def _check_room(old: sqlite3.Connection, path: Path) -> None:
    needed, free = _size(old, path) + ROOM_LEFT, shutil.disk_usage(path.parent).free
    if needed > free:
        raise SpoolFullError(
            f"To save its events takes {needed // MIB + 1} MiB of the disk, which has {free // MIB} MiB free.",
            path=str(path),
            fix="Make room for them.",
        )


def _size(old: sqlite3.Connection, path: Path) -> int:
    """Return the bytes that a copy takes at most, as far as the damaged file can tell."""
    whole = path.stat().st_size
    with contextlib.suppress(FileNotFoundError):
        whole += os.stat(f"{path}-wal").st_size  # noqa: PTH116 - the suffix is no path of its own
    found = [_read(old, f"PRAGMA {name}") for name in ("page_size", "page_count", "freelist_count")]
    if not all(found):
        return whole
    size, pages, free = (rows[0][0] for rows in found)
    return min(whole, size * (pages - free)) if free < pages else whole


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    """Copy a table, with a substitute for each value that we can't have written."""
    wanted = columns(new, table)
    names = ", ".join(column.name for column in wanted)
    marks = ", ".join("?" * len(wanted))
    values = ", ".join(f"CASE WHEN {one.condition} THEN {one.name} ELSE {one.substitute} END" for one in wanted[1:])
    # Columns are taken by their places, since their names in the old schema may be damaged too.
    query = f"WITH old ({names}) AS (SELECT * FROM {table}) SELECT id, {values} FROM old WHERE id > ? ORDER BY id"  # noqa: S608
    for row in _rows(old, table, query):
        with contextlib.suppress(sqlite3.IntegrityError):
            new.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - our own names


def _copy_bindings(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Read the destinations from their index too: their table is one page, and without it no event has an address."""
    found = _read(
        old,
        "SELECT id, name, kind, url FROM destination WHERE typeof(name) = 'text' AND typeof(kind) = 'text' "
        "AND typeof(url) = 'text' ORDER BY name, kind, url",
    )
    new.executemany("INSERT OR IGNORE INTO destination (id, name, kind, url) VALUES (?, ?, ?, ?)", found)


def _copy_from_indices(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Put pending events together again whose own page is damaged: place and body are in two indices as well."""
    found = _read(
        old,
        "SELECT id, destination_id, lane FROM event INDEXED BY event_lane WHERE state = 0 "  # noqa: S608 - our number
        f"AND typeof(destination_id) = 'integer' AND typeof(lane) = 'text' AND id BETWEEN 1 AND {LAST_ID}",
    )
    bodies = dict(_read(old, "SELECT id, body_id FROM event INDEXED BY event_body WHERE body_id IS NOT NULL"))
    new.executemany(
        "INSERT OR IGNORE INTO event (id, destination_id, lane, body_id, state, head, bytes, created) "
        "SELECT ?, ?, ?, id, 0, 0, length(data), ? FROM body WHERE id = ?",
        [(event, destination, lane, time.time(), bodies.get(event)) for event, destination, lane in found],
    )


def _rows(old: sqlite3.Connection, table: str, query: str) -> Iterator[tuple[Any, ...]]:
    """Read a table row by row, stepping over the ids whose page is damaged."""
    if not _read(old, f"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{table}'"):  # noqa: S608 - ours
        return
    highest = _highest_id(old, table)
    last = gap = 0
    while last + gap <= highest:
        try:
            for row in old.execute(query, (last + gap,)):
                if last < row[0] <= LAST_ID:  # a damaged tree may lead back to where we were
                    last, gap = row[0], 0
                    yield row
        except _UNREADABLE:
            gap += max(1, gap // GAP_PART)
        else:
            return


def _highest_id(old: sqlite3.Connection, table: str) -> int:
    """Return the last id that a table ever had, or a number beyond all where that can't be read."""
    sequences = dict(_read(old, "SELECT name, seq FROM sqlite_sequence WHERE typeof(seq) = 'integer'"))
    return int(sequences.get("event" if table == "receipt" else table, LAST_ID))


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
        "UPDATE event SET state = 1, reason = ? WHERE state = 0 AND "
        "(body_id IS NULL OR body_id NOT IN (SELECT id FROM body))",
        (_BODY_LOST,),
    )
    new.execute("UPDATE event SET body_id = NULL WHERE body_id NOT IN (SELECT id FROM body)")
    new.execute(
        "UPDATE event SET bytes = (SELECT length(data) FROM body WHERE id = body_id) WHERE body_id IS NOT NULL "
        "AND bytes != (SELECT length(data) FROM body WHERE id = body_id)"
    )
    new.execute("UPDATE body SET refs = (SELECT count(*) FROM event WHERE body_id = body.id)")
    new.execute("DELETE FROM body WHERE refs = 0")
    new.execute("DELETE FROM receipt WHERE id IN (SELECT id FROM event)")
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
