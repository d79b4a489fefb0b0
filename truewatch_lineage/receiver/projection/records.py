"""One event's records; pure, and never raising on an event that passed the intake's checks, however odd its facets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.receiver.checks import kind_of
from truewatch_lineage.receiver.ids import dataset_id, job_id
from truewatch_lineage.receiver.projection import fields
from truewatch_lineage.receiver.projection.columns import field_edges, schema_version
from truewatch_lineage.receiver.projection.values import Tree, facets, identity, items, mapping, text

Record = dict[str, Any]

SOURCES: Final = {"RunEvent": "run_event", "JobEvent": "job_event", "DatasetEvent": "dataset_event"}
"""T names run_event and unknown_event; the two others follow the pattern."""

UNKNOWN: Final = "unknown_event"
RECORD_TYPES: Final = ("event", "job", "dataset", "dataset_edge", "schema_version", "field_edge", "ingest_error")
MAX_RECORDS: Final = 10_000
"""Of one event: 8 MiB could ask for 100,000. The event record's ``records_omitted`` counts the rest."""


@dataclass(frozen=True, slots=True)
class Projection:
    """What became of one event.

    Attributes:
        common: Fields that all its records share, the identity among them.
        records: The others of each record; the first is the event record, without ``lineage_message``.
        omitted: Records past `MAX_RECORDS` that were not made.
    """

    common: Record
    records: list[Record] = field(default_factory=list)
    omitted: int = 0

    def counts(self) -> dict[str, int]:
        """Return how many records there are of each type that occurs."""
        found: dict[str, int] = {}
        for record in self.records:
            kind = record["lineage_record_type"]
            found[kind] = found.get(kind, 0) + 1
        return found


def project(tree: Tree, event_id: str, of_facets: Iterable[Record] | None = None) -> Projection:
    """Project an event.

    Args:
        tree: The event, decoded and redacted.
        event_id: Its id.
        of_facets: What `facet_records` gives for this event, where that is known already.

    Returns:
        Its records; a record is ``{**common, **record}``, and the event record gets its ``lineage_message`` besides.
    """
    event = _event(tree)
    derived = itertools.chain(_derived(tree), facet_records(tree) if of_facets is None else of_facets)
    records = [event, *itertools.islice(derived, MAX_RECORDS - 1)]
    omitted = sum(1 for _ in derived)
    if omitted:
        event["records_omitted"] = omitted
    return Projection(_common(tree, event_id), records, omitted)


def facet_records(tree: Tree) -> Iterator[Record]:
    """Yield an event's schema summaries and column lineage, each once however many of its datasets repeat it."""
    if kind_of(tree) == "DatasetEvent":
        datasets = [mapping(tree.get("dataset"))]
    else:
        datasets = [dataset for side in ("inputs", "outputs") for dataset in items(tree.get(side))]
    seen: set[tuple[str, ...]] = set()
    identified = [(dataset, _dataset_identity(dataset)) for dataset in datasets if identity(dataset)]
    for dataset, known in identified:
        record = schema_version(facets(dataset))
        if record is not None and _new(seen, (known["dataset_id"], record["schema_version_id"])):
            yield {**known, **record}
    for dataset, known in identified:
        for record in field_edges(facets(dataset)):
            edge = (
                known["dataset_id"],
                record.get("field_name", ""),
                record["input_dataset_id"],
                record["input_field_name"],
            )
            if _new(seen, edge):
                yield {**known, **record}


def ingest_error(
    reason: str, destination: str, time: str, *, payload_hash: str | None, payload_size: int | None
) -> Projection:
    """Make the audit record of a refused payload, which "never store[s] the rejected raw payload" (T).

    Args:
        reason: The refusal's ``error_code``.
        destination: Whose rules refused it.
        time: When, ISO 8601.
        payload_hash: The sha256 of the decoded payload, in hex, or None if it never was whole.
        payload_size: Its bytes, or None if unknown.
    """
    record = {
        "lineage_record_type": "ingest_error",
        "event_id": payload_hash,
        "ingest_error_reason_code": reason,
        "ingest_error_payload_hash": payload_hash,
        "ingest_error_payload_size": payload_size,
        "ingest_error_destination": destination,
        "ingest_error_time": time,
    }
    return Projection({"source": UNKNOWN}, [{name: value for name, value in record.items() if value is not None}])


