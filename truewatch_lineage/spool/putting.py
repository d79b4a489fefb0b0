"""One transaction that stores events, each destination's within its share."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from truewatch_lineage.errors import SpoolCorruptError
from truewatch_lineage.spool import rows
from truewatch_lineage.spool.records import Binding, Entry
from truewatch_lineage.spool.share import Share


class Putting:
    """Stores events one by one; what their bodies take is read once for each destination and written by `finish`.

    Args:
        connection: In a transaction.
        share: Of each destination.
        id_of: Returns a destination's row, made if it is missing.
        now: Epoch seconds.
        path: The database, for messages.
    """

    def __init__(
        self, connection: sqlite3.Connection, share: Share, id_of: Callable[[Binding], int], now: float, path: Path
    ) -> None:
        self._connection = connection
        self._share = share
        self._id_of = id_of
        self._now = now
        self._path = path
        self._bytes: dict[int, tuple[int, int]] = {}  # of bodies, and of those of dead letters alone
        self._refused: set[tuple[Binding, str]] = set()

    def one(self, entry: Entry) -> int | None:
        """Store an event; returns its id, or None where its destination's share is used up.

        Raises:
            SpoolCorruptError: The destination's row is gone.
        """
        destination = self._id_of(entry.binding)
        size = len(entry.body or b"")
        used, dead = self._used(destination)
        body, fits = entry.body, self._share.holds(used + size)
        if entry.dead is not None:
            body = body if fits and self._share.holds_dead(dead + size) else None
        elif not fits or (entry.binding, entry.lane) in self._refused:
            self._refused.add((entry.binding, entry.lane))  # a smaller event of its lane must not overtake it
            return None
        if body is not None:
            self._bytes[destination] = (used + size, dead if entry.dead is None else dead + size)
        digest = hashlib.sha256(body).digest() if body is not None else b""
        return rows.insert(self._connection, destination, entry, body, digest, self._now)

    def group(self, entries: Sequence[Entry]) -> bool:
        """Store what one event comes to for all of its destinations, or nothing of it; returns whether it was stored.

        Raises:
            SpoolCorruptError: As `one`.
        """
        alive = [entry for entry in entries if entry.dead is None]
        lanes = {(entry.binding, entry.lane) for entry in alive}
        if not lanes.isdisjoint(self._refused) or not all(self._has_room(entry) for entry in alive):
            self._refused |= lanes
            return False
        for entry in entries:
            self.one(entry)
        return True

    def finish(self) -> None:
        """Write down what the bodies of each destination take now."""
        self._connection.executemany(
            "UPDATE destination SET bytes = ?, dead_bytes = ? WHERE id = ?",
            [(*found, destination) for destination, found in self._bytes.items()],
        )

    def _has_room(self, entry: Entry) -> bool:
        used, _ = self._used(self._id_of(entry.binding))
        return self._share.holds(used + len(entry.body or b""))

    def _used(self, destination: int) -> tuple[int, int]:
        found = self._bytes.get(destination)
        if found is None:
            query = "SELECT bytes, dead_bytes FROM destination WHERE id = ?"
            row = self._connection.execute(query, (destination,)).fetchone()
            if row is None:
                raise SpoolCorruptError("The spool's file has lost a destination.", path=str(self._path))
            found = self._bytes[destination] = (row[0], row[1])
        return found
