"""The stage as leaders drain it: order per lane, offsets that are done, and partitions that go."""

from __future__ import annotations

import pytest
from support.kafka_staged import HERE, THERE, delivered, failed, message, refused

from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.spool import Standing

NOW = 1_800_000_000.0
READY, PAUSED = Standing(), Standing("paused", "503", NOW + 60)


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


def staged(*events, clock=None):
    stage = Stage([HERE, THERE], clock=clock or Clock())
    stage.add(events)
    return stage


def offsets_of(stage, queued, binding=HERE):
    return [stage._lanes[binding].get(one.id).event.offset for one in queued]


def heads(stage, limit=100, binding=HERE):
    found = stage.heads(binding, limit)
    return dict(zip(offsets_of(stage, found, binding), [one.id for one in found], strict=True))


def test_the_first_of_each_lane_may_leave_the_oldest_first():
    """One at a time of each lane, as many as are asked for."""
    part = Offsets(0)
    stage = staged(*[message(part, offset, key) for offset, key in enumerate("aabcab")])
    assert list(heads(stage, 2)) == [0, 2]
    assert list(heads(stage)) == [3]
    assert heads(stage) == {}
    assert stage.pending(HERE) == 6


def test_what_is_delivered_frees_its_lane_and_its_offset():
    """The next of the lane may leave; the offset is done once nothing before it is left."""
    part = Offsets(0)
    stage = staged(*[message(part, offset, key) for offset, key in enumerate("aab")])
    ids = heads(stage)
    stage.settle(HERE, [delivered(ids[2])], READY)
    assert (part.position, stage.delivered["here"], len(stage)) == (None, 1, 2)
    stage.settle(HERE, [delivered(ids[0])], READY)
    assert part.position == 1
    stage.settle(HERE, [delivered(heads(stage)[1])], READY)
    assert (part.position, len(stage), stage.bytes, stage.next_due(HERE)) == (3, 0, 0, None)


def test_what_failed_leaves_again_when_it_is_due():
    """Its own lane waits for it, and its attempts are noted as the spool notes them."""
    clock = Clock()
    stage = staged(message(Offsets(0), 0), message(Offsets(1), 7), clock=clock)
    first = heads(stage)[0]
    stage.settle(HERE, [failed(first, NOW + 5, attempt=3)], READY)
    assert (heads(stage), stage.next_due(HERE), stage.lane_due(first)) == ({}, NOW + 5, NOW + 5)
    clock.now += 5
    [again] = stage.heads(HERE, 5)
    assert (again.id, again.attempts, again.failed_at, again.failed_first, again.status) == (first, 1, 3, NOW, 503)
    stage.settle(HERE, [failed(first, attempt=9)], PAUSED)
    [again] = stage.probe(HERE)
    assert (again.id, again.attempts, again.failed_at) == (first, 2, 3)
    assert stage.standing(HERE) == PAUSED
    assert stage.standing(THERE) == READY


def test_a_clock_that_was_turned_back_keeps_nothing():
    """A due time further ahead than any that is set counts as due."""
    clock = Clock()
    stage = staged(message(Offsets(0), 0), clock=clock)
    stage.settle(HERE, [failed(heads(stage)[0], NOW + 60)], READY)
    clock.now -= 10 * 365 * 86_400
    assert stage.next_due(HERE) == 0.0
    assert list(heads(stage)) == [0]


def test_a_probe_takes_turns():
    """The head that was tried least, due or not."""
    part = Offsets(0)
    stage = staged(*[message(part, offset, key) for offset, key in enumerate("abc")])
    probed = []
    for _ in range(4):
        [one] = stage.probe(HERE)
        probed += offsets_of(stage, [one])
        stage.settle(HERE, [failed(one.id, NOW + 99)], PAUSED)
    assert probed == [0, 1, 2, 0]
    assert staged().probe(HERE) == []


def test_an_event_is_done_when_each_destination_has_it():
    """One that is down holds its offset, not the other one."""
    part = Offsets(0)
    stage = staged(message(part, 4, bindings=(HERE, THERE)), message(part, 5, bindings=(THERE,)))
    stage.settle(HERE, [delivered(heads(stage)[4])], READY)
    assert (part.position, stage.pending(HERE), stage.pending(THERE)) == (None, 0, 2)
    stage.settle(THERE, [delivered(heads(stage, binding=THERE)[4])], READY)
    assert part.position == 5


