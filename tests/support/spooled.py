"""What a spool holds, read by plain SQL: so that a fault of the store can't hide in its own answers."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

_QUERY = """
    SELECT total((SELECT count(*) FROM event WHERE destination_id = destination.id AND event.state = 0)),
           total((SELECT count(*) FROM event WHERE destination_id = destination.id AND event.state = 1)),
           total(delivered), total(tombstones), total(skipped), max(state), max(reason)
    FROM destination WHERE name = coalesce(?, name)
"""


class Spooled(NamedTuple):
    """Counts of events; ``state`` and ``reason`` mean something where there is one destination."""

    pending: int
    dead: int
    delivered: int
    tombstones: int
    skipped: int
    state: str | None
    reason: str | None


def spooled(folder: Path, name: str | None = None) -> Spooled:
    """Count what is in the spool of ``folder``, of one destination or of all together."""
    with contextlib.closing(sqlite3.connect(folder / "spool.db")) as database:
        return Spooled(*database.execute(_QUERY, (name,)).fetchone())


def stored(folder: Path) -> list[Any]:
    """Return the events that wait in the spool of ``folder``, in their order, parsed."""
    query = "SELECT data FROM event JOIN body ON body.id = body_id WHERE state = 0 ORDER BY event.id"
    with contextlib.closing(sqlite3.connect(folder / "spool.db")) as database:
        return [json.loads(gzip.decompress(row[0])) for row in database.execute(query)]
