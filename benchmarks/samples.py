"""Event objects of three sizes, built with upstream's own classes, for every measurement to share."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    parent_run,
    schema_dataset,
    sql_job,
)

PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/python"
NAMESPACE = "postgresql://warehouse.example:5432"
_SERIAL = itertools.count()


def small() -> RunEvent:
    """About 612 B as JSON: a job with one input and one output, no facets."""
    tables = [f"analytics.public.{name}" for name in ("orders", "daily")]
    return _event(
        [InputDataset(namespace=NAMESPACE, name=tables[0])],
        [OutputDataset(namespace=NAMESPACE, name=tables[1])],
    )


def medium() -> RunEvent:
    """About 14.7 KB as JSON: 3 datasets of 20 columns, column lineage, parent and SQL."""
    event = _with_columns(inputs=2, columns=20)
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=str(uuid.uuid4())),
        job=parent_run.Job(namespace="example.scheduler", name="daily"),
    )
    event.run.facets = {"parent": parent}
    event.job.facets = {"sql": sql_job.SQLJobFacet(query="SELECT * FROM orders JOIN customers USING (id) " * 8)}
    return event


def large() -> RunEvent:
    """About 266 KB as JSON: 5 datasets of 300 columns, column lineage."""
    return _with_columns(inputs=4, columns=300)


SAMPLES: dict[str, Callable[[], RunEvent]] = {"small": small, "medium": medium, "large": large}


def _event(inputs: list[InputDataset], outputs: list[OutputDataset]) -> RunEvent:
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime="2026-10-21T08:00:00.000000+00:00",
        run=Run(runId=str(uuid.uuid4())),
        job=Job(namespace="example.scheduler", name=f"daily_orders_{next(_SERIAL)}"),
        inputs=inputs,
        outputs=outputs,
        producer=PRODUCER,
    )


def _with_columns(inputs: int, columns: int) -> RunEvent:
    names = [f"column_number_{number}" for number in range(columns)]
    sources = [
        InputDataset(namespace=NAMESPACE, name=f"raw.public.table_{number}", facets={"schema": _schema(names)})
        for number in range(inputs)
    ]
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={name: _origin(name, sources[index % inputs].name) for index, name in enumerate(names)}
    )
    facets = {"schema": _schema(names), "columnLineage": lineage}
    return _event(sources, [OutputDataset(namespace=NAMESPACE, name="analytics.public.daily", facets=facets)])


def _schema(names: list[str]) -> schema_dataset.SchemaDatasetFacet:
    fields = [
        schema_dataset.SchemaDatasetFacetFields(
            name=name, type="VARCHAR(255)", description=f"What {name} holds", ordinal_position=position
        )
        for position, name in enumerate(names, 1)
    ]
    return schema_dataset.SchemaDatasetFacet(fields=fields)


def _origin(column: str, table: str) -> column_lineage_dataset.Fields:
    step = column_lineage_dataset.Transformation(type="DIRECT", subtype="IDENTITY", description="", masking=False)
    source = column_lineage_dataset.InputField(namespace=NAMESPACE, name=table, field=column, transformations=[step])
    return column_lineage_dataset.Fields(inputFields=[source])
