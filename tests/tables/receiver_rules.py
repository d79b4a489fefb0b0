"""What each destination takes and refuses, row by row, with the sentence that says so.

T is TrueWatch's "OpenLineage" page, P Spotify Portal's "Data Lineage" page, D the design where both are silent.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL

ALL = (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE)
TRUEWATCH = (DATAWAY, DATAKIT)
NOT_PORTAL = (DATAWAY, DATAKIT, OPENLINEAGE)
NAMESPACE = {DATAWAY: "dataway", DATAKIT: "datakit", PORTAL: "portal", OPENLINEAGE: "openlineage"}
SUCCESS = {DATAWAY: 200, DATAKIT: 200, PORTAL: 201, OPENLINEAGE: 201}

REQUIRED_T = 'T: "All three types require eventTime (an ISO 8601 timestamp), producer (a producer URI), and schemaURL"'
REQUIRED_P = (
    'P: "The following fields are required: eventType, eventTime, run (with runId), job (with namespace and name), '
    'producer, and schemaURL."'
)
KIND = 'T: "TrueWatch identifies the type from the top-level run, job, and dataset objects"'
RUN = 'T: "Events for the same run must keep the same runId, job.namespace, and job.name."'
SPEC = 'T: "Events must follow the OpenLineage specification."'
TYPE_P = 'P: "Must be one of START, RUNNING, COMPLETE, ABORT, FAIL, or OTHER."'
TIME_P = 'P: "Must be an ISO-8601 timestamp including timezone offset"'
SCHEMA_P = 'P: "Wrong schemaURL: Should be https://openlineage.io/spec/2-0-2/OpenLineage.json."'
DATASETS = 'T: "each dataset should have a namespace and name"'
ADVICE = "D: formats that real events break, where the page does not ask, are warnings unless --strict"
MARQUEZ = "Marquez: eventTime, run, job, producer required, schemaURL optional"

EVENT: dict[str, Any] = {
    "eventType": "START",
    "eventTime": "2026-10-21T08:00:00.000Z",
    "run": {"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"},
    "job": {"namespace": "example.scheduler", "name": "daily_orders"},
    "inputs": [{"namespace": "postgresql://warehouse.example:5432", "name": "sales.orders"}],
    "outputs": [{"namespace": "postgresql://warehouse.example:5432", "name": "analytics.daily_orders"}],
    "producer": "https://example.com/openlineage/integration",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
}
"""T's own sample, with P's schemaURL: every path takes it."""


def event(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return EVENT with members replaced by dotted names; ``...`` leaves one out."""
    tree = copy.deepcopy(EVENT)
    for name, value in changes.items():
        *parents, last = name.split(".")
        owner: Any = tree
        for parent in parents:
            owner = owner[int(parent) if isinstance(owner, list) else parent]
        if value is ...:
            del owner[last]
        else:
            owner[last] = value
    return tree


@dataclass(frozen=True)
class Row:
    """One event and what becomes of it.

    Attributes:
        why: The sentence.
        paths: The destinations it is about.
        changes: How the event differs from EVENT.
        code: The error code after the namespace, or None if it is taken.
        at: The JSON path that is named, in the error or in the warning; None for a clean event.
        strict: The code under ``--strict``, where it differs.
    """

    why: str
    paths: tuple[str, ...]
    changes: Mapping[str, Any]
    code: str | None = None
    at: str | None = None
    strict: str | None = field(default=None)

    def __str__(self) -> str:
        return f"{self.changes}"


MISSING, INVALID, UNKNOWN = "missingField", "invalidField", "unknownEvent"
JOB_EVENT = {"run": ..., "eventType": ...}
DATASET_EVENT = {"run": ..., "job": ..., "eventType": ..., "dataset": {"namespace": "db", "name": "t"}}

