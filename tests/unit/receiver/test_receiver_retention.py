"""What is kept: the newest events by age and size, and the graph they say."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time

import pytest

from truewatch_lineage.receiver import graph_writer, nodes, queries, retention
from truewatch_lineage.receiver.arrival import Arrival
from truewatch_lineage.receiver.retention import Keep
from truewatch_lineage.receiver.store import Store

DAY = 86_400
MIB = 2**20


def arrival(number, *, age=0.0, padding=0):
    """Build an event of a job and a run of its own."""
    tree = {
        "eventType": "START",
        "eventTime": "2026-10-21T08:00:00Z",
        "run": {"runId": f"run-{number}"},
        "job": {"namespace": "ns", "name": f"job-{number}"},
        "outputs": [{"namespace": "db", "name": f"table-{number}"}],
        "padding": "x" * padding,
    }
    made = Arrival.of("dataway", json.dumps(tree).encode(), tree, [])
    return dataclasses.replace(made, arrived_at=time.time() - age)


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a store with what to keep."""
    with contextlib.ExitStack() as stack:
        yield lambda **keep: stack.enter_context(contextlib.closing(Store(tmp_path / "events.sqlite", Keep(**keep))))


def test_old_events_go(opened) -> None:
    """By the time they came, whatever their eventTime says; the newer stay."""
    store = opened(days=2)
    store.fill([arrival(number, age=3 * DAY) for number in range(3)])
    store.fill([arrival(9)])

    shown, _ = queries.events(store._reader, {})
    stats = queries.stats(store._reader)

    assert [event["job_name"] for event in shown] == ["job-9"]
    assert (stats["events"], stats["evicted"], stats["records"]) == (1, 3, {"event": 1, "dataset_edge": 1})


def test_the_oldest_events_go_when_the_file_is_full(opened) -> None:
    """The file stays near its size, and what is left is the newest."""
    store = opened(size=4 * MIB)
    for number in range(60):
        store.fill([arrival(number, padding=200_000)])

    shown, _ = queries.events(store._reader, {}, limit=1000)
    kept = [int(event["job_name"].removeprefix("job-")) for event in shown]

    assert kept == list(range(kept[0], 60))
    assert 10 <= len(kept) < 30
    assert queries.stats(store._reader)["bytes"] <= 5 * MIB


def test_the_graph_forgets_what_no_event_says_any_more(opened, monkeypatch) -> None:
    """Nodes, edges and runs of events that are gone go too, some time later."""
    monkeypatch.setattr(graph_writer, "TOUCH_EVERY", 1000)
    monkeypatch.setattr(retention, "TOUCH_EVERY", 1000)
    store = opened(days=1)
    store.fill([arrival(number, age=2 * DAY) for number in range(2500)])
    store.fill([arrival(number) for number in range(2500, 3600)])
    for _ in range(10):
        store._retention.sweep(time.time())

    stats = queries.stats(store._reader)

    assert stats["events"] == 1100
    assert stats["jobs"] <= 2600
    assert stats["runs"]["total"] < 2200
    assert nodes.resolve(store._reader, "job:ns|job-0") is None
    assert nodes.resolve(store._reader, "job:ns|job-3599") is not None


def test_places_are_never_used_again(opened) -> None:
    """After clearing, paging goes on where it was."""
    store = opened()
    store.fill([arrival(1)])
    before = queries.last_seq(store._reader)
    store._writer.clear()
    store.fill([arrival(1)])

    assert queries.last_seq(store._reader) > before
