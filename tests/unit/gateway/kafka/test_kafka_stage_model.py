"""The stage against a model: whatever happens, lanes stay in order and an offset is done once all before it are."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from support.kafka_staged import HERE, delivered, failed, message, refused

from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.spool import Standing

READY = Standing()


class StageMachine(RuleBasedStateMachine):
    """One destination and one partition; offsets are numbered from 0."""

    def __init__(self):
        super().__init__()
        self.part = Offsets(0)
        self.stage = Stage([HERE])
        self.events = []
        self.waiting = {key: [] for key in "abcd"}
        self.flying = {}
        self.done = set()

    @rule(key=st.sampled_from("abcd"))
    def add(self, key):
        """An event is read; a lane that the spool holds stays blocked."""
        event = message(self.part, len(self.events), key)
        self.events.append(event)
        self.waiting[key].append(event.offset)
        lane = f"kafka:{key}"
        self.stage.add([event], {(HERE, lane)} if lane in self.stage.blocked(HERE) else ())

    @rule(limit=st.integers(1, 4), probe=st.booleans())
    def take(self, limit, probe):
        """A leader takes heads, or one to probe with: each the first of its lane, and not under way."""
        for queued in self.stage.probe(HERE) if probe else self.stage.heads(HERE, limit):
            offset = self.stage._lanes[HERE].get(queued.id).event.offset
            key = queued.lane.removeprefix("kafka:")
            assert self.waiting[key][0] == offset
            assert queued.id not in self.flying
            self.flying[queued.id] = (key, offset)

    @precondition(lambda self: self.flying)
    @rule(which=st.integers(0, 9), settlement=st.sampled_from([delivered, refused, failed]))
    def settle(self, which, settlement):
        """An attempt ends in one of three ways; a dead letter is kept at once."""
        event_id = sorted(self.flying)[which % len(self.flying)]
        key, offset = self.flying.pop(event_id)
        self.stage.settle(HERE, [settlement(event_id)], READY)
        for dead in self.stage.take_dead():
            self.stage.finish(dead)
        if settlement is not failed:
            self.waiting[key].remove(offset)
            self.done.add(offset)

    @precondition(lambda self: self.events)
    @rule(until=st.integers(0, 9), fits=st.booleans())
    def spill(self, until, fits):
        """What is old is taken out for the spool, which has room for it or not."""
        taken = self.stage.withdraw(self.events[until % len(self.events)].arrived)
        assert not {parcel.id for parcel in taken} & set(self.flying)
        if not fits:
            self.stage.put_back(taken)
            return
        for parcel in taken:
            self.waiting[parcel.entry.lane.removeprefix("kafka:")].remove(parcel.event.offset)
            self.done.add(parcel.event.offset)
            self.stage.finish(parcel)

    @rule()
    def unblock(self):
        """The spool has delivered what it had."""
        self.stage.unblock(HERE, self.stage.blocked(HERE))

    @invariant()
    def offsets_are_done_without_a_gap(self):
        """What may be committed is the first offset that is not done."""
        first = next(number for number in range(len(self.events) + 1) if number not in self.done)
        assert (self.part.position or 0) == first
        assert len(self.stage) == len(self.events) - len(self.done)

    def teardown(self):
        """Everything that is left can be delivered."""
        self.unblock()
        for event_id in self.flying:
            self.stage.settle(HERE, [delivered(event_id)], READY)
        while found := self.stage.heads(HERE, 100):
            self.stage.settle(HERE, [delivered(one.id) for one in found], READY)
        assert (len(self.stage), self.part.position or 0, self.stage.bytes) == (0, len(self.events), 0)


TestStage = StageMachine.TestCase
