"""What the API reads of events and records; run in the store's reading thread."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import orjson

from truewatch_lineage.receiver.retention import live_bytes
from truewatch_lineage.receiver.times import iso
from truewatch_lineage.receiver.verdict import verdicts
from truewatch_lineage.receiver.writer import INGEST_ERROR

Order = Literal["asc", "desc"]
MAX_PAGE_BYTES: Final = 32 * 1024 * 1024
"""One answer of the API holds no more of events than this."""

EVENT_FILTERS: Final = ("run_id", "job_namespace", "job_name", "event_id", "destination", "kind", "event_type")
RECORD_FILTERS: Final = ("job_namespace", "job_name", "run_id", "event_id")

_EVENT: Final = (
    "event_id",
    "kind",
    "event_type",
    "event_time",
    "run_id",
    "job_namespace",
    "job_name",
    "dataset_namespace",
    "dataset_name",
    "size",
)
_PLACES: Final = "a.seq, a.event, a.destination, a.warnings, a.copies, a.arrived_at, a.last_at"
_KINDS: Final = {"run_event": "RunEvent", "job_event": "JobEvent", "dataset_event": "DatasetEvent"}


def events(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    *,
    after: int | None = None,
    limit: int = 100,
    order: Order = "asc",
    summary: bool = False,
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page of events in the order of arrival, each as often as destinations took it.

    Args:
        connection: For reading.
        filters: Of `EVENT_FILTERS`; all must hold.
        after: Only arrivals behind this ``seq`` in that order.
        limit: How many at most; fewer where they are large.
        order: ``desc`` for the newest first.
        summary: Whether the event itself is left out.

    Returns:
        The events, and the ``after`` of the next page or None.
    """
    where, values = _where(filters, EVENT_FILTERS, after, order, "a.seq")
    query = (
        f"SELECT {_PLACES}, e.* FROM arrivals a JOIN events e ON e.seq = a.event WHERE {where} "
        f"ORDER BY a.seq {order} LIMIT :limit"
    )
    found: list[dict[str, Any]] = []
    total = 0
    with contextlib.closing(connection.execute(query, {**values, "limit": limit + 1})) as rows:
        for row in rows:
            total += len(row["body"])
            if len(found) == limit or (found and total > MAX_PAGE_BYTES):
                return found, found[-1]["seq"]
            found.append({**event_row(row, summary=summary), **_arrival(row)})
    return found, None


def event(connection: sqlite3.Connection, event_id: str) -> dict[str, Any] | None:
    """Return one event with all its arrivals and records, or None."""
    query = "SELECT * FROM events WHERE event_id = ? AND kind <> ?"
    row = connection.execute(query, (event_id, INGEST_ERROR)).fetchone()
    if row is None:
        return None
    places = connection.execute(f"SELECT {_PLACES} FROM arrivals a WHERE event = ? ORDER BY seq", (row["seq"],))
    arrivals = [_arrival(place) for place in places.fetchall()]
    return {**event_row(row), "arrivals": arrivals, "record_list": list(_records(row))}


