"""The store against a model: hypothesis looks for a sequence of calls after which the two disagree."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from support.figures import show
from support.spool_audit import audit

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, admin
from truewatch_lineage.spool.queries import CLOCK_TOLERANCE
from truewatch_lineage.spool.share import DEAD_PART

BINDINGS = (
    Binding("a", "dataway", "http://a"),
    Binding("b", "portal", "http://b"),
    Binding("a", "dataway", "http://c"),
)
SHARE = 300
DAY = 86_400.0
YEAR = 365 * DAY
LANES = ("run:1", "run:2", "dataset:ns/näme", "")

bindings = st.sampled_from(BINDINGS)
bodies = st.sampled_from([b"", b"same", b"x" * 60, b"y" * 61, b"z" * 75, b"w" * 76]) | st.binary(max_size=90)
entries = st.builds(
    Entry,
    binding=bindings,
    lane=st.sampled_from(LANES),
    body=bodies,
    event_type=st.sampled_from([None, "START"]),
    dead=st.sampled_from([None, None, None, "can't be serialised"]),
)
standings = st.builds(
    Standing,
    state=st.sampled_from(["ready", "paused", "parked"]),
    until=st.none() | st.floats(0, 1e10),
    failures=st.integers(0, 9),
    attempts=st.integers(0, 99),
    parked_with=st.none() | st.text("0f", max_size=4),
)
jumps = st.sampled_from([0.5, 60.0, 2 * 3600.0, 8 * DAY, -0.5, -2 * 3600.0, 10 * YEAR, -10 * YEAR])


@dataclass
class Event:
    """An event as the model knows it."""

    binding: Binding
    lane: str
    size: int
    body: bytes | None
    dead: bool
    due: float = 0.0
    attempts: int = 0
    failed_at: int = 0


@dataclass
class Model:
    """What the store must hold."""

    events: dict[int, Event] = field(default_factory=dict)
    receipts: dict[int, float] = field(default_factory=dict)  # when each was delivered
    vanished: set[int] = field(default_factory=set)  # dropped, or delivered and the receipt has had its time
    delivered: dict[Binding, int] = field(default_factory=lambda: dict.fromkeys(BINDINGS, 0))
    skipped: dict[Binding, int] = field(default_factory=lambda: dict.fromkeys(BINDINGS, 0))
    standing: dict[Binding, Standing] = field(default_factory=lambda: dict.fromkeys(BINDINGS, Standing()))
    accepted: set[int] = field(default_factory=set)

    def used(self, binding: Binding, *, dead: bool = False) -> int:
        """Bytes of bodies of a destination, or of its dead letters."""
        mine = [event for event in self.events.values() if event.binding == binding and event.body is not None]
        return sum(event.size for event in mine if event.dead or not dead)

    def put(self, entry: Entry) -> Event | None:
        """Say what becomes of an entry: None where the share is used up."""
        size = len(entry.body or b"")
        fits = self.used(entry.binding) + size <= SHARE
        if entry.dead is None:
            return Event(entry.binding, entry.lane, size, entry.body, dead=False) if fits else None
        kept = fits and self.used(entry.binding, dead=True) + size <= SHARE // DEAD_PART
        return Event(entry.binding, entry.lane, size, entry.body if kept else None, dead=True)

    def heads(self, binding: Binding) -> list[int]:
        """The first pending event of each lane, in order."""
        first: dict[str, int] = {}
        for number in sorted(self.events):
            event = self.events[number]
            if event.binding == binding and not event.dead:
                first.setdefault(event.lane, number)
        return sorted(first.values())

    def settle(self, binding: Binding, one: Settlement, now: float) -> None:
        """Do what a settlement asks for."""
        event = self.events.get(one.id)
        if event is None:
            return
        if one.result == "delivered":
            del self.events[one.id]
            self.receipts[one.id] = now
            self.delivered[binding] += 1
        elif not event.dead and one.result == "wait":
            event.due, event.attempts = one.due, event.attempts + 1
            event.failed_at = event.failed_at or one.attempt
        elif not event.dead:
            room = self.used(event.binding, dead=True) + event.size <= SHARE // DEAD_PART
            event.dead, event.attempts = True, event.attempts + 1
            event.body = event.body if room else None


class Machine(RuleBasedStateMachine):
    """Two stores on one folder, as two processes would have them, and the model."""

    steps = 0
    examples = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).examples += 1
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.now = 1_700_000_000.0
        self.stores = [self._open(), self._open()]
        self.model = Model()
        self.attempt = 0

    def _open(self) -> Store:
        return Store(self.folder / "spool", durability="process", max_bytes=3 * SHARE, shares=3, clock=lambda: self.now)

    @rule(which=st.integers(0, 1), given=st.lists(entries, min_size=1, max_size=4))
    def put(self, which, given):
        """Put events."""
        refused: set[tuple[Binding, str]] = set()
        for number, entry in zip(self.stores[which].put(given), given, strict=True):
            place = entry.binding, entry.lane
            expected = self.model.put(entry) if entry.dead or place not in refused else None
            if expected is None:
                refused.add(place)  # a smaller one of its lane must not overtake it
            assert (number is None) == (expected is None)
            if number is not None:
                assert number > max(self.model.accepted, default=0)
                self.model.events[number] = expected
                self.model.accepted.add(number)

    @rule(which=st.integers(0, 1), given=st.lists(entries, max_size=2), bad=entries)
    def fail_to_put(self, which, given, bad):
        """Put events of which the last can't be stored: then none is."""
        with contextlib.suppress(UnicodeEncodeError):
            self.stores[which].put([*given, replace(bad, lane="\ud800", body=b"", dead="bad")])
            raise AssertionError("a lone surrogate was stored")

    @rule(which=st.integers(0, 1), binding=bindings, limit=st.integers(1, 4))
    def look_at_heads(self, which, binding, limit):
        """The heads are those that are due, oldest first, with their bodies."""
        due = [number for number in self.model.heads(binding) if self._is_due(self.model.events[number])]
        found = self.stores[which].heads(binding, limit)
        assert [one.id for one in found] == due[:limit]
        for one in found:
            event = self.model.events[one.id]
            assert (one.lane, one.body, one.attempts, one.failed_at) == (
                event.lane,
                event.body,
                event.attempts,
                event.failed_at,
            )

    @rule(which=st.integers(0, 1), binding=bindings)
    def look_at_probe(self, which, binding):
        """The probe is the head that was tried least."""
        heads = self.model.heads(binding)
        expected = sorted(heads, key=lambda number: (self.model.events[number].attempts, number))[:1]
        assert [one.id for one in self.stores[which].probe(binding)] == expected

    @rule(
        which=st.integers(0, 1),
        binding=bindings,
        results=st.lists(st.sampled_from(["delivered", "delivered", "wait", "dead"]), max_size=4),
        standing=standings,
        wait=st.sampled_from([0.0, 30.0, 1e9]),
        twice=st.booleans(),
    )
    def settle(self, which, binding, results, standing, wait, twice):
        """Settle some heads; twice, as when two processes led for a moment."""
        self.attempt += 1
        settlements = [
            Settlement(number, self.attempt, result, reason="told", due=self.now + wait)
            for number, result in zip(self.model.heads(binding), results, strict=False)
        ]
        for one in settlements:
            self.model.settle(binding, one, self.now)
        self.model.standing[binding] = standing
        self.stores[which].settle(binding, settlements, standing)
        if twice:
            gone = [one for one in settlements if one.result != "wait"]
            for one in gone:
                self.model.settle(binding, one, self.now)
            self.stores[1 - which].settle(binding, gone, standing)

    @precondition(lambda self: self.model.events)
    @rule(which=st.integers(0, 1), data=st.data(), binding=bindings, result=st.sampled_from(["delivered", "dead"]))
    def settle_late(self, which, data, binding, result):
        """An answer comes after the event was given up, bound to another destination, or got others before it."""
        number = data.draw(st.sampled_from(sorted(self.model.events)))
        one = Settlement(number, self.attempt, result)
        self.stores[which].settle(binding, [one], self.model.standing[binding])
        self.model.settle(binding, one, self.now)

    @precondition(lambda self: self.model.events)
    @rule(which=st.integers(0, 1), data=st.data())
    def replay(self, which, data):
        """A dead letter that has its body waits again, in its old place."""
        number = data.draw(st.sampled_from(sorted(self.model.events)))
        event = self.model.events[number]
        admin.replay(self.stores[which], [number])
        if event.dead and event.body is not None:
            event.dead, event.due, event.attempts, event.failed_at = False, 0.0, 0, 0

    @precondition(lambda self: self.model.events)
    @rule(which=st.integers(0, 1), data=st.data())
    def drop(self, which, data):
        """What an operator drops is gone."""
        number = data.draw(st.sampled_from(sorted(self.model.events)))
        assert admin.drop(self.stores[which], [number, 1 << 40]) == [number]
        del self.model.events[number]
        self.model.vanished.add(number)

    @rule(which=st.integers(0, 1), old=bindings, new=bindings)
    def rebind(self, which, old, new):
        """All events of one binding go to another, in their places."""
        if old == new:
            return
        admin.rebind(self.stores[which], old, new)
        for event in self.model.events.values():
            if event.binding == old:
                event.binding, event.due, event.failed_at = new, 0.0, 0
                event.attempts = event.attempts if event.dead else 0

    @rule(which=st.integers(0, 1), binding=bindings, skipped=st.integers(0, 3))
    def count(self, which, binding, skipped):
        """Count events that were not stored."""
        self.stores[which].count(binding, skipped=skipped)
        self.model.skipped[binding] += skipped

    @rule(jump=jumps)
    def change_clock(self, jump):
        """Time passes, or the clock is set."""
        self.now += jump

    @rule(which=st.integers(0, 1))
    def tidy(self, which):
        """Receipts go when they have had their time."""
        self.stores[which].tidy()
        for number, delivered in list(self.model.receipts.items()):
            if delivered < self.now - 7 * DAY:
                del self.model.receipts[number]
                self.model.vanished.add(number)

    @rule(which=st.integers(0, 1), anew=st.booleans())
    def close(self, which, anew):
        """Close a store, and use it again or open another."""
        self.stores[which].close()
        if anew:
            self.stores[which] = self._open()

    @invariant()
    def holds_what_the_model_holds(self):
        """After each step the spool agrees with the model and with itself, and nothing accepted has vanished."""
        type(self).steps += 1
        found = audit(self.stores[0])
        assert not found.faults
        assert found.pending == {number for number, event in self.model.events.items() if not event.dead}
        assert found.dead == {number for number, event in self.model.events.items() if event.dead}
        assert found.delivered == self.model.receipts.keys()
        assert self.model.accepted == found.known | self.model.vanished

    @invariant()
    def tells_how_things_stand(self):
        """Both stores tell the same of each destination."""
        for store in self.stores:
            for binding in BINDINGS:
                self._compare(store, binding)

    def _compare(self, store: Store, binding: Binding) -> None:
        heads = [self.model.events[number] for number in self.model.heads(binding)]
        dues = [0.0 if event.due > self.now + CLOCK_TOLERANCE else event.due for event in heads]
        mine = [event for event in self.model.events.values() if event.binding == binding and not event.dead]
        assert store.next_due(binding) == min(dues, default=None)
        assert store.pending(binding) == len(mine)
        assert store.standing(binding) == self.model.standing[binding]
        with store.database.read() as connection:
            row = connection.execute(
                "SELECT delivered, skipped, bytes FROM destination WHERE name = ? AND kind = ? AND url = ?",
                (binding.name, binding.kind, binding.url),
            ).fetchone()
        expected = (self.model.delivered[binding], self.model.skipped[binding], self.model.used(binding))
        assert (row or (0, 0, 0)) == expected

    def _is_due(self, event: Event) -> bool:
        return event.due <= self.now or event.due > self.now + CLOCK_TOLERANCE

    def teardown(self) -> None:
        """Leave nothing behind."""
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)


@pytest.mark.timeout(900)  # a failure is made small first
@pytest.mark.parametrize(
    ("examples", "steps"),
    [(120, 30), pytest.param(1000, 50, marks=pytest.mark.slow)],
)
def test_the_store_does_what_the_model_does(examples, steps, capsys):
    """No sequence of puts, settlements, clock changes and reopenings makes the store and the model disagree."""
    Machine.examples = Machine.steps = 0
    limits = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Machine, settings=limits)
    show(capsys, f"spool against its model: {Machine.examples} examples, {Machine.steps} steps")
