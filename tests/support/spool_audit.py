"""What a spool holds, and whether it agrees with itself: the rules that `truewatch_lineage.spool.rows` promises."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass

from truewatch_lineage.errors import SpoolCorruptError
from truewatch_lineage.spool import Store

RULES: dict[str, str] = {
    "the first pending event of a lane, and it alone, is its head": (
        "SELECT id FROM event WHERE head != (state = 0 AND NOT EXISTS (SELECT 1 FROM event AS other WHERE "
        "other.destination_id = event.destination_id AND other.lane = event.lane AND other.state = 0 "
        "AND other.id < event.id))"
    ),
    "a body's refs count its events": (
        "SELECT id FROM body WHERE refs = 0 OR refs != (SELECT count(*) FROM event WHERE body_id = body.id)"
    ),
    "a pending event has a body": "SELECT id FROM event WHERE state = 0 AND body_id IS NULL",
    "an event's body is there": (
        "SELECT id FROM event WHERE body_id IS NOT NULL AND body_id NOT IN (SELECT id FROM body)"
    ),
    "an event's destination is there": "SELECT id FROM event WHERE destination_id NOT IN (SELECT id FROM destination)",
    "bytes count the bodies of a destination": (
        "SELECT id FROM destination WHERE bytes != (SELECT coalesce(sum(event.bytes), 0) FROM event "
        "WHERE destination_id = destination.id AND body_id IS NOT NULL)"
    ),
    "dead_bytes count the bodies of a destination's dead letters": (
        "SELECT id FROM destination WHERE dead_bytes != (SELECT coalesce(sum(event.bytes), 0) FROM event "
        "WHERE destination_id = destination.id AND body_id IS NOT NULL AND state = 1)"
    ),
    "an event's bytes are its body's": (
        "SELECT event.id FROM event JOIN body ON body.id = body_id WHERE event.bytes != length(data)"
    ),
    "a delivered event is not in the spool": "SELECT id FROM receipt WHERE id IN (SELECT id FROM event)",
    "no id is above the sequence's": (
        "SELECT id FROM event WHERE id > (SELECT seq FROM sqlite_sequence WHERE name = 'event')"
    ),
}
"""A rule, and the query that finds the rows that break it."""


@dataclass(frozen=True)
class Audit:
    """The ids of a spool's events by state, and the rules that it breaks."""

    pending: frozenset[int]
    dead: frozenset[int]
    delivered: frozenset[int]
    faults: tuple[str, ...]

    @property
    def known(self) -> frozenset[int]:
        """Every event that has not vanished."""
        return self.pending | self.dead | self.delivered


def audit(store: Store) -> Audit:
    """Read a whole spool; one that is found damaged is read again, since a new one is in its place then."""
    try:
        return _audit(store)
    except SpoolCorruptError:
        return _audit(store)


def _audit(store: Store) -> Audit:
    with store.database.read() as connection:
        pending, dead = (_ids(connection, f"SELECT id FROM event WHERE +state = {state}") for state in (0, 1))
        delivered = _ids(connection, "SELECT id FROM receipt")
        faults = (*_broken_rules(connection), *_torn_bodies(connection), *_quick_check(connection))
    return Audit(pending, dead, delivered, faults)


def _ids(connection: sqlite3.Connection, query: str) -> frozenset[int]:
    return frozenset(row[0] for row in connection.execute(query).fetchall())


def _broken_rules(connection: sqlite3.Connection) -> list[str]:
    found = {rule: sorted(_ids(connection, query)) for rule, query in RULES.items()}
    return [f"not so that {rule}: ids {ids[:10]}" for rule, ids in found.items() if ids]


def _torn_bodies(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT id, digest, data FROM body").fetchall()
    return [f"body {row[0]} is torn" for row in rows if hashlib.sha256(row[2]).digest() != row[1]]


def _quick_check(connection: sqlite3.Connection) -> list[str]:
    answers = [str(row[0]) for row in connection.execute("PRAGMA quick_check").fetchall()]
    return [] if answers == ["ok"] else answers
