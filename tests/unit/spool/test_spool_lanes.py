"""Which lanes have events that wait."""

from __future__ import annotations

import pytest

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from truewatch_lineage.spool.lanes import any_waiting, waiting

HERE = Binding("here", "dataway", "https://here.example/v1/write/openlineage")
THERE = Binding("there", "dataway", "https://there.example/v1/write/openlineage")


@pytest.fixture
def store(tmp_path):
    """Give an open spool."""
    store = Store(tmp_path / "spool")
    yield store
    store.close()


def test_lanes_with_pending_events_are_found(store):
    """Of a destination's own, and not of dead letters or delivered events."""
    ids = store.put(
        [
            Entry(HERE, "kafka:a", b"1"),
            Entry(HERE, "kafka:b", b"2"),
            Entry(HERE, "kafka:dead", b"3", dead="no"),
            Entry(THERE, "kafka:c", b"4"),
        ]
    )
    store.settle(HERE, [Settlement(ids[1], 1, "delivered")], Standing())
    assert waiting(store, HERE, ["kafka:a", "kafka:b", "kafka:c", "kafka:dead", "kafka:none"]) == {"kafka:a"}
    assert waiting(store, THERE, ["kafka:a", "kafka:c"]) == {"kafka:c"}
    assert waiting(store, HERE, []) == set()


def test_a_thousand_lanes_can_be_asked_for(store):
    """More than SQLite takes as values of one statement."""
    store.put([Entry(HERE, f"kafka:{number}", b"") for number in range(0, 1500, 2)])
    found = waiting(store, HERE, [f"kafka:{number}" for number in range(1500)])
    assert found == {f"kafka:{number}" for number in range(0, 1500, 2)}


@pytest.mark.parametrize(
    ("lane", "dead", "found"),
    [("kafka:a", None, True), ("kafka:", None, True), ("run:a", None, False), ("kafka:a", "no", False)],
)
def test_a_prefix_tells_whether_any_lane_waits(store, lane, dead, found):
    """Pending events of lanes whose names begin so."""
    assert not any_waiting(store, HERE, "kafka:")
    store.put([Entry(HERE, lane, b"1", dead=dead)])
    assert any_waiting(store, HERE, "kafka:") is found
    assert not any_waiting(store, THERE, "kafka:")
