"""What an event adds to the graph: nodes and edges, pure and comparable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from truewatch_lineage.receiver.checks import kind_of
from truewatch_lineage.receiver.ids import NodeKey, dataset_id, job_id
from truewatch_lineage.receiver.projection import Projection
from truewatch_lineage.receiver.projection.columns import columns
from truewatch_lineage.receiver.projection.values import Tree, facets, identity, items, mapping, text

NAMED_ONLY, NO_FACET, EMPTY_FACET = "column_lineage_only", "no_schema_facet", "schema_without_fields"
"""Why a dataset has no columns: only another's column lineage names it, no event carries its schema, its schema names
none. In the order of the alphabet, as the greatest of a dataset's reasons is kept (`graph_writer`)."""

_MAX_DESCRIPTION = 500
_MAX_COLUMNS = 10_000


class Node(NamedTuple):
    """One node as an event describes it; ``info`` is JSON, ``{}`` where the event says nothing about it."""

    key: NodeKey
    ref: str
    info: str = "{}"


class Edge(NamedTuple):
    """One step of data: dataset to job (``input``), job to dataset (``output``), column to column (``field``)."""

    source: NodeKey
    target: NodeKey
    type: str
    info: str = "{}"


class Delta(NamedTuple):
    """Everything one event says of the graph; equal deltas of two events add nothing to each other.

    Attributes:
        job: The event's job, or None.
        nodes: Each once.
        edges: Each once.
    """

    job: NodeKey | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def delta(tree: Tree, projection: Projection) -> Delta:
    """Read the graph's part of an event.

    Args:
        tree: The event.
        projection: Its records, of which the dataset and field edges are taken.
    """
    found: dict[NodeKey, Node] = {}
    job = _job(projection)
    if job is not None:
        found[job.key] = job
    for node in _datasets(tree):
        # An event may name a dataset twice, and only one of them carry the schema.
        if node.key not in found or NO_FACET in found[node.key].info:
            found[node.key] = node
    edges = tuple(_edges(projection, job.key if job else None))
    for edge in edges:
        for key in (edge.source, edge.target):
            if key not in found:
                found[key] = _bare(key)
            owner = NodeKey("dataset", key.namespace, key.name)
            if key.type == "column" and owner not in found:
                found[owner] = _bare(owner)
    return Delta(job.key if job else None, tuple(found.values()), edges)


def shape(tree: Tree) -> int:
    """Return a number that is the same for events with the same `delta`, found without making it; of this process only.

    Events of one job mostly say the same of the graph, run after run.
    """
    datasets = [
        (dataset.get("namespace"), dataset.get("name"), carried.get("schema"), carried.get("columnLineage"))
        for side in ("inputs", "outputs")
        for dataset in items(tree.get(side))
        for carried in [mapping(dataset.get("facets"))]
    ]
    job = mapping(tree.get("job"))
    sides = [len(side) if isinstance(side, list) else None for side in (tree.get("inputs"), tree.get("outputs"))]
    facet = mapping(job.get("facets")).get("jobType")
    whole = [job.get("namespace"), job.get("name"), facet, kind_of(tree), sides, datasets, tree.get("dataset")]
    return hash(orjson.dumps(whole))


def job_key(projection: Projection) -> NodeKey | None:
    """Return the event's job, or None."""
    common = projection.common
    return NodeKey("job", common["job_namespace"], common["job_name"]) if "job_id" in common else None


def _job(projection: Projection) -> Node | None:
    key, event = job_key(projection), projection.records[0]
    if key is None:
        return None
    names = ("job_type", "job_integration", "job_processing_type")
    info = {name: event[name] for name in names if name in event}
    return Node(key, projection.common["job_id"], _json(info))


def _datasets(tree: Tree) -> Iterator[Node]:
    for dataset in (*items(tree.get("inputs")), *items(tree.get("outputs")), mapping(tree.get("dataset"))):
        known = identity(dataset)
        if known is None:
            continue
        carried = facets(dataset)
        fields = list(columns(carried))[:_MAX_COLUMNS]
        reason = None if fields else EMPTY_FACET if "schema" in carried else NO_FACET
        yield Node(NodeKey("dataset", *known), dataset_id(*known), _json({"reason": reason} if reason else {}))
        for ordinal, (name, field) in enumerate(fields, 1):
            yield Node(NodeKey("column", *known, name), dataset_id(*known), _column(field, ordinal))


def _column(field: Tree, ordinal: int) -> str:
    info: dict[str, Any] = {"ordinal": ordinal}
    if kind := text(field.get("type")):
        info["data_type"] = kind[:_MAX_DESCRIPTION]
    if description := text(field.get("description")):
        info["description"] = description[:_MAX_DESCRIPTION]
    return _json(info)


def _edges(projection: Projection, job: NodeKey | None) -> Iterator[Edge]:
    common = projection.common
    for record in projection.records:
        kind = record["lineage_record_type"]
        if kind == "dataset_edge" and job is not None:
            dataset = NodeKey("dataset", record["dataset_namespace"], record["dataset_name"])
            direction = record["edge_direction"]
            yield Edge(dataset, job, "input") if direction == "input" else Edge(job, dataset, "output")
        elif kind == "field_edge":
            owner = record if "dataset_name" in record else common
            yield _field_edge(record, owner["dataset_namespace"], owner["dataset_name"])


def _field_edge(record: dict[str, Any], namespace: str, name: str) -> Edge:
    source = NodeKey(
        "column", record["input_dataset_namespace"], record["input_dataset_name"], record["input_field_name"]
    )
    field = record.get("field_name")
    target = NodeKey("column", namespace, name, field) if field else NodeKey("dataset", namespace, name)
    parts = ("type", "subtype", "masking")
    steps = [{part: record[f"transformation_{part}"] for part in parts if f"transformation_{part}" in record}]
    return Edge(source, target, "field", record.get("transformations") or (_json(steps[0]) if steps[0] else "{}"))


def _bare(key: NodeKey) -> Node:
    ref = job_id(key.namespace, key.name) if key.type == "job" else dataset_id(key.namespace, key.name)
    return Node(key, ref, _json({"reason": NAMED_ONLY}) if key.type == "dataset" else "{}")


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
