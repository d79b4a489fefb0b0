"""Nodes as the API shows them: found by id, described, searched; run in the store's reading thread."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, cast

import orjson

from truewatch_lineage.receiver.ids import NODE_TYPES, NodeKey, NodeType, node_id, parse_node_id
from truewatch_lineage.receiver.lineage import EMPTY_FACET, NAMED_ONLY, NO_FACET

REASONS: Final = {
    NO_FACET: "None of its events carries the facet schema.",
    EMPTY_FACET: "Its facet schema names no field.",
    NAMED_ONLY: "Only the column lineage of another dataset names it.",
}
"""Why a dataset has no columns."""

_COLUMNS: Final = "node, type, namespace, name, field, ref, parent, info"
_FIND: Final = f"SELECT {_COLUMNS} FROM nodes WHERE type = ? AND namespace = ? AND name = ? AND field = ?"


def ids(numbers: Iterable[int]) -> str:
    """Return numbers as JSON, for ``IN (SELECT value FROM json_each(?))``."""
    return orjson.dumps(list(numbers)).decode()


def resolve(connection: sqlite3.Connection, text: str) -> sqlite3.Row | None:
    """Find a node.

    Args:
        connection: For reading.
        text: A node id, ``job:NAMESPACE/NAME``, ``dataset:NAMESPACE/NAME``, or a record's ``job_id`` or ``dataset_id``.
    """
    for key in _readings(text):
        row: sqlite3.Row | None = connection.execute(_FIND, key).fetchone()
        if row is not None:
            return row
    query = f"SELECT {_COLUMNS} FROM nodes WHERE ref = ? AND type IN ('job', 'dataset')"
    found: sqlite3.Row | None = connection.execute(query, (text,)).fetchone()
    return found


def _readings(text: str) -> Iterator[NodeKey]:
    exact = parse_node_id(text)
    if exact is not None:
        yield exact
    kind, _, rest = text.partition(":")
    if kind in NODE_TYPES:
        for slash in re.finditer("/", rest):
            yield NodeKey(kind, rest[: slash.start()], rest[slash.end() :])


def key_of(row: sqlite3.Row) -> NodeKey:
    """Return what a row of ``nodes`` is known by."""
    return NodeKey(cast("NodeType", row["type"]), row["namespace"], row["name"], row["field"])


def rows(connection: sqlite3.Connection, numbers: Collection[int]) -> list[sqlite3.Row]:
    """Return the rows of nodes by their numbers."""
    query = f"SELECT {_COLUMNS} FROM nodes WHERE node IN (SELECT value FROM json_each(?))"
    return connection.execute(query, (ids(numbers),)).fetchall()


def children(connection: sqlite3.Connection, datasets: Iterable[int]) -> list[sqlite3.Row]:
    """Return the columns of datasets, in the order of their schema."""
    query = (
        f"SELECT {_COLUMNS} FROM nodes WHERE parent IN (SELECT value FROM json_each(?)) "
        "ORDER BY parent, json_extract(info, '$.ordinal') IS NULL, json_extract(info, '$.ordinal'), field"
    )
    return connection.execute(query, (ids(datasets),)).fetchall()


def describe(connection: sqlite3.Connection, found: Sequence[sqlite3.Row]) -> dict[int, dict[str, Any]]:
    """Return nodes as the API shows them, by their numbers and in their order.

    A job has the state of its latest run (the one that began last), a dataset the count of its columns or why it has
    none.
    """
    jobs = _latest_runs(connection, [row["node"] for row in found if row["type"] == "job"])
    counts = _column_counts(connection, [row["node"] for row in found if row["type"] == "dataset"])
    return {row["node"]: _shown(row, jobs, counts) for row in found}


def search(connection: sqlite3.Connection, text: str, limit: int) -> tuple[list[dict[str, Any]], bool]:
    """Find nodes by a part of ``namespace/name`` (a column's: ``…/field``) in any case, and runs by their id's start.

    Returns:
        At most ``limit`` results, exact names first, then those that begin so, then the rest, the newest first; and
        whether there are more.
    """
    query = f"""
        SELECT {_COLUMNS}, namespace || '/' || name || CASE field WHEN '' THEN '' ELSE '/' || field END AS path,
            CASE WHEN field <> '' THEN field ELSE name END AS last
        FROM nodes WHERE path LIKE :part ESCAPE '\\'
        ORDER BY last <> :text COLLATE NOCASE AND path <> :text COLLATE NOCASE, type = 'column',
            last NOT LIKE :start ESCAPE '\\', touched DESC, node LIMIT :limit
    """
    escaped = re.sub(r"([\\%_])", r"\\\1", text)
    values = {"part": f"%{escaped}%", "start": f"{escaped}%", "text": text, "limit": limit + 1}
    found = connection.execute(query, values).fetchall()
    results = [_run_result(row) for row in _runs_like(connection, text, limit)] if text else []
    results += [_node_result(node) for node in describe(connection, found).values()]
    return results[:limit], len(results) > limit


def without_columns(connection: sqlite3.Connection, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the datasets without a known column, the newest first and each with its ``reason``; and how many."""
    where = "type = 'dataset' AND NOT EXISTS (SELECT 1 FROM nodes c WHERE c.parent = nodes.node)"
    total = connection.execute(f"SELECT COUNT(*) FROM nodes WHERE {where}").fetchone()[0]
    query = f"SELECT {_COLUMNS} FROM nodes WHERE {where} ORDER BY touched DESC, node LIMIT ?"
    found = describe(connection, connection.execute(query, (limit,)).fetchall()).values()
    return [{**node, "reason": node["columns_reason"]} for node in found], total


def _shown(row: sqlite3.Row, jobs: dict[int, sqlite3.Row], counts: dict[int, int]) -> dict[str, Any]:
    key, info = key_of(row), orjson.loads(row["info"])
    node: dict[str, Any] = {"id": node_id(key), "type": key.type, "namespace": key.namespace, "name": key.name}
    node["label"] = _label(key)
    node["job_id" if key.type == "job" else "dataset_id"] = row["ref"]
    if key.type == "job":
        run = jobs.get(row["node"])
        node |= {"state": run["state"], "run_id": run["run_id"], "runs": run["runs"]} if run else _NEVER_RAN
        node |= {"job_type": info.get("job_type"), "integration": info.get("job_integration")}
    elif key.type == "dataset":
        count = counts.get(row["node"], 0)
        reason = None if count else REASONS.get(info.get("reason", NO_FACET))
        node |= {"columns": count, "columns_reason": reason, "expanded": False}
    else:
        node |= {"parent": node_id(NodeKey("dataset", key.namespace, key.name)), "field": key.field}
        node |= {name: info.get(name) for name in ("data_type", "description", "ordinal")}
    return node


_NEVER_RAN: Final = {"state": None, "run_id": None, "runs": 0}


def _label(key: NodeKey) -> str:
    if key.type == "column":
        return key.field
    if key.type == "job":
        return key.name
    # The file or folder of a path, the table of a dotted name.
    apart = "/" if "/" in key.name else "."
    return key.name.rstrip(apart).rpartition(apart)[2] or key.name


def _latest_runs(connection: sqlite3.Connection, jobs: list[int]) -> dict[int, sqlite3.Row]:
    # With a bare column beside MAX, SQLite takes it from the row of the maximum.
    query = (
        "SELECT job, run_id, state, MAX(first), COUNT(*) AS runs FROM runs "
        "WHERE job IN (SELECT value FROM json_each(?)) GROUP BY job"
    )
    return {row["job"]: row for row in connection.execute(query, (ids(jobs),)).fetchall()} if jobs else {}


def _column_counts(connection: sqlite3.Connection, datasets: list[int]) -> dict[int, int]:
    query = (
        "SELECT parent, COUNT(*) FROM nodes WHERE parent IN (SELECT value FROM json_each(?)) "
        "AND parent IS NOT NULL GROUP BY parent"
    )
    return dict(map(tuple, connection.execute(query, (ids(datasets),)).fetchall())) if datasets else {}


def _runs_like(connection: sqlite3.Connection, text: str, limit: int) -> list[sqlite3.Row]:
    query = (
        "SELECT r.run_id, r.state, n.type, n.namespace, n.name, n.field FROM runs r JOIN nodes n ON n.node = r.job "
        "WHERE r.run_id >= :text AND r.run_id < :text || CHAR(1114111) LIMIT :limit"
    )
    return connection.execute(query, {"text": text, "limit": limit + 1}).fetchall()


def _run_result(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "type": "run",
        "id": node_id(key_of(row)),
        "namespace": row["namespace"],
        "name": row["name"],
        "field": None,
        "run_id": row["run_id"],
        "state": row["state"],
        "label": row["run_id"],
    }


def _node_result(node: dict[str, Any]) -> dict[str, Any]:
    names = ("type", "id", "namespace", "name", "field", "run_id", "state", "label")
    return {name: node.get(name) for name in names}
