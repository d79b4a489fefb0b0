"""The receiver's own checks of an event: what the destination's page asks for, and what it only advises.

Quotations: (T) TrueWatch's "OpenLineage" page, (P) Spotify Portal's "Data Lineage" page, (S) the OpenLineage
specification 2-0-2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from truewatch_lineage import protocol
from truewatch_lineage.receiver.rules import Rules
from truewatch_lineage.receiver.times import ISO_8601, seconds

Kind = Literal["RunEvent", "JobEvent", "DatasetEvent"]


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IDENTITY: dict[Kind, tuple[str, ...]] = {
    # What T tells one run from another by: "the same runId, job.namespace, and job.name".
    "RunEvent": ("run.runId", "job.namespace", "job.name"),
    "JobEvent": ("job.namespace", "job.name"),
    "DatasetEvent": ("dataset.namespace", "dataset.name"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of an event.

    Attributes:
        path: Where, as a JSON path.
        message: What is wrong.
        code: The error code's second part.
        error: Whether the destination refuses the event for it; otherwise a warning.
    """

    path: str
    message: str
    code: str = "invalidField"
    error: bool = True


def kind_of(tree: Mapping[str, Any]) -> Kind | None:
    """Tell an event's type; T: "identifies the type from the top-level run, job, and dataset objects"."""
    run = isinstance(tree.get("run"), dict)
    if isinstance(tree.get("job"), dict):
        return "RunEvent" if run else "JobEvent"
    return "DatasetEvent" if isinstance(tree.get("dataset"), dict) and not run else None


def check(tree: dict[str, Any], rules: Rules, *, strict: bool) -> list[Finding]:
    """Check an event by one destination's rules.

    Args:
        tree: The event.
        rules: The destination's.
        strict: Whether formats that real events break, and the page does not ask for, are errors too.

    Returns:
        Errors and warnings, in the order of the event's fields.
    """
    findings = [*_identity(tree, rules), *_required(tree, rules), *_formats(tree, rules), *_datasets(tree)]
    if strict:
        return [Finding(item.path, item.message, item.code) for item in findings]
    return findings


def _identity(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    kind = kind_of(tree)
    if rules.run_events_only and kind != "RunEvent":
        # P: "The following fields are required: … run (with runId), job (with namespace and name)".
        missing = "run" if not isinstance(tree.get("run"), dict) else "job"
        yield Finding(f"$.{missing}", "must be an object: only run events are taken here", "missingField")
        return
    if kind is None:
        message = "needs the objects run and job, or job, or dataset at the top level"
        yield Finding("$", message, "unknownEvent")
        return
    for path in _IDENTITY[kind]:
        parent, name = path.split(".")
        yield from _text(tree[parent], name, f"$.{path}")


def _required(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    for name in rules.required:
        yield from _text(tree, name, f"$.{name}")


def _text(owner: dict[str, Any], name: str, path: str) -> Iterator[Finding]:
    value = owner.get(name)
    if value is None:
        yield Finding(path, "is required", "missingField")
    elif not isinstance(value, str) or not value:
        yield Finding(path, "must be a text that is not empty")


def _formats(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    yield from _event_time(tree.get("eventTime"), rules)
    yield from _event_type(tree, rules)
    yield from _schema_url(tree.get("schemaURL"), rules)
    producer = tree.get("producer")
    if isinstance(producer, str) and producer and not _URI.fullmatch(producer):
        yield Finding("$.producer", "is no absolute URI", error=False)
    run = tree.get("run")
    run_id = run.get("runId") if isinstance(run, dict) else None
    if isinstance(run_id, str) and run_id and not _UUID.fullmatch(run_id):
        yield Finding("$.run.runId", "is no UUID", error=False)


def _event_time(value: object, rules: Rules) -> Iterator[Finding]:
    if not isinstance(value, str) or not value:
        return
    match = ISO_8601.fullmatch(value)
    if match is None or seconds(value) is None:
        yield Finding("$.eventTime", "is no ISO 8601 timestamp such as 2026-08-03T19:40:00.000Z")
    elif match[3] is None:
        yield Finding("$.eventTime", "has no time zone offset such as Z or +02:00", error=rules.needs_offset)


def _event_type(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    if kind_of(tree) != "RunEvent":
        return
    value = tree.get("eventType")
    if rules.needs_event_type and value is None:
        yield Finding("$.eventType", "is required", "missingField")
    elif value is not None and value not in protocol.EVENT_TYPES:
        # P: "Must be one of START, RUNNING, COMPLETE, ABORT, FAIL, or OTHER."; T does not say.
        message = f"must be one of {', '.join(protocol.EVENT_TYPES)}"
        yield Finding("$.eventType", message, error=rules.needs_event_type or not isinstance(value, str))


def _schema_url(value: object, rules: Rules) -> Iterator[Finding]:
    if rules.schema_url is not None:
        if _filled(value) and value != rules.schema_url:
            yield Finding("$.schemaURL", f"must be {rules.schema_url}")
    elif value is None:
        if "schemaURL" not in rules.required:
            yield Finding("$.schemaURL", "is missing", "missingField", error=False)
    elif isinstance(value, str) and value and not _URI.fullmatch(value):
        yield Finding("$.schemaURL", "is no absolute URI", error=False)


def _datasets(tree: dict[str, Any]) -> Iterator[Finding]:
    for side in ("inputs", "outputs"):
        if side not in tree:
            continue
        if not isinstance(tree[side], list):
            yield Finding(f"$.{side}", "must be an array of datasets", error=tree[side] is not None)
            continue
        for index, dataset in enumerate(tree[side]):
            yield from _dataset(dataset, f"$.{side}[{index}]")


def _dataset(dataset: object, path: str) -> Iterator[Finding]:
    if not isinstance(dataset, dict):
        yield Finding(path, "must be an object")
        return
    for name in ("namespace", "name"):
        if not _filled(dataset.get(name)):
            # T: "each dataset should have a namespace and name": advice, not a condition.
            yield Finding(f"{path}.{name}", "should be a text that is not empty", error=False)


def _filled(value: object) -> bool:
    return isinstance(value, str) and bool(value)
