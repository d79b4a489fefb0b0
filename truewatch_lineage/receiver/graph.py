"""The graph around a node, breadth first, at the grain of tables or columns; run in the store's reading thread."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from truewatch_lineage.receiver import nodes
from truewatch_lineage.receiver.ids import node_id
from truewatch_lineage.receiver.times import iso

Direction = Literal["upstream", "downstream", "both"]
Granularity = Literal["table", "column"]

MAX_DEPTH: Final = 100
_EDGES_A_NODE: Final = 20
"""So many edges for each node that may be shown; more are left out, and ``truncated`` says so."""

_STEPS: Final = {
    "downstream": "SELECT target FROM edges WHERE source IN (SELECT value FROM json_each(?)) AND (type = 'field') = ?",
    "upstream": "SELECT source FROM edges WHERE target IN (SELECT value FROM json_each(?)) AND (type = 'field') = ?",
}
# The plus keeps SQLite from looking up every pair of nodes in the index.
_WITHIN: Final = (
    "SELECT source, target, job, type, info, touched FROM edges WHERE source IN (SELECT value FROM json_each(:nodes)) "
    "AND +target IN (SELECT value FROM json_each(:nodes)) AND (type = 'field') = :fields LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class Question:
    """What part of the graph is asked for.

    Attributes:
        depth: Steps; one edge is one step.
        direction: ``both`` is all upstream of the node and all downstream of it, not what is beside it.
        granularity: ``table`` for jobs and datasets, ``column`` for columns.
        limit: Nodes at most, the nearest first.
        expand: Ids of datasets to show with their columns; ``*`` for all. Of tables only.
    """

    depth: int = 3
    direction: Direction = "both"
    granularity: Granularity = "table"
    limit: int = 1000
    expand: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reached:
    """What a walk found: each node's distance, and from which side it was reached."""

    distance: dict[int, int] = field(default_factory=dict)
    sides: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    truncated: bool = False


def around(connection: sqlite3.Connection, node: sqlite3.Row, question: Question) -> dict[str, Any]:
    """Return the graph around a node.

    Args:
        connection: For reading.
        node: A row that `nodes.resolve` found.
        question: What is asked.

    Returns:
        ``{"nodes": […], "edges": […], "truncated": bool}``.
    """
    fields = question.granularity == "column"
    start = _starts(connection, node, question.limit) if fields else [node["node"]]
    reached = _walk(connection, start, question, fields=fields)
    return _answer(connection, reached, question)


def newest(connection: sqlite3.Connection, question: Question) -> dict[str, Any]:
    """Return the jobs and datasets (or columns) that events named last, with the edges among them."""
    kinds = "= 'column'" if question.granularity == "column" else "<> 'column'"
    query = f"SELECT node FROM nodes WHERE type {kinds} ORDER BY touched DESC, node LIMIT ?"
    found = [row[0] for row in connection.execute(query, (question.limit + 1,)).fetchall()]
    reached = _Reached(dict.fromkeys(found[: question.limit], -1), truncated=len(found) > question.limit)
    return _answer(connection, reached, question)


def _starts(connection: sqlite3.Connection, node: sqlite3.Row, limit: int) -> list[int]:
    """Return a column itself, a dataset with its columns, or the columns of a job's outputs with their datasets."""
    if node["type"] == "column":
        return [node["node"]]
    datasets = [node["node"]]
    if node["type"] == "job":
        query = "SELECT target FROM edges WHERE source = ? AND type = 'output'"
        datasets = [row[0] for row in connection.execute(query, (node["node"],)).fetchall()]
    return [*datasets, *(row["node"] for row in nodes.children(connection, datasets))][:limit]


def _walk(connection: sqlite3.Connection, start: Sequence[int], question: Question, *, fields: bool) -> _Reached:
    reached = _Reached(dict.fromkeys(start, 0))
    ways = [way for way in ("upstream", "downstream") if question.direction in (way, "both")]
    seen = {way: set(start) for way in ways}
    frontiers = {way: list(start) for way in ways}
    for distance in range(1, question.depth + 1):
        for way in ways:
            frontiers[way] = _step(connection, way, frontiers[way], seen[way], fields=fields)
            for node in frontiers[way]:
                if node not in reached.distance:
                    if len(reached.distance) >= question.limit:
                        reached.truncated = True
                        return reached
                    reached.distance[node] = distance
                reached.sides[node].add(way)
    return reached


