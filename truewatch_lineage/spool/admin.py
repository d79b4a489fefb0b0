"""What is done to the spool from outside of delivery: resume, rebind, replay, drop.

Each call is one or a few durable commits.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from truewatch_lineage.spool import rows
from truewatch_lineage.spool.records import Binding
from truewatch_lineage.spool.store import Store

_PAGE: Final = 500
_PAUSE_SECONDS: Final = 0.01
_REOPEN: Final = (
    "UPDATE destination SET state = 'ready', reason = NULL, until = NULL, failures = 0, parked_with = NULL WHERE id = ?"
)

Convert = Callable[[bytes], bytes | None]
"""Makes a body fit another kind of destination, or returns None where that takes no such event; both gzipped."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a dead letter that was to be sent again.

    Attributes:
        id: The event's.
        problem: Why it could not be, or None.
        overtaken: How many later events of its lane have gone already, as far as receipts tell.
    """

    id: int
    problem: str | None = None
    overtaken: int = 0


@dataclass(frozen=True, slots=True)
class Rebound:
    """What `rebind` did.

    Attributes:
        moved: Events that are bound to the present settings now.
        left: Events that the present kind of destination does not take.
    """

    moved: int
    left: int


def resume(store: Store, name: str | None = None) -> list[str]:
    """Let paused and parked destinations be tried at once, with all that waits for its own time.

    Args:
        store: The spool.
        name: One of them, or None for all.

    Returns:
        The names that were stopped, or had events that waited for a time.

    Raises:
        SpoolError: If it could not be written.
    """
    with store.database.write() as connection:
        found = connection.execute(
            "SELECT id, name FROM destination WHERE (? IS NULL OR name = ?) AND (state <> 'ready' OR EXISTS "
            "(SELECT 1 FROM event WHERE destination_id = destination.id AND head = 1 AND due > ?))",
            (name, name, store.clock()),
        ).fetchall()
        for destination, _ in found:
            connection.execute(_REOPEN, (destination,))
            connection.execute("UPDATE event SET due = 0 WHERE destination_id = ? AND head = 1", (destination,))
    return list(dict.fromkeys(row[1] for row in found))


def reopen(store: Store, binding: Binding) -> bool:
    """Let a destination be tried that is paused here and was seen to answer elsewhere; a parked one stays as it is.

    Returns:
        Whether it was paused.

    Raises:
        SpoolError: If it could not be written.
    """
    if store.standing(binding).state != "paused":
        return False
    with store.database.write() as connection:
        destination = rows.destination_id(connection, binding, create=False)
        return bool(connection.execute(f"{_REOPEN} AND state = 'paused'", (destination,)).rowcount)


def names(store: Store) -> list[str]:
    """Return the destinations' names.

    Raises:
        SpoolError: If the spool can't be read.
    """
    with store.database.read() as connection:
        return [row[0] for row in connection.execute("SELECT DISTINCT name FROM destination ORDER BY name").fetchall()]


def replay(store: Store, ids: Sequence[int], name: str | None = None) -> list[Replayed]:
    """Let dead letters be sent again, each in its old place among its lane.

    Args:
        store: The spool.
        ids: Which.
        name: Only those of this destination.

    Raises:
        SpoolError: If it could not be written; a part of them may be waiting again.
    """
    replayed: list[Replayed] = []
    for page in _pages(ids):
        with store.database.write() as connection:
            replayed += [_replay(connection, event_id, name) for event_id in page]
    return replayed


def drop(store: Store, ids: Sequence[int], name: str | None = None) -> list[int]:
    """Remove events for good, of any state.

    Args:
        store: The spool.
        ids: Which.
        name: Only those of this destination.

    Returns:
        The ids of those that there were.

    Raises:
        SpoolError: If it could not be written; a part of them may be gone.
    """
    dropped: list[int] = []
    for page in _pages(ids):
        with store.database.write() as connection:
            found = [event_id for event_id in page if _destination_of(connection, event_id, name)]
            rows.remove(connection, found)
        dropped += found
    return dropped


def bound_elsewhere(store: Store, binding: Binding) -> list[Binding]:
    """Return the bindings of the same name to another kind or url that hold events.

    Raises:
        SpoolError: If the spool can't be read.
    """
    return [other for other in unclaimed(store, [binding]) if other.name == binding.name]


def unclaimed(store: Store, bindings: Collection[Binding]) -> list[Binding]:
    """Return the bindings that hold events and are none of some settings'.

    Raises:
        SpoolError: If the spool can't be read.
    """
    query = (
        "SELECT name, kind, url FROM destination "
        "WHERE EXISTS (SELECT 1 FROM event WHERE destination_id = destination.id) ORDER BY id"
    )
    with store.database.read() as connection:
        found = [Binding(*row) for row in connection.execute(query).fetchall()]
    return [binding for binding in found if binding not in bindings]


def rebind(store: Store, old: Binding, new: Binding, convert: Convert | None = None) -> Rebound:
    """Give the events of one binding to another, in their places; their attempts are counted anew.

    Args:
        store: The spool.
        old: Whose events.
        new: Who gets them.
        convert: Makes their bodies fit; None where they do as they are.

    Raises:
        SpoolError: If it could not be written; a part of them may have been moved.
    """
    moved = left = last = 0
    while True:
        with store.database.write() as connection:
            source = rows.destination_id(connection, old, create=False)
            target = rows.destination_id(connection, new, create=True)
            page = connection.execute(
                "SELECT event.id, data FROM event LEFT JOIN body ON body.id = body_id "
                "WHERE destination_id = ? AND event.id > ? ORDER BY event.id LIMIT ?",
                (source, last, _PAGE),
            ).fetchall()
            for event_id, data in page:
                body = convert(data) if convert and data is not None else data
                if data is not None and body is None:
                    left += 1
                    continue
                digest = hashlib.sha256(body).digest() if body is not None and body != data else b""
                rows.move(connection, event_id, target, body if digest else None, digest)
                moved += 1
        if not page:
            return Rebound(moved, left)
        last = page[-1][0]
        time.sleep(_PAUSE_SECONDS)


def _pages(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut a long job into short commits, with pauses in which emits get their turn."""
    for start in range(0, len(ids), _PAGE):
        if start:
            time.sleep(_PAUSE_SECONDS)
        yield ids[start : start + _PAGE]


