"""Quick looks into a spool: whether something may leave now, and how old the oldest is."""

from __future__ import annotations

import gzip

import pytest
from support.couriers import Clock

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from truewatch_lineage.spool.glance import ages, has_due

NOW = 1_790_000_000.0
OLD = Binding("one", "dataway", "https://old.example/v1/write/openlineage")
ONE = Binding("one", "dataway", "https://one.example/v1/write/openlineage")
TWO = Binding("two", "portal", "https://portal.example/api/data-registry/lineage")


@pytest.fixture
def clock():
    """A clock."""
    return Clock(NOW)


@pytest.fixture
def store(tmp_path, clock):
    """A spool with that clock."""
    made = Store(tmp_path / "spool", max_bytes=1 << 20, clock=clock)
    yield made
    made.close()


def _put(store, binding=ONE):
    return store.put([Entry(binding, "run:r", gzip.compress(b"{}", mtime=0), "START", "ns/job", "r")])[0]


@pytest.mark.parametrize(
    ("standing", "due"),
    [
        (Standing(), True),
        (Standing(state="paused", until=NOW + 60), False),
        (Standing(state="parked", until=NOW + 60), False),
        (Standing(state="paused", until=NOW - 1), True),
        (Standing(state="parked", until=NOW), True),
        (Standing(state="parked", until=NOW + 7200), True),  # the clock was turned back
    ],
)
def test_a_stopped_destination_has_nothing_due_until_its_next_try(store, standing, due) -> None:
    """What a leader would not try is not due, and an unlikely time counts as past, as for the leader."""
    _put(store)
    store.settle(ONE, [], standing)

    assert has_due(store) is due


@pytest.mark.parametrize(("ahead", "due"), [(0.0, True), (60.0, False), (7200.0, True)])
def test_an_event_that_waits_for_a_later_time_is_not_due(store, ahead, due) -> None:
    """Its lane waits by itself, though the destination is ready."""
    store.settle(ONE, [Settlement(_put(store), 1, "wait", due=NOW + ahead)], Standing())

    assert has_due(store) is due


@pytest.mark.parametrize("what", ["nothing", "a delivered event", "a dead letter"])
def test_nothing_is_due_where_nothing_waits(store, what) -> None:
    """A spool that has delivered or given up all it had is left alone."""
    if what != "nothing":
        store.settle(ONE, [Settlement(_put(store), 1, "dead" if "dead" in what else "delivered")], Standing())

    assert has_due(store) is False


def test_events_of_other_settings_are_not_due(store, clock) -> None:
    """They wait for ``rebind``: settings that are not in use any more can't deliver them."""
    store.register(OLD)
    _put(store, OLD)
    clock.now += 1
    store.register(ONE)

    assert has_due(store) is False
    _put(store, ONE)
    assert has_due(store) is True


def test_ages_are_told_by_destination(store, clock) -> None:
    """The oldest that waits counts, whichever settings it waits for; dead letters do not."""
    _put(store, OLD)
    clock.now += 10
    _put(store, ONE)
    store.settle(TWO, [Settlement(_put(store, TWO), 1, "dead")], Standing())
    clock.now += 5

    assert ages(store) == {"one": 15.0}
