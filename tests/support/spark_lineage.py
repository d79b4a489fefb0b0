"""What the job ``harbour.py`` did, as its events should tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

EDGES = {("ships.csv", "visits"), ("calls.csv", "visits"), ("visits", "busiest"), ("visits", "berths")}
"""Which of its files and tables each is made from, by the last part of their names."""

COLUMNS = {("visits", "name", "ships.csv", "name"), ("visits", "port", "calls.csv", "port")}
"""Columns of what the join writes, and their origins."""


def edges(events: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return (input, output) of every event, by the last part of their names."""
    return {
        (_last(a["name"]), _last(b["name"])) for one in events for a in _of(one, "inputs") for b in _of(one, "outputs")
    }


def columns(events: Iterable[Mapping[str, Any]]) -> set[tuple[str, str, str, str]]:
    """Return (dataset, column, origin's dataset, origin's column) of every event."""
    return {
        (_last(output["name"]), column, _last(origin["name"]), origin["field"])
        for one in events
        for output in _of(one, "outputs")
        for column, made in output.get("facets", {}).get("columnLineage", {}).get("fields", {}).items()
        for origin in made["inputFields"]
    }


def failed(events: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return what runs that failed would have written."""
    return {_last(output["name"]) for one in events if one["eventType"] == "FAIL" for output in _of(one, "outputs")}


def applications(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the types of the events of the application itself, which has no parent."""
    return [one["eventType"] for one in events if "parent" not in one["run"]["facets"]]


def assert_whole(events: list[dict[str, Any]], namespace: str) -> None:
    """Raise AssertionError unless the events tell all that the job did, in a namespace."""
    assert edges(events) >= EDGES
    assert columns(events) >= COLUMNS
    assert failed(events) == {"berths"}
    assert applications(events)[0] == "START"
    assert applications(events)[-1] == "COMPLETE"
    assert {one["job"]["namespace"] for one in events} == {namespace}


def _of(event: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    return event.get(side) or []


def _last(name: str) -> str:
    return (
        name.rstrip("/").rpartition("/")[2].rpartition(".")[2] if name.endswith("busiest") else name.rpartition("/")[2]
    )