ROWS = [
    Row(SPEC, ALL, {}),
    Row(KIND, NOT_PORTAL, JOB_EVENT),
    Row(KIND, NOT_PORTAL, DATASET_EVENT),
    Row(KIND, NOT_PORTAL, {"run": ..., "job": ...}, UNKNOWN, "$"),
    Row(KIND, NOT_PORTAL, {"job": ...}, UNKNOWN, "$"),
    Row(KIND, NOT_PORTAL, {"run": "x", "job": "y"}, UNKNOWN, "$"),
    Row(REQUIRED_T, TRUEWATCH, {"eventTime": ...}, MISSING, "$.eventTime"),
    Row(REQUIRED_T, TRUEWATCH, {"producer": ...}, MISSING, "$.producer"),
    Row(REQUIRED_T, TRUEWATCH, {"schemaURL": ...}, MISSING, "$.schemaURL"),
    Row(REQUIRED_T, TRUEWATCH, {"schemaURL": None}, MISSING, "$.schemaURL"),
    Row(REQUIRED_T, TRUEWATCH, {"producer": ""}, INVALID, "$.producer"),
    Row(REQUIRED_T, TRUEWATCH, {"producer": 1}, INVALID, "$.producer"),
    Row(REQUIRED_T, TRUEWATCH, {"eventTime": "yesterday"}, INVALID, "$.eventTime"),
    Row(REQUIRED_T, TRUEWATCH, {"eventTime": "2026-13-01T00:00:00Z"}, INVALID, "$.eventTime"),
    Row(REQUIRED_T, TRUEWATCH, {"eventTime": 1760000000}, INVALID, "$.eventTime"),
    Row(REQUIRED_T, ALL, {"eventTime": "2026-10-21T08:00:00.123456789+02:00"}),
    Row(RUN, ALL, {"run.runId": ...}, MISSING, "$.run.runId"),
    Row(RUN, ALL, {"job.namespace": ...}, MISSING, "$.job.namespace"),
    Row(RUN, ALL, {"job.name": ""}, INVALID, "$.job.name"),
    Row(SPEC, ALL, {"inputs": {}}, INVALID, "$.inputs"),
    Row(SPEC, ALL, {"inputs": ["t"]}, INVALID, "$.inputs[0]"),
    Row(SPEC, ALL, {"eventType": 7}, INVALID, "$.eventType"),
    Row(REQUIRED_P, (PORTAL,), {"eventType": ...}, MISSING, "$.eventType"),
    Row(REQUIRED_P, (PORTAL,), {"eventTime": ...}, MISSING, "$.eventTime"),
    Row(REQUIRED_P, (PORTAL,), {"run": ...}, MISSING, "$.run"),
    Row(REQUIRED_P, (PORTAL,), {"job": ...}, MISSING, "$.job"),
    Row(REQUIRED_P, (PORTAL,), {"producer": ...}, MISSING, "$.producer"),
    Row(REQUIRED_P, (PORTAL,), {"schemaURL": ...}, MISSING, "$.schemaURL"),
    Row(TYPE_P, (PORTAL,), {"eventType": "STARTED"}, INVALID, "$.eventType"),
    Row(TYPE_P, (PORTAL,), {"eventType": "start"}, INVALID, "$.eventType"),
    Row(TIME_P, (PORTAL,), {"eventTime": "2026-08-03T19:40:00.000"}, INVALID, "$.eventTime"),
    Row(SCHEMA_P, (PORTAL,), {"schemaURL": f"{EVENT['schemaURL']}#/$defs/RunEvent"}, INVALID, "$.schemaURL"),
    Row(MARQUEZ, (OPENLINEAGE,), {"eventTime": ...}, MISSING, "$.eventTime"),
    Row(MARQUEZ, (OPENLINEAGE,), {"producer": ...}, MISSING, "$.producer"),
    Row(MARQUEZ, (OPENLINEAGE,), {"schemaURL": ...}, None, "$.schemaURL", MISSING),
    Row(ADVICE, NOT_PORTAL, {"eventType": "start"}, None, "$.eventType", INVALID),
    Row(ADVICE, NOT_PORTAL, {"eventTime": "2026-10-21T08:00:00"}, None, "$.eventTime", INVALID),
    Row(ADVICE, NOT_PORTAL, {"schemaURL": "spec"}, None, "$.schemaURL", INVALID),
    Row(ADVICE, NOT_PORTAL, {"eventType": ...}),
    Row(ADVICE, ALL, {"producer": "my producer"}, None, "$.producer", INVALID),
    Row(ADVICE, ALL, {"run.runId": "manual__2026"}, None, "$.run.runId", INVALID),
    Row(ADVICE, ALL, {"run.runId": "0192a3b4-c5d6-7e8f-9a0b-1c2d3e4f5a6b"}),
    Row(ADVICE, ALL, {"inputs": None}, None, "$.inputs", INVALID),
    Row(DATASETS, ALL, {"inputs": [{"name": "t"}]}, None, "$.inputs[0].namespace", INVALID),
    Row(DATASETS, ALL, {"outputs": [{"namespace": "n"}]}, None, "$.outputs[0].name", INVALID),
    Row(DATASETS, ALL, {"outputs": ...}),
]

CASES = [(row, path) for row in ROWS for path in row.paths]