def _step(connection: sqlite3.Connection, way: str, frontier: list[int], seen: set[int], *, fields: bool) -> list[int]:
    if not frontier:
        return []
    found = dict.fromkeys(row[0] for row in connection.execute(_STEPS[way], (nodes.ids(frontier), fields)).fetchall())
    new = [node for node in found if node not in seen]
    seen.update(new)
    return new


def _answer(connection: sqlite3.Connection, reached: _Reached, question: Question) -> dict[str, Any]:
    columns = question.granularity == "column"
    rows = sorted(nodes.rows(connection, reached.distance), key=lambda row: reached.distance[row["node"]])
    owners = _owners(connection, rows) if columns else []
    expanded = _expanded(rows, question.expand) if not columns else []
    children = nodes.children(connection, expanded)[: question.limit]
    shown = nodes.describe(connection, [*owners, *rows, *children])
    for number, node in shown.items():
        node.update(_position(number, reached))
    for number in expanded:
        shown[number]["expanded"] = True
    most = question.limit * _EDGES_A_NODE
    edges = [] if columns else _within(connection, shown, most, fields=False)
    if columns or children:
        edges += _within(connection, shown, most, fields=True)
    truncated = reached.truncated or len(edges) >= most or len(children) == question.limit
    return {"nodes": list(shown.values()), "edges": _edges(connection, edges, shown), "truncated": truncated}


def _owners(connection: sqlite3.Connection, rows: Iterable[sqlite3.Row]) -> list[sqlite3.Row]:
    here = {row["node"] for row in rows}
    return nodes.rows(connection, {row["parent"] for row in rows if row["parent"] is not None} - here)


def _expanded(rows: Iterable[sqlite3.Row], wanted: Collection[str]) -> list[int]:
    datasets = (row for row in rows if row["type"] == "dataset")
    return [row["node"] for row in datasets if "*" in wanted or node_id(nodes.key_of(row)) in wanted]


def _position(number: int, reached: _Reached) -> dict[str, Any]:
    distance = reached.distance.get(number)
    sides = reached.sides.get(number, set())
    side = "self" if distance == 0 else "both" if len(sides) > 1 else next(iter(sides), None)
    return {"distance": distance if distance is not None and distance >= 0 else None, "side": side}


def _within(connection: sqlite3.Connection, shown: Collection[int], most: int, *, fields: bool) -> list[sqlite3.Row]:
    values = {"nodes": nodes.ids(shown), "fields": fields, "limit": most}
    return connection.execute(_WITHIN, values).fetchall()


def _edges(
    connection: sqlite3.Connection, rows: Sequence[sqlite3.Row], shown: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    events = _events(connection, {row["touched"] for row in rows})
    jobs = {row["node"]: node_id(nodes.key_of(row)) for row in nodes.rows(connection, _jobs(rows))}
    merged: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        ends = (row["source"], row["target"])
        edge = merged.get(ends)
        if edge is None:
            edge = merged[ends] = _edge(row, shown, events)
        if row["type"] == "field":
            edge["jobs"] += [jobs[row["job"]]] if row["job"] in jobs else []
            edge["transformations"] += [step for step in _steps(row["info"]) if step not in edge["transformations"]]
    return list(merged.values())


def _edge(row: sqlite3.Row, shown: dict[int, dict[str, Any]], events: dict[int, tuple[str, str]]) -> dict[str, Any]:
    source, target = shown[row["source"]], shown[row["target"]]
    event_id, last_at = events.get(row["touched"], (None, None))
    edge = {
        "id": f"{source['id']}->{target['id']}",
        "source": source["id"],
        "target": target["id"],
        "type": row["type"],
        "event_id": event_id,
        "last_at": last_at,
    }
    if row["type"] == "field":
        steps = list(_steps(row["info"]))
        indirect = target["type"] == "dataset" or any(step.get("type") == "INDIRECT" for step in steps)
        edge |= {"jobs": [], "transformations": [], "indirect": indirect}
    return edge


def _steps(info: str) -> Iterator[dict[str, Any]]:
    found = orjson.loads(info)
    yield from found if isinstance(found, list) else [found] if found else []


def _jobs(rows: Iterable[sqlite3.Row]) -> set[int]:
    return {row["job"] for row in rows if row["job"]}


def _events(connection: sqlite3.Connection, places: Collection[int]) -> dict[int, tuple[str, str]]:
    query = "SELECT seq, event_id, at FROM events WHERE seq IN (SELECT value FROM json_each(?))"
    found = connection.execute(query, (nodes.ids(places),)).fetchall()
    return {row["seq"]: (row["event_id"], str(iso(row["at"]))) for row in found}