def _replay(connection: sqlite3.Connection, event_id: int, name: str | None) -> Replayed:
    if not _destination_of(connection, event_id, name):
        return Replayed(event_id, "there is no such event" + (f" of destination {name}" if name else ""))
    state, body = connection.execute("SELECT state, body_id FROM event WHERE id = ?", (event_id,)).fetchone()
    if not state:
        return Replayed(event_id, "it is no dead letter: it waits to be delivered already")
    if body is None:
        return Replayed(event_id, "only its metadata was kept, since dead letters had no more room")
    rows.revive(connection, event_id)
    return Replayed(event_id, overtaken=_overtaken(connection, event_id))


def _destination_of(connection: sqlite3.Connection, event_id: int, name: str | None) -> int:
    """Return the destination's row of an event, 0 where there is none, or none of that name."""
    row = connection.execute(
        "SELECT destination_id FROM event JOIN destination ON destination.id = destination_id "
        "WHERE event.id = ? AND (? IS NULL OR name = ?)",
        (rows.known_id(event_id), name, name),
    ).fetchone()
    return int(row[0]) if row else 0


def _overtaken(connection: sqlite3.Connection, event_id: int) -> int:
    """Count the receipts of later events of the same run, or where there is no run of the same job or dataset."""
    row = connection.execute(
        "SELECT count(*) FROM receipt JOIN event ON event.destination_id = receipt.destination_id "
        "WHERE event.id = ? AND receipt.id > event.id AND receipt.run_id IS event.run_id "
        "AND (event.run_id IS NOT NULL OR receipt.job IS event.job)",
        (event_id,),
    ).fetchone()
    return int(row[0])
