"""One node with what is known of it: columns, runs, events and facets; run in the store's reading thread."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import orjson

from truewatch_lineage.receiver import nodes, run_queries
from truewatch_lineage.receiver.ids import NodeKey
from truewatch_lineage.receiver.projection.values import facets, identity, items, mapping
from truewatch_lineage.receiver.queries import event_row
from truewatch_lineage.receiver.times import iso

SHOWN: Final = 20
_LOOKED_AT: Final = 200
"""Of a job's latest events so many are looked at for one that names a dataset."""

_BY_JOB: Final = "SELECT * FROM events WHERE job_namespace = ? AND job_name = ? ORDER BY seq DESC LIMIT ?"
_BY_DATASET: Final = "SELECT seq FROM events WHERE dataset_namespace = ? AND dataset_name = ? ORDER BY seq DESC LIMIT ?"
_BY_JOB_AND_RECORDS: Final = (
    "SELECT seq FROM (SELECT seq, records FROM events WHERE job_namespace = ? AND job_name = ? "
    "ORDER BY seq DESC LIMIT ?) WHERE INSTR(records, ?) LIMIT ?"
)
_JOBS: Final = (
    "SELECT namespace, name FROM nodes WHERE type = 'job' AND node IN ("
    "SELECT source FROM edges WHERE target = :node UNION SELECT target FROM edges WHERE source = :node UNION "
    "SELECT job FROM edges WHERE target = :node UNION SELECT job FROM edges WHERE source = :node) LIMIT :limit"
)


def details(connection: sqlite3.Connection, node: sqlite3.Row) -> dict[str, Any]:
    """Return a node for the page's drawer.

    Args:
        connection: For reading.
        node: A row that `nodes.resolve` found.

    Returns:
        ``{"node", "columns", "runs", "events", "facets"}``: the latest `SHOWN` runs and events; the facets are those of
        the newest of these events that has any for the node.
    """
    key = nodes.key_of(node)
    found = _events(connection, node, key)
    columns = nodes.children(connection, [node["node"]]) if key.type == "dataset" else []
    names = {"job_namespace": key.namespace, "job_name": key.name}
    return {
        "node": nodes.describe(connection, [node])[node["node"]],
        "columns": [_column(column) for column in nodes.describe(connection, columns).values()],
        "runs": run_queries.runs(connection, names, limit=SHOWN)[0] if key.type == "job" else [],
        "events": [_summary(row) for row in found],
        "facets": next((carried for row in found if (carried := _facets(row, key))), {}),
    }


def _events(connection: sqlite3.Connection, node: sqlite3.Row, key: NodeKey) -> list[sqlite3.Row]:
    if key.type == "job":
        return connection.execute(_BY_JOB, (key.namespace, key.name, SHOWN)).fetchall()
    places = connection.execute(_BY_DATASET, (key.namespace, key.name, SHOWN)).fetchall()
    for job in connection.execute(_JOBS, {"node": node["node"], "limit": SHOWN}).fetchall():
        values = (job["namespace"], job["name"], _LOOKED_AT, node["ref"].encode(), SHOWN)
        places += connection.execute(_BY_JOB_AND_RECORDS, values).fetchall()
    query = "SELECT * FROM events WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?"
    return connection.execute(query, (nodes.ids(row[0] for row in places), SHOWN)).fetchall()


def _summary(row: sqlite3.Row) -> dict[str, Any]:
    return {**event_row(row, summary=True), "seq": row["seq"], "arrived_at": iso(row["at"])}


def _column(node: dict[str, Any]) -> dict[str, Any]:
    names = {"id": "id", "name": "field", "type": "data_type", "description": "description", "ordinal": "ordinal"}
    return {shown: node[name] for shown, name in names.items()}


def _facets(row: sqlite3.Row, key: NodeKey) -> dict[str, Any]:
    tree = orjson.loads(row["body"])
    if key.type == "job":
        return dict(facets(tree.get("job")))
    for dataset in (*items(tree.get("outputs")), *items(tree.get("inputs")), mapping(tree.get("dataset"))):
        if identity(dataset) == (key.namespace, key.name) and (found := facets(dataset)):
            return dict(found)
    return {}
