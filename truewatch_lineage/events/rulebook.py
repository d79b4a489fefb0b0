"""The rules of each kind of destination that events are checked by, in the words of its own page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from truewatch_lineage import protocol

Severity = Literal["error", "warning"]

SPEC: Final = "OpenLineage specification 2-0-2"
TRUEWATCH_SPEC: Final = 'TrueWatch: "Events must follow the OpenLineage specification."'
TRUEWATCH_BASE: Final = (
    'TrueWatch: "All three types require eventTime (an ISO 8601 timestamp), producer (a producer URI), and '
    'schemaURL (the specification version URL)."'
)
TRUEWATCH_KINDS: Final = 'TrueWatch: "TrueWatch identifies the type from the top-level run, job, and dataset objects."'
TRUEWATCH_ONE: Final = (
    'TrueWatch: "Each request accepts one event. JSON arrays and the OpenLineage batch endpoint are not supported."'
)
TRUEWATCH_DATASETS: Final = 'TrueWatch: "each dataset should have a namespace and name."'
TRUEWATCH_SIZE: Final = 'TrueWatch: "downstream still limits each decoded event to 8 MiB."'
TRUEWATCH_RUN: Final = 'TrueWatch: "Events for the same run must keep the same runId, job.namespace, and job.name."'
PORTAL_FIELDS: Final = (
    'Portal: "The following fields are required: eventType, eventTime, run (with runId), job (with namespace and '
    'name), producer, and schemaURL."'
)
PORTAL_TYPES: Final = 'Portal: "Must be one of START, RUNNING, COMPLETE, ABORT, FAIL, or OTHER."'
PORTAL_TIME: Final = 'Portal: "Must be an ISO-8601 timestamp including timezone offset."'
PORTAL_SCHEMA: Final = f'Portal: "Wrong schemaURL: Should be {protocol.PORTAL_SCHEMA_URL}."'
PORTAL_RUNS: Final = "Portal: its page describes run events only."


@dataclass(frozen=True, slots=True)
class Rules:
    """What one kind of destination asks; each rule is the sentence a finding quotes.

    Attributes:
        base: Of the fields that every event must have.
        names: Of the names that a run and a job must have, and of the shapes of the specification.
        time: Of the eventTime.
        types: Of the eventType's values.
        kinds: Of the kinds of event.
        datasets: Of a dataset's namespace and name.
        datasets_need_names: Whether a dataset without them is an error.
        shapes: How bad it is where something has another JSON type than the specification says.
        run_events_only: Whether other kinds are skipped.
        limit: Bytes, or None.
        trims: Whether an event above the limit is trimmed on the way, where that makes it fit.
    """

    base: str = SPEC
    names: str = SPEC
    time: str = SPEC
    types: str = SPEC
    kinds: str = SPEC
    datasets: str = SPEC
    datasets_need_names: bool = True
    shapes: Severity = "error"
    run_events_only: bool = False
    limit: int | None = None
    trims: bool = True


_TRUEWATCH: Final = Rules(
    base=TRUEWATCH_BASE,
    names=TRUEWATCH_SPEC,
    time=TRUEWATCH_BASE,
    types=TRUEWATCH_SPEC,
    kinds=TRUEWATCH_KINDS,
    datasets=TRUEWATCH_DATASETS,
    datasets_need_names=False,
    limit=protocol.MAX_DECODED_BYTES,
)
_PORTAL: Final = Rules(
    base=PORTAL_FIELDS,
    names=PORTAL_FIELDS,
    time=PORTAL_TIME,
    types=PORTAL_TYPES,
    kinds=PORTAL_FIELDS,
    datasets_need_names=False,
    shapes="warning",
    run_events_only=True,
)
RULES: Final = {
    "dataway": _TRUEWATCH,
    "datakit": _TRUEWATCH,
    "portal": _PORTAL,
    "openlineage": Rules(),
    "kafka": Rules(),
}
