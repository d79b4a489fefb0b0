"""What waits too long goes to the spool, and what comes later does not overtake it."""

from __future__ import annotations

import pytest
from support.kafka_staged import HERE, THERE, delivered, failed, message
from support.spool_audit import audit

from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.spill import STUCK_SECONDS, Spill
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.spool import Standing, Store

HOLD = 300.0
READY, DOWN = Standing(), Standing("paused", "refused", 1e12)


@pytest.fixture
def store(tmp_path):
    """Give an open spool."""
    store = Store(tmp_path / "spool", max_bytes=1_000_000, shares=2)
    yield store
    store.close()


def made(store, *events):
    stage = Stage([HERE, THERE])
    spill = Spill(stage, store, [HERE, THERE], HOLD)
    stage.add(events, spill.blocked(events))
    return stage, spill


def spooled(store, binding=HERE):
    """The lanes of what waits in the spool, in order; delivers it."""
    lanes = []
    while found := store.heads(binding, 1):
        lanes += [found[0].lane]
        store.settle(binding, [delivered(found[0].id)], READY)
    return lanes


def test_only_what_has_waited_too_long_is_moved(store):
    """Its offset is done once the spool has committed it; an event that was read just now stays."""
    part = Offsets(0)
    stage, spill = made(store, message(part, 0, "a", age=HOLD + 1), message(part, 1, "b", age=HOLD - 10))
    spill.turn(crowded=False)
    assert (part.position, stage.pending(HERE), spill.spilled["here"]) == (1, 1, 1)
    assert store.pending(HERE) == 1
    assert audit(store).faults == ()
    assert spooled(store) == ["kafka:a"]


def test_what_is_under_way_is_not_moved(store):
    """Nor what follows it: it must not be in two places, and not be overtaken."""
    part = Offsets(0)
    stage, spill = made(store, *[message(part, offset, "a", age=HOLD + 1) for offset in range(2)])
    [flying] = stage.heads(HERE, 5)
    spill.turn(crowded=False)
    assert store.pending(HERE) == 0
    stage.settle(HERE, [failed(flying.id)], READY)
    spill.turn(crowded=False)
    assert (store.pending(HERE), part.position) == (2, 2)


def test_a_later_event_waits_until_the_spool_has_delivered_its_lane(store, monkeypatch):
    """Whether it was there before or comes after, and after a restart too; another lane does not wait."""
    part = Offsets(0)
    stage, spill = made(store, message(part, 0, "a", age=HOLD + 1), message(part, 1, "a"), message(part, 2, "b"))
    spill.turn(crowded=False)
    assert [one.lane for one in stage.heads(HERE, 5)] == ["kafka:b"]
    later = message(part, 3, "a")
    stage.add([later], spill.blocked([later]))
    assert stage.heads(HERE, 5) == []

    restarted, again = made(store, message(Offsets(0), 3, "a"), message(Offsets(0), 4, "c"))
    assert [one.lane for one in restarted.heads(HERE, 5)] == ["kafka:c"]

    assert spooled(store) == ["kafka:a"]
    monkeypatch.setattr("truewatch_lineage.gateway.kafka.spill._LOOK_SECONDS", 0.0)
    for each in (spill, again):
        each._look_at = 0.0
        assert each.turn(crowded=False) is True
    assert [one.lane for one in stage.heads(HERE, 5)] == ["kafka:a"]
    assert [one.lane for one in restarted.heads(HERE, 5)] == ["kafka:a"]


def test_the_spool_is_not_asked_while_it_holds_nothing_of_kafka(store):
    """After one look; what HTTP has brought there is none of it."""
    _, spill = made(store)
    spill.turn(crowded=False)
    store.close()
    store.database.path.rename(store.database.path.with_name("elsewhere"))
    assert spill.blocked([message(Offsets(0), 0)]) == set()
    assert not store.database.path.exists()


@pytest.mark.parametrize(("crowded", "ready", "moved"), [(True, True, 1), (False, True, 0), (True, False, 0)])
def test_a_full_stage_moves_what_holds_up_others(store, crowded, ready, moved):
    """Where one destination is stopped and another is ready; where all are stopped, Kafka keeps the rest."""
    part = Offsets(0)
    stage, spill = made(store, message(part, 0, bindings=(HERE, THERE), age=STUCK_SECONDS + 1))
    stage.settle(HERE, [], DOWN)
    stage.settle(THERE, [], READY if ready else DOWN)
    spill.turn(crowded=crowded)
    assert (store.pending(HERE), store.pending(THERE)) == (moved, 0)
    assert (stage.pending(HERE), stage.pending(THERE)) == (1 - moved, 1)


@pytest.mark.parametrize(("state", "then"), [("paused", "ready"), ("parked", "parked")])
def test_the_spool_tries_at_once_what_the_stage_sees_answer(store, state, then):
    """Its own pause, which grew with each start in an outage, may have minutes left; a refused token stays refused."""
    part = Offsets(0)
    stage, spill = made(store, message(part, 0, "a", age=HOLD + 1), message(part, 1, "b"))
    spill.turn(crowded=False)
    stopped = Standing(state, "refused", 1e12, failures=9)
    store.settle(HERE, [], stopped)
    spill._look_at = 0.0
    spill.turn(crowded=False)
    assert store.standing(HERE) == stopped
    [other] = stage.heads(HERE, 5)
    stage.settle(HERE, [delivered(other.id)], READY)
    spill._look_at = 0.0
    spill.turn(crowded=False)
    assert store.standing(HERE).state == then


def test_what_the_spool_has_no_room_for_goes_on_waiting(tmp_path, caplog):
    """In its place, and nothing of its lane overtakes it; its offset is not done."""
    store = Store(tmp_path / "small", max_bytes=70, shares=1)
    part = Offsets(0)
    stage, spill = made(store, *[message(part, offset, key, age=HOLD + 1) for offset, key in enumerate("aabb")])
    spill.turn(crowded=False)
    kept = store.pending(HERE)
    assert 0 < kept < 4
    assert (len(stage), part.position) == (4 - kept, kept)
    assert [record.message for record in caplog.records] == [
        "Events of Kafka for `here` wait in memory: its share of the spool is full."
    ]
    spooled(store)
    spill.turn(crowded=False)
    assert len(stage) < 4 - kept
    store.close()


def test_a_dead_letter_that_finds_no_topic_is_kept_as_one(store):
    """With the reason, and the text where it could not be read."""
    part = Offsets(0)
    event = message(part, 0, dead="no JSON")
    event.parcels[0].entry = event.parcels[0].entry.__class__(HERE, "kafka:a", None, dead="no JSON")
    stage, spill = made(store, event)
    assert spill.bury(stage.take_dead()) == []
    assert part.position == 1
    assert len(audit(store).dead) == 1
    with store.database.read() as connection:
        assert connection.execute("SELECT reason, data FROM event JOIN body ON body.id = body_id").fetchone() == (
            "no JSON",
            event.original,
        )
