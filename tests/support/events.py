"""Events for the tests: upstream's own objects, and plain trees of the three kinds."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attr
from openlineage.client import event_v2
from openlineage.client.event_v2 import (
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.generated.base import RunFacet

PRODUCER = "https://example.com/producer"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
TIME = "2026-10-21T08:00:00.000Z"
RUN_ID = "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"
RECORDED = Path(__file__).parents[1] / "data" / "recorded"

# The oldest releases have no class of its own for it.
_StaticDataset: Any = getattr(event_v2, "StaticDataset", event_v2.Dataset)


def run_event(
    state: RunState | None = RunState.START,
    *,
    run_id: str | None = None,
    job: str = "job",
    namespace: str = "ns",
    run_facets: Mapping[str, Any] | None = None,
    job_facets: Mapping[str, Any] | None = None,
    inputs: list[InputDataset] | None = None,
    outputs: list[OutputDataset] | None = None,
) -> RunEvent:
    """Build upstream's RunEvent; a fresh runId unless one is given."""
    return RunEvent(
        eventType=state,
        eventTime=TIME,
        run=Run(runId=run_id or str(uuid.uuid4()), facets=dict(run_facets or {})),
        job=Job(namespace=namespace, name=job, facets=dict(job_facets or {})),
        inputs=inputs or [],
        outputs=outputs or [],
        producer=PRODUCER,
    )


def job_event(job: str = "job", namespace: str = "ns") -> JobEvent:
    """Build upstream's JobEvent."""
    return JobEvent(eventTime=TIME, job=Job(namespace=namespace, name=job), producer=PRODUCER)


def dataset_event(name: str = "table", namespace: str = "db") -> DatasetEvent:
    """Build upstream's DatasetEvent."""
    return DatasetEvent(eventTime=TIME, dataset=_StaticDataset(namespace=namespace, name=name), producer=PRODUCER)


def custom_facet(**values: Any) -> RunFacet:
    """Build a run facet with properties of its own, of a class made on the way, as upstream's own helper makes them."""
    made = attr.make_class("CustomRunFacet", {name: attr.ib(kw_only=True) for name in values}, bases=(RunFacet,))
    facet = made(producer=PRODUCER, **values)
    assert isinstance(facet, RunFacet)
    return facet


def event_with(**values: Any) -> RunEvent:
    """Build a RunEvent whose run facet ``x`` holds the values."""
    return run_event(run_id=RUN_ID, run_facets={"x": custom_facet(**values)})


def tree(**changes: Any) -> dict[str, Any]:
    """Return a valid RunEvent as a plain tree, with top-level members replaced; ``...`` leaves one out."""
    members: dict[str, Any] = {
        "eventType": "START",
        "eventTime": TIME,
        "run": {"runId": RUN_ID},
        "job": {"namespace": "ns", "name": "job"},
        "inputs": [{"namespace": "db", "name": "in"}],
        "outputs": [{"namespace": "db", "name": "out"}],
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
    }
    members.update(changes)
    return {name: value for name, value in members.items() if value is not ...}


def recorded() -> Iterator[tuple[str, bytes]]:
    """Yield every event of the recorded runs as ``(file:line, JSON)``."""
    for path in sorted(RECORDED.glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            yield f"{path.name}:{number}", line


def parsed(data: bytes) -> Any:
    """Parse strict JSON: a NaN or Infinity token is an error."""

    def refuse(token: str) -> None:
        raise ValueError(token)

    return json.loads(data, parse_constant=refuse)
