"""The spool's statements that move events: every one keeps three things true inside its caller's transaction.

The first pending event of a lane, and it alone, has ``head = 1``. A body's ``refs`` counts its events. A destination's
``bytes`` and ``dead_bytes`` count the bodies of its events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from truewatch_lineage.spool.records import Binding, Entry, Settlement
from truewatch_lineage.spool.schema import DEAD, PENDING
from truewatch_lineage.spool.soundness import LAST_ID, ORPHANS

REPLAYED: Final = "to be sent again; attempts before: "
"""How the reason of a dead letter begins that was given back; how often it was tried and why it was refused follow."""


def destination_id(connection: sqlite3.Connection, binding: Binding, *, create: bool) -> int:
    """Return the row of a destination, 0 if there is none and none is to be made.

    Raises:
        LookupError: If a new one would leave those events alone whose destination is missing, since it was damaged.
    """
    key = (binding.name, binding.kind, binding.url)
    if create:
        cursor = connection.execute("INSERT OR IGNORE INTO destination (name, kind, url) VALUES (?, ?, ?)", key)
        if cursor.rowcount == 1 and connection.execute(ORPHANS).fetchone():
            raise LookupError("events have lost their destination")
    # `used` is in no index, so that SQLite finds out here where the row is missing that an index leads to.
    row = connection.execute("SELECT id, used FROM destination WHERE name = ? AND kind = ? AND url = ?", key).fetchone()
    return int(row[0]) if row else 0


def insert(
    connection: sqlite3.Connection,
    destination: int,
    entry: Entry,
    body: bytes | None,
    digest: bytes,
    now: float,
) -> int:
    """Insert an event; returns its id."""
    dead = entry.dead is not None
    has_pending = connection.execute(
        "SELECT 1 FROM event WHERE destination_id = ? AND lane = ? AND state = 0 LIMIT 1",
        (destination, entry.lane),
    ).fetchone()
    cursor = connection.execute(
        "INSERT INTO event "
        "(destination_id, body_id, lane, state, head, event_type, job, run_id, reason, bytes, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            destination,
            _keep_body(connection, digest, body) if body is not None else None,
            entry.lane,
            DEAD if dead else PENDING,
            int(not dead and not has_pending),
            entry.event_type,
            entry.job,
            entry.run_id,
            entry.dead,
            len(entry.body or b""),
            now,
        ),
    )
    return int(cursor.lastrowid or 0)


def deliver(
    connection: sqlite3.Connection,
    destination: int,
    settlements: Sequence[Settlement],
    now: float,
    *,
    receipts: bool,
) -> None:
    """Remove delivered events, leave their receipts and count them, but for those another process has removed."""
    if receipts:
        connection.executemany(
            "INSERT OR REPLACE INTO receipt SELECT id, destination_id, event_type, job, run_id, ?, ?, attempts + 1, "
            "created, ? FROM event WHERE id = ?",
            [(one.status, one.reason, now, one.id) for one in settlements],
        )
    gone = [one for one in settlements if remove(connection, [one.id])]
    connection.execute(
        "UPDATE destination SET delivered = delivered + ?, cached = cached + ?, not_json = not_json + ? WHERE id = ?",
        (len(gone), sum(one.cached for one in gone), sum(one.not_json for one in gone), destination),
    )


def postpone(connection: sqlite3.Connection, settlements: Iterable[Settlement], now: float) -> None:
    """Note failed attempts of events that go on waiting."""
    connection.executemany(
        "UPDATE event SET attempts = attempts + 1, due = ?, reason = ?, status = ?, "
        "failed_at = CASE failed_at WHEN 0 THEN ? ELSE failed_at END, failed_first = coalesce(failed_first, ?) "
        "WHERE id = ? AND state = 0",
        [(one.due, one.reason, one.status, one.attempt, now, one.id) for one in settlements],
    )


def known_id(event_id: int) -> int:
    """Return an id as one that SQLite can be asked for: 0, which no event has, for one that it can't hold."""
    return event_id if 0 < event_id <= LAST_ID else 0


def bury(connection: sqlite3.Connection, settlement: Settlement, fits: Callable[[int], bool]) -> None:
    """Make a pending event a dead letter; its body is kept if ``fits`` says yes to the bytes of dead letters then.

    Its destination may be another one by now than that which was tried: `move` may have come between.
    """
    row = connection.execute(
        "SELECT destination_id, lane, body_id, event.bytes, dead_bytes FROM event "
        "JOIN destination ON destination.id = destination_id WHERE event.id = ? AND event.state = 0",
        (settlement.id,),
    ).fetchone()
    if row is None:
        return
    destination, lane, body, size, used = row
    keep = body is not None and fits(used + size)
    connection.execute(
        "UPDATE event SET state = 1, head = 0, attempts = attempts + 1, reason = ?, status = ?, body_id = ? "
        "WHERE id = ?",
        (settlement.reason, settlement.status, body if keep else None, settlement.id),
    )
    if keep:
        connection.execute("UPDATE destination SET dead_bytes = dead_bytes + ? WHERE id = ?", (size, destination))
    elif body is not None:
        _let_go(connection, body)
        connection.execute("UPDATE destination SET bytes = bytes - ? WHERE id = ?", (size, destination))
    set_head(connection, destination, lane)


