"""The spool's questions about what waits; every one fetches its answer whole, so that no read stays open.

Each takes a connection, and the row of a destination, which is 0 where it has none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import fields
from typing import Final

from truewatch_lineage.spool import rows
from truewatch_lineage.spool.records import Queued, Standing, from_row
from truewatch_lineage.spool.soundness import LAST_ID

CLOCK_TOLERANCE: Final = 3600.0
"""Seconds: a due time further ahead than any we set means that the clock was turned back, and counts as due."""

STANDING: Final = ", ".join(field.name for field in fields(Standing))
"""The columns of a `Standing`."""


def heads(
    connection: sqlite3.Connection, destination: int, limit: int, now: float, leave_out: Collection[int]
) -> list[Queued]:
    """Return the oldest heads of lanes whose time has come, but for some ids."""
    condition = f"AND (due <= ? OR due > ?) AND id NOT IN ({', '.join('?' * len(leave_out))}) ORDER BY id LIMIT ?"
    return _heads(connection, condition, destination, now, now + CLOCK_TOLERANCE, *leave_out, limit)


def least_tried(connection: sqlite3.Connection, destination: int) -> list[Queued]:
    """Return the head that was tried least, due or not; of several the oldest."""
    return _heads(connection, "ORDER BY attempts, id LIMIT 1", destination)


def standing(connection: sqlite3.Connection, destination: int) -> Standing:
    """Return how a destination stands."""
    query = f"SELECT {STANDING} FROM destination WHERE id = ?"  # noqa: S608 - our own column names
    row = connection.execute(query, (destination,)).fetchone()
    return from_row(Standing, row) if row else Standing()


def body_bytes(connection: sqlite3.Connection, destination: int) -> int:
    """Return how many bytes of bodies a destination has stored."""
    row = connection.execute("SELECT bytes FROM destination WHERE id = ?", (destination,)).fetchone()
    return int(row[0]) if row else 0


def is_pending(connection: sqlite3.Connection, event_id: int) -> bool:
    """Tell whether an event waits."""
    query = "SELECT 1 FROM event WHERE id = ? AND state = 0"
    return bool(connection.execute(query, (rows.known_id(event_id),)).fetchone())


def lane_due(connection: sqlite3.Connection, event_id: int) -> float | None:
    """Return when the head of a waiting event's lane is due, in epoch seconds; None if the event waits no more."""
    row = connection.execute(
        "SELECT head.due FROM event JOIN event AS head USING (destination_id, lane) "
        "WHERE event.id = ? AND event.state = 0 AND head.state = 0 AND head.head = 1",
        (rows.known_id(event_id),),
    ).fetchone()
    return None if row is None else float(row[0])


def pending(connection: sqlite3.Connection, destination: int, before: int | None, limit: int) -> int:
    """Count what waits, up to ``limit`` (negative for all), or what does before an id."""
    row = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM event WHERE destination_id = ? AND state = 0 AND id < ? LIMIT ?)",
        (destination, LAST_ID if before is None else max(0, min(before, LAST_ID)), limit),
    ).fetchone()
    return int(row[0])


def next_due(connection: sqlite3.Connection, destination: int, now: float) -> float | None:
    """Return when the first head is due, in epoch seconds, or None if nothing waits."""
    row = connection.execute(
        "SELECT min(CASE WHEN due > ? THEN 0 ELSE due END) FROM event WHERE destination_id = ? AND head = 1",
        (now + CLOCK_TOLERANCE, destination),
    ).fetchone()
    return None if row[0] is None else float(row[0])


def fingerprint_key(connection: sqlite3.Connection) -> bytes:
    """Return the key under which this spool keeps fingerprints of settings."""
    query = "SELECT value FROM meta WHERE key = 'fingerprint_key' AND typeof(value) = 'blob'"
    return bytes(connection.execute(query).fetchone()[0])


def tidied(connection: sqlite3.Connection) -> float | None:
    """Return when the spool was last tidied, in epoch seconds."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'tidied' AND typeof(value) = 'real'").fetchone()
    return None if row is None else float(row[0])


def _heads(connection: sqlite3.Connection, condition: str, *values: float) -> list[Queued]:
    found = connection.execute(
        "SELECT event.id, lane, data, attempts, failed_at, failed_first, status FROM event "  # noqa: S608 - ours
        "JOIN body ON body.id = body_id WHERE event.id IN "
        f"(SELECT id FROM event WHERE destination_id = ? AND head = 1 {condition}) ORDER BY event.id",
        values,
    ).fetchall()
    return [from_row(Queued, row) for row in found]
