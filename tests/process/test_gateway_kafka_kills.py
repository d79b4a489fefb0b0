"""kill -9 of gateways, of the broker and of the receiver at any moment, and rebalances: nothing that Kafka has is lost.

E is what the broker has acknowledged, R what the receiver has, Q and D what the gateways' spools hold, and L the topic
of dead letters: E is in R, Q, D or L.
"""

from __future__ import annotations

import json
import random
import signal
import time
from collections import defaultdict
from dataclasses import asdict, dataclass

import pytest
from support.figures import show
from support.gateway import Gateway
from support.kafka import Broker
from support.kafka_intake import QUICK, keyed, number_of, until
from support.misbehaviour import FAULTS, ambiguous
from support.private import write_private
from support.receiver import Receiver
from support.spool_audit import audit

from truewatch_lineage.delivery.backoff import MAX_BACKOFF
from truewatch_lineage.spool import Store
from truewatch_lineage.spool.report import exported

TOKEN = "kafka-kill-loop-token"
TOPIC = "lineage"
PARTITIONS = 6
KEYS = 300
MAX_EVENTS = 500
CONNECTIONS = 16
DRAIN_SECONDS = 60
PROGRAM = """
from functools import partialmethod
from truewatch_lineage.cli import main
from truewatch_lineage.gateway.kafka.options import KafkaOptions
KafkaOptions.__init__ = partialmethod(KafkaOptions.__init__, hold_seconds={hold}, max_events={most})
main()
"""
REFUSAL = {"status": 422, "times": 1}


@dataclass
class Trouble:
    """What was done to them."""

    gateway_kills: int = 0
    gateway_stops: int = 0
    broker_kills: int = 0
    receiver_kills: int = 0
    ambiguous: int = 0

    @property
    def duplicates(self) -> int:
        """How many events may be delivered twice: what was read and not committed, and what was under way."""
        # Partitions move twice: to the gateway that stays and back. A broker that dies takes both their commits.
        moves = 2 * (self.gateway_kills + self.gateway_stops) + 2 * self.broker_kills
        return moves * MAX_EVENTS + self.receiver_kills * 2 * CONNECTIONS + self.ambiguous


class Scene:
    """A broker, a receiver, and two gateways between them."""

    def __init__(self, broker, receiver, folder, *, hold, seed):
        self.broker, self.receiver, self.dice, self.trouble = broker, receiver, random.Random(seed), Trouble()
        broker.create_topic(TOPIC, partitions=PARTITIONS)
        broker.create_topic(f"{TOPIC}.dead-letters")
        config = write_private(folder / "kafka.properties", QUICK)
        kafka = ["--kafka-bootstrap", broker.address, "--topic", TOPIC, "--group", "g", "--kafka-config", config]
        self.gateways = [
            Gateway(
                receiver.url,
                token=TOKEN,
                spool=folder / f"spool-{number}",
                args=kafka,
                env={"concurrency": CONNECTIONS, "exit_budget": 3},
                program=("-c", PROGRAM.format(hold=hold, most=MAX_EVENTS)),
            )
            for number in range(2)
        ]

    def torment(self, events, batch, *, is_up):
        """Produce all events in batches, with one trouble after each; the receiver's own only while it is up."""
        troubles = (self.kill, self.kill, self.stop, self.kill_broker, *([self.disturb] if is_up else []))
        for start in range(0, events, batch):
            self.broker.produce(TOPIC, keyed(min(batch, events - start), KEYS, start))
            time.sleep(self.dice.uniform(0.0, 0.5))
            self.dice.choice(troubles)()

    def kill(self):
        """Kill a gateway; another is started in its place."""
        gateway = self.dice.choice(self.gateways)
        gateway.kill()
        gateway.start()
        self.trouble.gateway_kills += 1

    def stop(self):
        """Stop a gateway as a service manager does, and start it again: partitions go and come."""
        self.dice.choice(self.gateways).restart()
        self.trouble.gateway_stops += 1

    def kill_broker(self):
        """Kill the broker."""
        self.broker.kill()
        time.sleep(self.dice.uniform(0.0, 0.5))
        self.broker.start()
        self.trouble.broker_kills += 1

    def disturb(self):
        """Let the receiver misbehave, or kill it."""
        if self.dice.random() < 0.3:
            self.receiver.kill()
            self.receiver.start()
            self.trouble.receiver_kills += 1
            return
        fault = self.dice.choice((*FAULTS, REFUSAL))
        self.trouble.ambiguous += ambiguous(fault)
        self.receiver.faults([fault])

    def settle(self, events, timeout):
        """Wait until all is done; AssertionError with what each gateway tells."""
        try:
            until(lambda: self.is_done(events), timeout)
        except AssertionError:
            told = [(gateway.metrics(), gateway.stderr()[-2000:]) for gateway in self.gateways]
            raise AssertionError(f"not all is done: {self.broker.committed(TOPIC, 'g')}, {told}") from None

    def is_done(self, events):
        """Whether all is committed, and nothing is left in a spool."""
        committed = sum(self.broker.committed(TOPIC, "g").values())
        return committed == events and not sum(gateway.spooled().pending for gateway in self.gateways)


