"""What the events of a run of dbt come to: runs with their START and end, jobs, datasets, columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
Origin = tuple[str, str, str, str]
"""Dataset, column, type and subtype of the transformation."""

TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})


@dataclass
class Run:
    """The events of one runId, in order."""

    events: list[Event] = field(default_factory=list)

    @property
    def types(self) -> list[str]:
        """Their types."""
        return [event["eventType"] for event in self.events]

    @property
    def end(self) -> Event:
        """The last of them."""
        return self.events[-1]

    @property
    def job(self) -> str:
        """The job's name; AssertionError where two of its events differ."""
        found: set[tuple[str, str]] = {(event["job"]["namespace"], event["job"]["name"]) for event in self.events}
        assert len(found) == 1, found
        return found.pop()[1]

    def is_whole(self) -> bool:
        """Tell whether it is one START, then one terminal event."""
        return len(self.types) == 2 and self.types[0] == "START" and self.types[1] in TERMINAL


def distinct(events: Iterable[Event]) -> list[Event]:
    """Leave out what arrived again, as may whatever a sender had in flight when it ended: delivery is at least once."""
    return list({json.dumps(event, sort_keys=True): event for event in events}.values())


def runs_of(events: Iterable[Event]) -> dict[str, Run]:
    """Group run events by their runId, in the order of the first of each; others are left out."""
    runs: dict[str, Run] = {}
    for event in events:
        if "run" in event:
            runs.setdefault(event["run"]["runId"], Run()).events.append(event)
    return runs


def dbt_node(event: Event) -> str | None:
    """Give the unique_id of the node that an event speaks of, or None: upstream's facet ``dbt_node`` holds it."""
    node: str | None = event["job"].get("facets", {}).get("dbt_node", {}).get("unique_id")
    return node


def names(datasets: Sequence[Event]) -> list[str]:
    """Give the names of inputs or outputs."""
    return [dataset["name"] for dataset in datasets]


def column_origins(dataset: Event) -> dict[str, set[Origin]]:
    """Give what each column comes from, and under ``*`` what the whole dataset does.

    The spec allows what concerns all columns in ``dataset`` or at each field: INDIRECT origins but WINDOW and
    CONDITIONAL that every field has count as the whole's.
    """
    facet = dataset.get("facets", {}).get("columnLineage", {})
    found = {name: _origins(entry["inputFields"]) for name, entry in facet.get("fields", {}).items()}
    whole = _origins(facet.get("dataset", []))
    of_rows = [
        {one for one in origins if one[3] in {"JOIN", "FILTER", "GROUP_BY", "SORT"}} for origins in found.values()
    ]
    whole |= set.intersection(*of_rows) if of_rows else set()
    return {**{name: origins - whole for name, origins in found.items()}, "*": whole}


def _origins(fields: Sequence[Event]) -> set[Origin]:
    return {
        (one["name"], one["field"], transformation["type"], transformation["subtype"])
        for one in fields
        for transformation in one["transformations"]
    }