def _common(tree: Tree, event_id: str) -> Record:
    kind = kind_of(tree)
    common: Record = {"source": SOURCES.get(str(kind), UNKNOWN), "event_id": event_id}
    found = {
        "event_time": text(tree.get("eventTime")),
        "run_id": text(mapping(tree.get("run")).get("runId")) if kind == "RunEvent" else None,
        # T: "If the original top-level JSON contains a string source, projected records preserve it as src_source".
        "src_source": tree.get("source") if isinstance(tree.get("source"), str) else None,
    }
    common.update((name, value) for name, value in found.items() if value is not None)
    if kind == "DatasetEvent":
        common.update(_dataset_identity(tree.get("dataset")))
    elif job := identity(tree.get("job")):
        common.update(job_id=job_id(*job), job_namespace=job[0], job_name=job[1])
    return common


def _event(tree: Tree) -> Record:
    record: Record = {"lineage_record_type": "event"}
    for field_name, key in (("event_type", "eventType"), ("producer", "producer"), ("schema_url", "schemaURL")):
        if value := text(tree.get(key)):
            record[field_name] = value
    record.update(fields.extract(fields.RUN, fields.run_facets(tree.get("run"))))
    record.update(fields.extract(fields.JOB, facets(tree.get("job"))))
    for relative in ("parent", "root"):
        namespace, name = record.get(f"{relative}_job_namespace"), record.get(f"{relative}_job_name")
        if isinstance(namespace, str) and isinstance(name, str):
            record[f"{relative}_job_id"] = job_id(namespace, name)
    for side in ("inputs", "outputs"):
        if isinstance(tree.get(side), list):
            record[f"{side}_count"] = sum(1 for _ in _distinct(tree, side))
    return record


def _derived(tree: Tree) -> Iterator[Record]:
    kind = kind_of(tree)
    if kind == "DatasetEvent":
        dataset = mapping(tree.get("dataset"))
        # As T says, "Only DatasetEvent produces a dataset record."
        found = fields.extract(fields.DATASET, facets(dataset))
        yield {"lineage_record_type": "dataset", **_dataset_identity(dataset), **dict(found)}
        return
    if kind == "JobEvent":
        job = fields.extract(fields.JOB, facets(tree.get("job")))
        yield {"lineage_record_type": "job", **dict(job)}
    # As T says, "RunEvent and JobEvent produce dataset_edge records from their inputs and outputs."
    for side, direction in (("inputs", "input"), ("outputs", "output")):
        for dataset in _distinct(tree, side):
            yield _dataset_edge(dataset, direction)


def _dataset_edge(dataset: Tree, direction: str) -> Record:
    found = facets(dataset)
    own = facets(dataset, f"{direction}Facets")
    table = fields.INPUT if direction == "input" else fields.OUTPUT
    return {
        "lineage_record_type": "dataset_edge",
        "edge_direction": direction,
        **_dataset_identity(dataset),
        **dict(fields.extract(fields.DATASET, found)),
        **dict(fields.extract(table, {**found, **own})),
    }


def _distinct(tree: Tree, side: str) -> Iterator[Tree]:
    """Yield the datasets of a side that have a namespace and a name, each once."""
    seen: set[tuple[str, ...]] = set()
    for dataset in items(tree.get(side)):
        known = identity(dataset)
        if known and _new(seen, known):
            yield dataset


def _new(seen: set[tuple[str, ...]], key: tuple[str, ...]) -> bool:
    if key in seen:
        return False
    seen.add(key)
    return True


def _dataset_identity(dataset: object) -> Record:
    known = identity(dataset)
    if known is None:
        return {}
    return {"dataset_id": dataset_id(*known), "dataset_namespace": known[0], "dataset_name": known[1]}
