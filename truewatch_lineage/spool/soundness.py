"""Whether tables hold only what we write: SQLite keeps no value to its column's type, least of all a damaged page."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

TABLES: Final = ("destination", "body", "event", "receipt")
LAST_ID: Final = 1 << 62
LAST_SECOND: Final = 253_402_300_799
"""Of the year 9999, the last that `datetime` knows."""

_RANGES: Final = {"INTEGER": f"BETWEEN 0 AND {LAST_ID}", "REAL": f"BETWEEN 0 AND {LAST_SECOND}"}
_CHOICES: Final = {
    ("destination", "state"): "IN ('ready', 'paused', 'parked')",
    ("event", "state"): "IN (0, 1)",
    ("event", "head"): "IN (0, 1)",
}
_SUBSTITUTES: Final = {
    "INTEGER": "0",
    "REAL": "(julianday('now') - 2440587.5) * 86400",
    "TEXT": "'salvaged-' || id",
    "BLOB": "x''",
}
ORPHANS: Final = "SELECT 1 FROM event WHERE destination_id NOT IN (SELECT id FROM destination NOT INDEXED) LIMIT 1"
"""A query that finds events whose destination is missing."""

_OTHERS: Final = (
    ORPHANS,
    "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'fingerprint_key' AND typeof(value) = 'blob')",
)
"""Queries that find what else is wrong: events without their destination, or a spool without its key."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it should be.

    Attributes:
        name: Its name.
        condition: SQL that is true where a row's value is one that we may have written.
        substitute: SQL of what to take where it is not.
    """

    name: str
    condition: str
    substitute: str


def columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    """Return a table's columns, the id first, as the schema describes them.

    Raises:
        sqlite3.Error: If the schema can't be read.
    """
    return [_column(table, *row) for row in connection.execute(f"PRAGMA table_info({table})").fetchall()]


def is_sound(connection: sqlite3.Connection) -> bool:
    """Tell whether every value of every row is one that we may have written; reads all rows, not their bodies."""
    try:
        return not any(connection.execute(query).fetchone() for query in _queries(connection))
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def _column(table: str, _place: int, name: str, kind: str, needed: int, default: str | None, key: int) -> Column:
    """Describe a column by what ``PRAGMA table_info`` tells of it."""
    allowed = _CHOICES.get((table, name)) or _RANGES.get(kind)
    condition = f"typeof({name}) = '{kind.lower()}'" + (f" AND {name} {allowed}" if allowed else "")
    if not (needed or key):
        return Column(name, f"({name} IS NULL OR {condition})", "NULL")
    return Column(name, f"({condition})", default or _SUBSTITUTES[kind])


def _queries(connection: sqlite3.Connection) -> Iterator[str]:
    for table in TABLES:
        conditions = " AND ".join(column.condition for column in columns(connection, table)) or "FALSE"
        yield f"SELECT 1 FROM {table} WHERE NOT ({conditions}) LIMIT 1"  # noqa: S608 - our own names
    yield from _OTHERS