def remove(connection: sqlite3.Connection, ids: Iterable[int]) -> int:
    """Delete events of any state with what belongs to them; returns how many there were."""
    gone = 0
    for event_id in ids:
        row = connection.execute(
            "SELECT destination_id, lane, state, body_id, bytes FROM event WHERE id = ?", (event_id,)
        ).fetchone()
        if row is None:
            continue
        destination, lane, state, body, size = row
        connection.execute("DELETE FROM event WHERE id = ?", (event_id,))
        if body is not None:
            _let_go(connection, body)
            connection.execute(
                "UPDATE destination SET bytes = bytes - ?, dead_bytes = dead_bytes - ? WHERE id = ?",
                (size, size if state == DEAD else 0, destination),
            )
        set_head(connection, destination, lane)
        gone += 1
    return gone


def revive(connection: sqlite3.Connection, event_id: int) -> None:
    """Make a dead letter that has its body a pending event again, never tried, in its old place of the lane.

    Why it was refused is remembered until the next attempt, so that whoever looks meanwhile can see it.
    """
    destination, lane, size = connection.execute(
        "SELECT destination_id, lane, bytes FROM event WHERE id = ? AND state = 1 AND body_id IS NOT NULL", (event_id,)
    ).fetchone()
    connection.execute(
        "UPDATE event SET state = 0, due = 0, attempts = 0, failed_at = 0, failed_first = NULL, status = NULL, "
        "reason = ? || attempts || coalesce(': ' || reason, '') WHERE id = ?",
        (REPLAYED, event_id),
    )
    connection.execute("UPDATE destination SET dead_bytes = dead_bytes - ? WHERE id = ?", (size, destination))
    _head_anew(connection, destination, lane)


def move(connection: sqlite3.Connection, event_id: int, target: int, body: bytes | None, digest: bytes) -> None:
    """Bind an event to another destination, in its place by the order of emit; a pending one counts as never tried.

    Args:
        connection: In a transaction.
        event_id: The event, of any state.
        target: The destination's row.
        body: What it is to be from now on, gzipped; None to leave it as it is.
        digest: Of ``body``.
    """
    source, lane, state, body_id, size = connection.execute(
        "SELECT destination_id, lane, state, body_id, bytes FROM event WHERE id = ?", (event_id,)
    ).fetchone()
    _account(connection, source, state, -size if body_id is not None else 0)
    if body is not None and body_id is not None:
        _let_go(connection, body_id)
        body_id, size = _keep_body(connection, digest, body), len(body)
    _account(connection, target, state, size if body_id is not None else 0)
    connection.execute(
        "UPDATE event SET destination_id = ?, body_id = ?, bytes = ?, head = 0, due = 0, failed_at = 0, "
        "failed_first = NULL WHERE id = ?",
        (target, body_id, size, event_id),
    )
    connection.execute(
        "UPDATE event SET attempts = 0, reason = NULL, status = NULL WHERE id = ? AND state = 0", (event_id,)
    )
    set_head(connection, source, lane)
    _head_anew(connection, target, lane)


def set_head(connection: sqlite3.Connection, destination: int, lane: str) -> None:
    """Make the first pending event of a lane its head."""
    connection.execute(
        "UPDATE event SET head = 1 WHERE head = 0 AND id = "
        "(SELECT min(id) FROM event WHERE destination_id = ? AND lane = ? AND state = 0)",
        (destination, lane),
    )


def _head_anew(connection: sqlite3.Connection, destination: int, lane: str) -> None:
    """Choose a lane's head where an event came back in front of the one that was."""
    connection.execute(
        "UPDATE event SET head = 0 WHERE destination_id = ? AND lane = ? AND state = 0 AND head = 1",
        (destination, lane),
    )
    set_head(connection, destination, lane)


def _account(connection: sqlite3.Connection, destination: int, state: int, size: int) -> None:
    """Add to the bytes that a destination's bodies take."""
    connection.execute(
        "UPDATE destination SET bytes = bytes + ?, dead_bytes = dead_bytes + ? WHERE id = ?",
        (size, size if state == DEAD else 0, destination),
    )


def _keep_body(connection: sqlite3.Connection, digest: bytes, body: bytes) -> int:
    cursor = connection.execute("INSERT OR IGNORE INTO body (digest, data, refs) VALUES (?, ?, 1)", (digest, body))
    if cursor.rowcount == 1:
        return int(cursor.lastrowid or 0)
    connection.execute("UPDATE body SET refs = refs + 1 WHERE digest = ?", (digest,))
    return int(connection.execute("SELECT id FROM body WHERE digest = ?", (digest,)).fetchone()[0])


def _let_go(connection: sqlite3.Connection, body: int) -> None:
    connection.execute("UPDATE body SET refs = refs - 1 WHERE id = ?", (body,))
    connection.execute("DELETE FROM body WHERE id = ? AND refs = 0", (body,))
