"""What has become of events that were given to the spool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from truewatch_lineage.spool.rows import known_id
from truewatch_lineage.spool.schema import DEAD
from truewatch_lineage.spool.store import Store

_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Fate:
    """What has become of an event.

    Attributes:
        state: ``pending``, ``dead``, ``delivered``, or ``unknown`` where neither event nor receipt is there.
        reason: Why it waits or is dead; of a delivered one, how it was taken.
    """

    state: Literal["pending", "dead", "delivered", "unknown"]
    reason: str | None = None


def fates(store: Store, ids: Sequence[int]) -> dict[int, Fate]:
    """Tell what has become of events.

    Raises:
        SpoolError: If the spool can't be read.
    """
    found: dict[int, Fate] = {}
    for start in range(0, len(ids), _PAGE):
        page = [known_id(event_id) for event_id in ids[start : start + _PAGE]]
        marks = ", ".join("?" * len(page))
        with snapshot(store) as connection:
            receipts = connection.execute(f"SELECT id, note FROM receipt WHERE id IN ({marks})", page).fetchall()  # noqa: S608
            events = connection.execute(f"SELECT id, state, reason FROM event WHERE id IN ({marks})", page).fetchall()  # noqa: S608
        found |= {event_id: Fate("unknown") for event_id in ids[start : start + _PAGE]}
        found |= {row[0]: Fate("delivered", row[1]) for row in receipts}
        found |= {row[0]: Fate("dead" if row[1] == DEAD else "pending", row[2]) for row in events}
    return found


@contextmanager
def snapshot(store: Store) -> Iterator[sqlite3.Connection]:
    """Let all queries of a ``with`` block see one moment: an event must not be delivered between two of them."""
    with store.database.read() as connection:
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            if connection.in_transaction:  # an error such as a damaged file ends it by itself
                connection.execute("ROLLBACK")
