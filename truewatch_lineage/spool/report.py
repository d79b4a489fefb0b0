"""What the spool holds, for people and their programs: reads only, and needs no settings of a destination.

A destination's name may have been bound to several urls over time. They are shown as one, by the state of the one that
a process used last; events of the others wait for ``rebind`` and say ``other settings``.
"""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.errors import SpoolUnusableError
from truewatch_lineage.spool.fates import snapshot
from truewatch_lineage.spool.folder import FILE_NAME, inspect
from truewatch_lineage.spool.glance import OLDEST
from truewatch_lineage.spool.rows import known_id
from truewatch_lineage.spool.schema import DEAD
from truewatch_lineage.spool.store import Store
from truewatch_lineage.words import counted

OTHER_SETTINGS: Final = "other settings"
"""Why an event waits that is bound to another kind or url than its destination's name has now."""

_PAGE: Final = 500
_COUNTERS: Final = ("delivered", "cached", "skipped", "tombstones", "bytes")
_ROW: Final = (
    "SELECT event.id, name, event.state, event_type, job, run_id, event.attempts, event.reason, status, event.bytes, "
    "created, destination_id, due, destination.state, destination.reason, until FROM event "
    "JOIN destination ON destination.id = destination_id "
)
_COUNTS: Final = (
    "SELECT id, (SELECT count(*) FROM event WHERE destination_id = destination.id AND state = 0), "
    "(SELECT count(*) FROM event WHERE destination_id = destination.id AND state = 1) FROM destination"
)
"""By destination and state, since there is an index of each: a fifth of the time of grouping all events."""

_STATES: Final = ("pending", "dead")


def exists(folder: Path) -> bool:
    """Tell whether a folder holds a spool; nothing is made.

    Raises:
        SpoolUnusableError: This user may not look into it.
    """
    try:
        (folder / FILE_NAME).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError:
        inspect(folder)  # which says whose it is
        raise SpoolUnusableError("The spool's folder can't be read.", path=str(folder)) from None
    return True


def iso(seconds: float) -> str:
    """Return epoch seconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_words(state: str, reason: str | None, until: str | None, now: float) -> str:
    """Say how things stand with a destination or an event, and what comes next.

    Args:
        state: ``ready``, ``paused`` or ``parked``.
        reason: Why.
        until: When the next try is due, as `iso` writes it.
        now: Epoch seconds; what is due by then waits for somebody who tries.
    """
    if state == "parked":
        return f"stopped until you fix this: {reason}"
    if state == "paused":
        if until is not None and until <= iso(now):
            return f"waiting, due since {until} for the next emit, courier or drain: {reason}"
        return f"waiting, retry at {until}: {reason}"
    return reason or "ready"


def status(store: Store) -> dict[str, Any]:
    """Return counts and states as the design's section 7 names them.

    Counters run since the spool was made; an event for two destinations counts once for each.

    Raises:
        SpoolError: If the spool can't be read.
    """
    with snapshot(store) as connection:
        bindings = _bindings(connection)
        counts = _counts(connection)
        oldest = connection.execute(f"SELECT min(created) FROM ({OLDEST})").fetchone()[0]  # noqa: S608 - ours
        totals = {name: sum(row[name] for row in bindings) for name in _COUNTERS}
        names = dict.fromkeys(row["name"] for row in bindings)
        destinations = {name: _standing([row for row in bindings if row["name"] == name], counts) for name in names}
        age = 0.0 if oldest is None else round(max(0.0, store.clock() - oldest), 3)
    return {
        "pending": sum(pending for pending, _ in counts.values()),
        "dead": sum(dead for _, dead in counts.values()),
        **{name: totals[name] for name in _COUNTERS if name != "bytes"},
        "oldest_pending_s": age,
        "bytes": totals["bytes"],
        "path": str(store.folder),
        "destinations": destinations,
    }


def listed(
    store: Store, *, dead: bool = False, destination: str | None = None, limit: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what waits, or the dead letters, in the order of emit, as the design's section 7 names it.

    Args:
        store: The spool.
        dead: Dead letters in the place of what waits.
        destination: Only of this name.
        limit: So many at most.

    Raises:
        SpoolError: If the spool can't be read.
    """
    last, left = 0, limit if limit is not None else 1 << 62
    while left > 0:
        with snapshot(store) as connection:
            current = _current(connection)
            found = connection.execute(
                f"{_ROW} WHERE event.state = ? AND event.id > ? AND (? IS NULL OR name = ?) ORDER BY event.id LIMIT ?",
                (int(dead), last, destination, destination, min(_PAGE, left)),
            ).fetchall()
            page = [_as_dict(row, current, store.clock()) for row in found]
        if not page:
            return
        yield from page
        last, left = page[-1]["id"], left - len(page)


