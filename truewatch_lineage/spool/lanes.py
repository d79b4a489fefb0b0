"""Which lanes have events that wait in the spool, for whoever must not let later ones overtake them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from truewatch_lineage.spool.fates import snapshot
from truewatch_lineage.spool.records import Binding
from truewatch_lineage.spool.rows import destination_id
from truewatch_lineage.spool.store import Store

_PAGE: Final = 400
"""Lanes a statement: SQLite's older builds take 999 values."""


def waiting(store: Store, binding: Binding, lanes: Sequence[str]) -> set[str]:
    """Return those of some lanes that have events waiting for a destination.

    Raises:
        SpoolError: If the spool can't be read.
    """
    found: set[str] = set()
    with snapshot(store) as connection:
        destination = destination_id(connection, binding, create=False)
        for start in range(0, len(lanes), _PAGE):
            page = lanes[start : start + _PAGE]
            wanted = ", ".join(["(?)"] * len(page))
            rows = connection.execute(
                f"WITH wanted(lane) AS (VALUES {wanted}) SELECT lane FROM wanted WHERE EXISTS "  # noqa: S608 - marks
                "(SELECT 1 FROM event WHERE destination_id = ? AND event.lane = wanted.lane AND state = 0)",
                (*page, destination),
            )
            found |= {row[0] for row in rows.fetchall()}
    return found


def any_waiting(store: Store, binding: Binding, prefix: str) -> bool:
    """Tell whether any lane whose name begins so has events waiting for a destination.

    Raises:
        SpoolError: If the spool can't be read.
    """
    with snapshot(store) as connection:
        row = connection.execute(
            "SELECT 1 FROM event WHERE destination_id = ? AND state = 0 AND lane >= ? AND lane < ? LIMIT 1",
            (destination_id(connection, binding, create=False), prefix, f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"),
        ).fetchone()
    return row is not None