def records(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    *,
    source: str | None = None,
    record_type: str | None = None,
    after: tuple[int, int] | None = None,
    limit: int = 100,
    order: Order = "asc",
) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of records, flat, in the order of their events' first arrival.

    Args:
        connection: For reading.
        filters: Of `RECORD_FILTERS`; all must hold.
        source: Only those of this ``source``.
        record_type: Only those of this ``lineage_record_type``.
        after: The event's place and the record's index behind which to go on.
        limit: How many at most.
        order: ``desc`` for the newest event first.

    Returns:
        The records, and the cursor of the next page or None.
    """
    found: list[dict[str, Any]] = []
    total, cursor = 0, ""
    with contextlib.closing(_record_rows(connection, filters, source, record_type, after, order)) as rows:
        for row in rows:
            total += len(row["body"]) + len(row["records"])
            for index, record in enumerate(_records(row)):
                if record_type not in (None, record["lineage_record_type"]):
                    continue
                if after is not None and row["seq"] == after[0] and index <= after[1]:
                    continue
                if len(found) == limit or (found and total > MAX_PAGE_BYTES):
                    return found, cursor
                found.append(record)
                cursor = f"{row['seq']}.{index}"
    return found, None


def stats(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return what is stored: events, records by type, nodes by type, edges, runs and bytes."""
    totals = dict(map(tuple, connection.execute("SELECT name, n FROM totals").fetchall()))
    nodes = dict(map(tuple, connection.execute("SELECT type, COUNT(*) FROM nodes GROUP BY type").fetchall()))
    query = (
        "SELECT COUNT(*) AS stored, COALESCE(SUM(copies - 1), 0) AS duplicates, "
        "(SELECT COUNT(*) FROM edges) AS edges, (SELECT COUNT(*) FROM runs) AS runs, "
        "(SELECT COUNT(*) FROM runs WHERE ended IS NULL) AS open FROM arrivals"
    )
    row = connection.execute(query).fetchone()
    prefix = "records."
    return {
        "stored": row["stored"],
        "duplicates": row["duplicates"],
        "events": totals.get("events", 0),
        "records": {name.removeprefix(prefix): n for name, n in totals.items() if name.startswith(prefix) and n},
        "jobs": nodes.get("job", 0),
        "datasets": nodes.get("dataset", 0),
        "columns": nodes.get("column", 0),
        "edges": row["edges"],
        "runs": {"total": row["runs"], "open": row["open"]},
        "ingest_errors": totals.get("records.ingest_error", 0),
        "evicted": totals.get("evicted", 0),
        "bytes": live_bytes(connection),
    }


def last_seq(connection: sqlite3.Connection) -> int:
    """Return the place of the newest arrival, 0 if there is none."""
    return int(connection.execute("SELECT COALESCE(MAX(seq), 0) FROM arrivals").fetchone()[0])


def event_row(row: sqlite3.Row, *, summary: bool = False) -> dict[str, Any]:
    """Return an event as the API shows it; its JSON stays byte by byte as it was received."""
    counts = orjson.loads(row["counts"])
    shown = {name: row[name] for name in _EVENT}
    shown |= {"records": counts, "verdicts": verdicts(orjson.loads(row["body"]), row["size"], counts)}
    return shown if summary else {**shown, "event": orjson.Fragment(row["body"])}


def _record_rows(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    source: str | None,
    record_type: str | None,
    after: tuple[int, int] | None,
    order: Order,
) -> sqlite3.Cursor:
    # The event of the cursor is read again, since the page may have ended between two of its records.
    step = 1 if order == "asc" else -1
    where, values = _where(filters, RECORD_FILTERS, after[0] - step if after else None, order, "e.seq")
    if source is not None:
        where += " AND e.kind = :kind"
        values["kind"] = _KINDS.get(source, INGEST_ERROR)
    if record_type is not None:
        where += " AND INSTR(e.counts, :record_type)"
        values["record_type"] = f'"{record_type}"'
    query = f"SELECT e.* FROM events e WHERE {where} ORDER BY e.seq {order}"
    return connection.execute(query, values)


def _records(row: sqlite3.Row) -> Iterator[dict[str, Any]]:
    common, found = orjson.loads(row["records"])
    for record in found:
        whole = {**common, **record}
        if record["lineage_record_type"] == "event":
            whole["lineage_message"] = row["body"].decode()
        yield whole


def _where(
    filters: Mapping[str, str], known: tuple[str, ...], after: int | None, order: Order, place: str
) -> tuple[str, dict[str, Any]]:
    wanted: dict[str, Any] = {name: filters[name] for name in known if name in filters}
    conditions = [f"{name} = :{name}" for name in wanted]
    if after is not None:
        conditions.append(f"{place} {'>' if order == 'asc' else '<'} :after")
        wanted["after"] = after
    return " AND ".join(conditions) or "1", wanted


def _arrival(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "seq": row[0],  # both tables of a join have one
        "destination": row["destination"],
        "arrived_at": iso(row["arrived_at"]),
        "last_at": iso(row["last_at"]),
        "duplicates": row["copies"] - 1,
        "warnings": orjson.Fragment(row["warnings"]),
    }
