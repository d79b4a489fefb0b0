"""Quick looks into a spool that need no settings of a destination."""

from __future__ import annotations

from typing import Final

from truewatch_lineage.spool.queries import CLOCK_TOLERANCE
from truewatch_lineage.spool.store import Store

_CURRENT: Final = (
    "(SELECT id FROM destination AS one WHERE one.name = destination.name ORDER BY used DESC, id DESC LIMIT 1)"
)
"""The destination that a name means now: events of others with that name wait for ``rebind``."""

OLDEST: Final = (
    "SELECT name, created FROM destination JOIN event ON event.id = "
    "(SELECT min(id) FROM event AS one WHERE one.destination_id = destination.id AND one.head = 1)"
)
"""The event that has waited longest for each destination: the first head, as heads are found without looking at all."""


def has_due(store: Store) -> bool:
    """Tell whether some event may leave now.

    Not one that waits for a later time, for a destination that is paused or parked, or for ``rebind``.

    Raises:
        SpoolError: If the spool can't be read.
    """
    now = store.clock()
    later = (now, now + CLOCK_TOLERANCE)  # a time beyond means that the clock was turned back
    query = (
        "SELECT 1 FROM destination JOIN event ON destination_id = destination.id AND head = 1 WHERE "  # noqa: S608 - ours
        "CASE destination.state WHEN 'ready' THEN NOT (due > ? AND due <= ?) ELSE NOT (until > ? AND until <= ?) END "
        f"AND destination.id = {_CURRENT} LIMIT 1"
    )
    with store.database.read() as connection:
        return connection.execute(query, (*later, *later)).fetchone() is not None


def ages(store: Store) -> dict[str, float]:
    """Return for how many seconds the oldest waiting event of each destination has waited, by the destination's name.

    Raises:
        SpoolError: If the spool can't be read.
    """
    query = f"SELECT name, min(created) FROM ({OLDEST}) GROUP BY name"  # noqa: S608 - ours
    with store.database.read() as connection:
        found = connection.execute(query).fetchall()
    return {name: round(max(0.0, store.clock() - created), 3) for name, created in found}
