"""Runs as the API shows them; run in the store's reading thread."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import orjson

from truewatch_lineage.receiver.ids import NodeKey, node_id
from truewatch_lineage.receiver.times import iso

FILTERS: Final = {"job_namespace": "n.namespace", "job_name": "n.name", "run_id": "r.run_id", "state": "r.state"}
_OPEN: Final = "r.ended IS NULL"
_NO_START: Final = "No START and no terminal event came: only {state}."
_NO_END: Final = "{state} came, but no COMPLETE, FAIL or ABORT."


def runs(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    *,
    only_open: bool | None = None,
    after: int = 0,
    limit: int = 100,
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page of runs, the latest start first.

    Args:
        connection: For reading.
        filters: Of `FILTERS`; all must hold.
        only_open: True for runs without a terminal event, False for the others, None for all.
        after: How many to pass over.
        limit: How many at most.

    Returns:
        The runs, and the ``after`` of the next page or None.
    """
    conditions = [f"{column} = :{name}" for name, column in FILTERS.items() if name in filters]
    if only_open is not None:
        conditions.append(_OPEN if only_open else f"NOT ({_OPEN})")
    query = (
        "SELECT r.*, n.namespace, n.name, (SELECT COALESCE(SUM(a.copies - 1), 0) FROM events e JOIN arrivals a "
        "ON a.event = e.seq WHERE e.run_id = r.run_id) AS duplicates FROM runs r JOIN nodes n ON n.node = r.job "
        f"WHERE {' AND '.join(conditions) or '1'} ORDER BY r.first DESC, r.run_id LIMIT :limit OFFSET :after"
    )
    found = connection.execute(query, {**filters, "limit": limit + 1, "after": after}).fetchall()
    return [_shown(row) for row in found[:limit]], after + limit if len(found) > limit else None


def open_runs(connection: sqlite3.Connection, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the runs without a terminal event, each with a ``reason``, the latest first; and how many there are."""
    total = connection.execute(f"SELECT COUNT(*) FROM runs r WHERE {_OPEN}").fetchone()[0]
    found, _ = runs(connection, {}, only_open=True, limit=limit)
    return [{**run, "reason": _reason(run)} for run in found], total


def _reason(run: Mapping[str, Any]) -> str:
    text = _NO_END if run["started_at"] else _NO_START
    return text.format(state=run["state"] or "an event without eventType")


def _shown(row: sqlite3.Row) -> dict[str, Any]:
    info = orjson.loads(row["info"])
    started, ended = row["started"], row["ended"]
    return {
        "run_id": row["run_id"],
        "job_namespace": row["namespace"],
        "job_name": row["name"],
        "job": node_id(NodeKey("job", row["namespace"], row["name"])),
        "state": row["state"],
        "started_at": iso(started),
        "ended_at": iso(ended),
        "duration_s": round(ended - started, 6) if started is not None and ended is not None else None,
        "first_event_at": iso(row["first"]),
        "last_event_at": iso(row["last"]),
        "events": row["events"],
        "duplicates": row["duplicates"],
        "parent": _relative(info, "parent"),
        "root": _relative(info, "root"),
        "nominal_start": info.get("nominal_start_time"),
        "nominal_end": info.get("nominal_end_time"),
        "error_message": info.get("error_message"),
        "open": ended is None,
    }


def _relative(info: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    run_id, namespace, job = (info.get(f"{name}_{part}") for part in ("run_id", "job_namespace", "job_name"))
    if run_id is None and job is None:
        return None
    known = isinstance(namespace, str) and isinstance(job, str)
    node = node_id(NodeKey("job", str(namespace), str(job))) if known else None
    return {"run_id": run_id, "job_namespace": namespace, "job_name": job, "job": node}