def test_what_goes_nowhere_is_done_at_once():
    """An event that every destination leaves out."""
    part = Offsets(0)
    stage = staged(message(part, 8, bindings=()))
    assert (part.position, len(stage)) == (9, 0)


def test_a_dead_letter_frees_its_lane_and_holds_its_offset():
    """Until it is kept for good, whether it was refused or could never be sent."""
    part = Offsets(0)
    stage = staged(message(part, 0, dead="no JSON"), message(part, 1), message(part, 2))
    ids = heads(stage)
    assert list(ids) == [1]
    stage.settle(HERE, [refused(ids[1], "too odd")], READY)
    assert list(heads(stage)) == [2]
    dead = stage.take_dead()
    assert [(parcel.event.offset, parcel.entry.dead, parcel.status) for parcel in dead] == [
        (0, "no JSON", None),
        (1, "too odd", 422),
    ]
    assert (stage.take_dead(), part.position, stage.dead["here"]) == ([], None, 2)
    for parcel in dead:
        stage.finish(parcel)
    assert part.position == 2


def test_what_a_leader_leaves_unsettled_waits_again():
    """When it gives its turn back, as after a fault."""
    stage = staged(message(Offsets(0), 0))
    turn = stage.leadership(HERE)
    assert (turn.try_acquire(), turn.try_acquire(), stage.leadership(THERE).try_acquire()) == (True, False, True)
    assert list(heads(stage)) == [0]
    turn.release()
    assert list(heads(stage)) == [0]


def test_a_partition_that_goes_takes_what_waits_with_it():
    """What is under way may end; what it comes to later is nothing to anybody."""
    going, staying = Offsets(0), Offsets(1)
    stage = staged(message(going, 0, "a"), message(going, 1, "a"), message(going, 2, "b"), message(staying, 3, "a"))
    ids = heads(stage, 1)
    stage.revoke([going])
    assert (stage.flying([going]), stage.flying([staying]), stage.pending(HERE)) == (1, 0, 2)
    stage.settle(HERE, [delivered(ids[0])], READY)
    assert (going.position, stage.flying([going])) == (1, 0)
    stage.forget([going])
    assert list(heads(stage)) == [3]
    assert len(stage) == 1


@pytest.mark.parametrize("settlement", [delivered, refused, failed])
def test_a_settlement_that_comes_too_late_is_left_alone(settlement):
    """The event of a partition that is gone may be another gateway's by now."""
    going = Offsets(0)
    stage = staged(message(going, 0), message(going, 1))
    ids = heads(stage)
    stage.revoke([going])
    stage.forget([going])
    stage.settle(HERE, [settlement(ids[0])], READY)
    stage.leadership(HERE).try_acquire()
    stage.leadership(HERE).release()
    assert (going.position, len(stage), stage.pending(HERE), stage.take_dead()) == (None, 0, 0, [])
    assert stage.bytes == 0


@pytest.mark.parametrize("settlement", [delivered, refused, failed])
def test_an_attempt_may_end_while_its_partition_goes(settlement):
    """Delivered counts; what failed is not tried again here."""
    going = Offsets(0)
    stage = staged(message(going, 0), message(going, 1))
    ids = heads(stage)
    stage.revoke([going])
    stage.settle(HERE, [settlement(ids[0])], READY)
    assert going.position == (1 if settlement is delivered else None)
    assert heads(stage) == {}


def test_a_lane_that_the_spool_holds_waits():
    """Until it is let go, also for the probe; what is blocked is not what the destination has to be tried for."""
    stage = Stage([HERE, THERE], clock=Clock())
    part = Offsets(0)
    stage.add([message(part, 0, "a"), message(part, 1, "b")], {(HERE, "kafka:a")})
    assert list(heads(stage)) == [1]
    stage.add([message(part, 2, "a")])
    assert (stage.probe(HERE), stage.pending(HERE), stage.blocked(HERE)) == ([], 1, ["kafka:a"])
    stage.unblock(HERE, ["kafka:a", "kafka:gone"])
    assert (list(heads(stage)), stage.pending(HERE)) == ([0], 3)


def test_only_events_before_an_id_are_counted():
    """And no more than are asked for."""
    part = Offsets(0)
    stage = staged(*[message(part, offset) for offset in range(5)])
    assert stage.pending(HERE, before=3) == 2
    assert stage.pending(HERE, limit=1) == 1
    assert stage.is_pending(5)
    assert not stage.is_pending(6)
    assert stage.lane_due(6) is None