@dataclass
class Account:
    """Where the events are in the end, by their numbers."""

    received: list[int]
    duplicates: int
    dead_letters: set[int]
    pending: set[int]
    dead: set[int]
    faults: list[str]

    def lost(self, events):
        """Return those that are nowhere."""
        return set(range(events)) - set(self.received) - self.dead_letters - self.pending - self.dead

    def is_in_order(self):
        """Whether each key's events arrived first in their order; a dead letter that is read again may be late."""
        by_key, refused = defaultdict(list), self.dead_letters | self.dead
        for number in self.received:
            if number not in refused:
                by_key[number % KEYS].append(number)
        return all(numbers == sorted(numbers) for numbers in by_key.values())


def _numbers(bodies):
    return {number_of(json.loads(body)) for body in bodies}


def _account(scene):
    arrived = scene.receiver.events()
    dead_letters = scene.broker.read(f"{TOPIC}.dead-letters")
    pending, dead, faults = set(), set(), []
    for gateway in scene.gateways:
        store = Store(gateway.spool)
        pending |= _numbers(exported(store))
        dead |= _numbers(exported(store, dead=True))
        faults += audit(store).faults
        store.close()
    return Account(
        [number_of(found["event"]) for found in arrived],
        sum(found["duplicates"] for found in arrived),
        _numbers(record.value for record in dead_letters),
        pending,
        dead,
        faults,
    )


def _kill_loop(tmp_path, capsys, *, events, batch, seed, hold=300.0, down=False):
    started = time.monotonic()
    with Broker(tmp_path / "kafka") as broker, Receiver(tokens=[TOKEN]) as receiver:
        scene = Scene(broker, receiver, tmp_path, hold=hold, seed=seed)
        with scene.gateways[0], scene.gateways[1]:
            if down:
                receiver.stop()
            scene.torment(events, batch, is_up=not down)
            tormented = time.monotonic() - started
            if down:
                receiver.start()
            receiver.faults([])
            # Each start in the outage was a try, so that a spool may wait for the longest pause.
            scene.settle(events, DRAIN_SECONDS + events / 500 + down * MAX_BACKOFF)
            for gateway in scene.gateways:
                gateway.stop()
        account = _account(scene)
    show(
        capsys,
        f"Kafka kill loop, seed {seed}: {asdict(scene.trouble)} in {tormented:.0f} s; {events} produced, "
        f"{len(account.received)} received, {len(account.dead_letters)} dead letters, {len(account.pending)} pending, "
        f"{len(account.dead)} dead, {len(account.lost(events))} lost, {account.duplicates} duplicates "
        f"(at most {scene.trouble.duplicates}), all done after {time.monotonic() - started:.0f} s",
    )
    assert account.lost(events) == set()
    assert (account.pending, account.faults) == (set(), [])
    assert account.duplicates <= scene.trouble.duplicates
    return account


@pytest.mark.timeout(180)
def test_nothing_of_kafka_is_lost_to_kills(tmp_path, capsys):
    """Gateways, the broker and the receiver are killed and stopped at random: all arrives, by key in order."""
    account = _kill_loop(tmp_path, capsys, events=16_000, batch=1000, seed=49)
    assert account.is_in_order()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_of_100_000_events_is_lost_to_kills(tmp_path, capsys):
    """The same with 100,000 small events and some hundred troubles."""
    account = _kill_loop(tmp_path, capsys, events=100_000, batch=600, seed=time.time_ns())
    assert account.is_in_order()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("hold", [300.0, 3.0])
def test_nothing_is_lost_while_the_destination_is_down(tmp_path, capsys, hold):
    """It is down for the whole loop and then back; what waits too long is in the gateways' spools by then.

    By key in order, but where events are in one gateway's spool and later ones have gone on to the other gateway.
    """
    account = _kill_loop(tmp_path, capsys, events=50_000, batch=600, seed=time.time_ns(), hold=hold, down=True)
    assert hold < 300 or account.is_in_order()


@pytest.mark.timeout(120)
def test_a_gateway_that_hung_leaves_its_partitions_to_the_other(tmp_path, capsys):
    """While it is stopped (SIGSTOP) the group gives them away; when it goes on it delivers at most what it had."""
    events = 4000
    with Broker(tmp_path / "kafka") as broker, Receiver(tokens=[TOKEN]) as receiver:
        scene = Scene(broker, receiver, tmp_path, hold=300.0, seed=0)
        with scene.gateways[0] as hung, scene.gateways[1] as other:
            until(lambda: all(_partitions(gateway) == PARTITIONS / 2 for gateway in (hung, other)))
            broker.produce(TOPIC, keyed(events // 2, KEYS))
            until(lambda: receiver.stats()["stored"] > 100)
            hung.send_signal(signal.SIGSTOP)
            broker.produce(TOPIC, keyed(events // 2, KEYS, events // 2))
            until(lambda: _partitions(other) == PARTITIONS)
            until(lambda: receiver.stats()["stored"] == events)
            hung.send_signal(signal.SIGCONT)
            until(lambda: _partitions(hung) == PARTITIONS / 2)
            scene.settle(events, DRAIN_SECONDS)
        account = _account(scene)
    show(capsys, f"a gateway that hung: {len(account.received)} of {events} received, {account.duplicates} duplicates")
    assert account.lost(events) == set()
    assert account.is_in_order()
    assert account.duplicates <= MAX_EVENTS


def _partitions(gateway):
    return gateway.metrics()["truewatch_gateway_kafka_assigned_partitions"]
