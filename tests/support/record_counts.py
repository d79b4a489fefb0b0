"""Counts the records that TrueWatch's page promises for an event, on its own: nothing of the receiver is imported.

Written from the page's sentences as plain loops over the event, to check the projection against something else than
itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def events_of(paths: Iterable[Path]) -> Iterator[bytes]:
    """Yield the events of files, as bytes: a ``.json`` file is one event, others have one a line."""
    for path in sorted(paths):
        if path.suffix == ".json":
            yield path.read_bytes().strip()
        else:
            yield from (line.strip() for line in path.read_bytes().splitlines() if line.strip())


def count_records(bodies: Iterable[bytes]) -> dict[str, int]:
    """Count the records of distinct events by type.

    Args:
        bodies: Events as JSON; the same bytes are one event.
    """
    total: Counter[str] = Counter()
    for body in set(bodies):
        total += Counter(_of_event(json.loads(body)))
    return dict(total)


def _of_event(event: dict[str, Any]) -> dict[str, int]:
    is_dataset_event = not isinstance(event.get("job"), dict)
    is_job_event = not is_dataset_event and not isinstance(event.get("run"), dict)
    found = {"event": 1}
    # "Only DatasetEvent produces a dataset record."
    if is_dataset_event:
        found["dataset"] = 1
        mentioned = [event["dataset"]]
    else:
        mentioned = [one for side in ("inputs", "outputs") for one in event.get(side) or [] if _is_named(one)]
        # "RunEvent and JobEvent produce dataset_edge records from their inputs and outputs."
        edges = {
            (side, one["namespace"], one["name"])
            for side in ("inputs", "outputs")
            for one in event.get(side) or []
            if _is_named(one)
        }
        found["dataset_edge"] = len(edges)
    if is_job_event:
        found["job"] = 1
    schemas, fields = set(), set()
    for one in mentioned:
        schemas |= _schemas(one)
        fields |= _fields(one)
    found["schema_version"], found["field_edge"] = len(schemas), len(fields)
    return {kind: count for kind, count in found.items() if count}


def _is_named(dataset: Any) -> bool:
    return isinstance(dataset, dict) and all(
        isinstance(dataset.get(key), str) and dataset[key] for key in ("namespace", "name")
    )


def _facet(dataset: dict[str, Any], name: str) -> dict[str, Any]:
    facets = dataset.get("facets")
    facet = facets.get(name) if isinstance(facets, dict) else None
    return facet if isinstance(facet, dict) and facet.get("_deleted") is not True else {}


def _schemas(dataset: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return the distinct schemas of a dataset: "schema_version holds a schema summary"."""
    listed = _facet(dataset, "schema").get("fields")
    columns = [field for field in listed if isinstance(field, dict)] if isinstance(listed, list) else []
    shape = tuple((column["name"], str(column.get("type") or "")) for column in columns if column.get("name"))
    return {(dataset["namespace"], dataset["name"], shape)} if shape else set()


def _fields(dataset: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return the distinct column-level edges into a dataset: "field_edge represents column-level lineage"."""
    facet = _facet(dataset, "columnLineage")
    into = [(name, field.get("inputFields") or []) for name, field in (facet.get("fields") or {}).items()]
    into.append(("", facet.get("dataset") or []))
    return {
        (dataset["namespace"], dataset["name"], column, origin["namespace"], origin["name"], origin["field"])
        for column, origins in into
        for origin in origins
        if isinstance(origin, dict) and _is_named(origin) and origin.get("field")
    }
