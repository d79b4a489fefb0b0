"""What is kept: the newest events, by age and by size; the oldest go first, with what only they said of the graph."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Final

import orjson

from truewatch_lineage.receiver.graph_writer import TOUCH_EVERY
from truewatch_lineage.receiver.schema import transaction

KEEP_DAYS: Final = 30.0
KEEP_BYTES: Final = 2 * 1024**3

_DAY: Final = 86_400.0
_SLICE: Final = 500
_SPARE: Final = 0.05
_COUNT: Final = "INSERT INTO totals VALUES (?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"


@dataclass(frozen=True, slots=True)
class Keep:
    """How much is kept.

    Attributes:
        days: Events that came longer ago go.
        size: Bytes the file may hold; above them the oldest events go.
    """

    days: float = KEEP_DAYS
    size: int = KEEP_BYTES


class Retention:
    """Takes away in slices, so that no commit waits for long.

    Args:
        connection: For writing.
        keep: How much is kept.
    """

    def __init__(self, connection: sqlite3.Connection, keep: Keep) -> None:
        self._connection = connection
        self._keep = keep
        self._pruned = 0

    def sweep(self, now: float) -> int:
        """Take away one slice of the oldest events at most; returns how many.

        Args:
            now: Seconds since the epoch.

        Raises:
            sqlite3.Error: Nothing was taken away.
        """
        too_old, excess = now - self._keep.days * _DAY, live_bytes(self._connection) - self._keep.size
        if excess <= 0 and not self._begins_before(too_old):
            return 0
        gone = self._oldest(too_old, excess + self._keep.size * _SPARE if excess > 0 else 0.0)
        if not gone:
            return 0
        with transaction(self._connection):
            self._delete(gone)
        return len(gone)

    def _begins_before(self, moment: float) -> bool:
        first = self._connection.execute("SELECT at FROM events ORDER BY seq LIMIT 1").fetchone()
        return first is not None and first["at"] < moment

    def _oldest(self, too_old: float, excess: float) -> list[sqlite3.Row]:
        query = "SELECT seq, at, counts, kind, LENGTH(body) + LENGTH(records) AS bytes FROM events ORDER BY seq LIMIT ?"
        gone = []
        for row in self._connection.execute(query, (_SLICE,)).fetchall():
            if row["at"] >= too_old and excess <= 0:
                break
            gone.append(row)
            excess -= row["bytes"]
        return gone

    def _delete(self, gone: list[sqlite3.Row]) -> None:
        last = gone[-1]["seq"]
        self._connection.execute("DELETE FROM events WHERE seq <= ?", (last,))
        self._connection.execute("DELETE FROM arrivals WHERE event <= ?", (last,))
        totals: Counter[str] = Counter(evicted=len(gone))
        for row in gone:
            totals["events"] -= row["kind"] != "IngestError"
            totals.subtract({f"records.{name}": count for name, count in orjson.loads(row["counts"]).items()})
        self._connection.executemany(_COUNT, totals.items())
        if last - self._pruned >= TOUCH_EVERY:
            self._prune(last)

    def _prune(self, last: int) -> None:
        self._pruned = last
        self._connection.execute("DELETE FROM runs WHERE touched <= ?", (last,))
        for table in ("edges", "nodes"):
            query = f"DELETE FROM {table} WHERE touched <= ?"
            self._connection.execute(query, (last - TOUCH_EVERY,))


def live_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file that hold something."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