def shown(store: Store, event_id: int) -> tuple[dict[str, Any], bytes | None] | None:
    """Return one event as `listed` has it, and its JSON as stored; None where there is no such event.

    The JSON is None where only the metadata was kept.

    Raises:
        SpoolError: If the spool can't be read.
    """
    with snapshot(store) as connection:
        row = connection.execute(f"{_ROW} WHERE event.id = ?", (known_id(event_id),)).fetchone()
        if row is None:
            return None
        data = connection.execute(
            "SELECT data FROM body JOIN event ON body.id = body_id WHERE event.id = ?", (event_id,)
        ).fetchone()
        return _as_dict(row, _current(connection), store.clock()), gzip.decompress(data[0]) if data else None


def exported(store: Store, *, dead: bool = False, destination: str | None = None) -> Iterator[bytes]:
    """Yield the JSON of what `listed` yields, without those of which only the metadata was kept.

    Raises:
        SpoolError: If the spool can't be read.
    """
    for row in listed(store, dead=dead, destination=destination):
        found = shown(store, row["id"])
        if found is not None and found[1] is not None:
            yield found[1]


def traced(store: Store, what: str) -> list[dict[str, Any]]:
    """Return what is known of the events of a run or a job, in the order of emit: waiting, dead and delivered ones.

    Args:
        store: The spool.
        what: A runId, a job as ``namespace/name``, or a job's name alone.

    Raises:
        SpoolError: If the spool can't be read.
    """
    match = "(run_id = :what OR job = :what OR substr(job, -length(:what) - 1) = '/' || :what)"
    with snapshot(store) as connection:
        current = _current(connection)
        waiting = connection.execute(f"{_ROW} WHERE {match}", {"what": what}).fetchall()
        receipts = connection.execute(
            "SELECT receipt.id, name, event_type, job, run_id, receipt.attempts, note, status, created, "  # noqa: S608
            f"receipt.delivered FROM receipt JOIN destination ON destination.id = destination_id WHERE {match}",
            {"what": what},
        ).fetchall()
        rows = [{**_as_dict(row, current, store.clock()), "delivered": None} for row in waiting]
        rows += [_receipt(row) for row in receipts]
    return sorted(rows, key=lambda row: row["id"])


def dead_ids(store: Store, destination: str | None = None) -> list[int]:
    """Return the ids of all dead letters, or of those for one name, in the order of emit.

    Raises:
        SpoolError: If the spool can't be read.
    """
    with snapshot(store) as connection:
        found = connection.execute(
            "SELECT event.id FROM event JOIN destination ON destination.id = destination_id "
            "WHERE event.state = 1 AND (? IS NULL OR name = ?) ORDER BY event.id",
            (destination, destination),
        ).fetchall()
    return [row[0] for row in found]


def _bindings(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the destinations, the one of each name that was used last at its end."""
    cursor = connection.execute(
        "SELECT id, name, state, reason, until, delivered, cached, skipped, tombstones, bytes FROM destination "
        "ORDER BY used, id"
    )
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _current(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, id FROM destination ORDER BY used, id").fetchall())


def _counts(connection: sqlite3.Connection) -> dict[int, tuple[int, int]]:
    """Return how many events of each destination are pending and dead."""
    found = connection.execute(_COUNTS).fetchall()
    return {row[0]: (row[1], row[2]) for row in found}


def _standing(bindings: list[dict[str, Any]], counts: dict[int, tuple[int, int]]) -> dict[str, Any]:
    current = bindings[-1]
    others = sum(counts.get(row["id"], (0, 0))[0] for row in bindings[:-1])
    reason = current["reason"]
    if reason is None and others:
        verb = "waits" if others == 1 else "wait"
        reason = f"{OTHER_SETTINGS}: {counted(others, 'event')} {verb} for `spool rebind {current['name']}`"
    return {
        "state": current["state"],
        "reason": reason,
        "until": _iso(current["until"]),
        "pending": sum(counts.get(row["id"], (0, 0))[0] for row in bindings),
        "dead": sum(counts.get(row["id"], (0, 0))[1] for row in bindings),
        "delivered": sum(row["delivered"] for row in bindings),
    }


def _as_dict(row: tuple[Any, ...], current: dict[str, int], now: float) -> dict[str, Any]:
    name, state, destination, due = row[1], row[2], row[11], row[12]
    reason = row[7]
    if state != DEAD:
        if current.get(name) != destination:
            reason = OTHER_SETTINGS
        elif row[13] != "ready":
            reason = in_words(row[13], row[14], _iso(row[15]), now)
        elif reason is not None and due:
            reason = in_words("paused", reason, iso(due), now)
    return {
        "id": row[0],
        "destination": name,
        "state": _STATES[state],
        "event_type": row[3],
        "job": row[4],
        "run_id": row[5],
        "attempts": row[6],
        "reason": reason,
        "status": row[8],
        "bytes": row[9],
        "created": iso(row[10]),
    }


def _receipt(row: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "id": row[0],
        "destination": row[1],
        "state": "delivered",
        "event_type": row[2],
        "job": row[3],
        "run_id": row[4],
        "attempts": row[5],
        "reason": row[6],
        "status": row[7],
        "bytes": None,
        "created": iso(row[8]),
        "delivered": iso(row[9]),
    }


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else iso(seconds)
