"""Processes that write to Kafka: forks, short lives, and kill -9 of them and of the broker."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections import Counter, defaultdict

import pytest
from support.figures import show
from support.kafka import Broker
from support.nursery import CONNECTIONS, Nursery, digest
from support.scripts import run_script
from support.spooled import spooled

from truewatch_lineage.config import load
from truewatch_lineage.courier import Courier
from truewatch_lineage.spool import Store

EMITTERS = 4
COURIERS = 2
BROKER_LIVES = 8
"""How many of them are killed before the broker is."""
DRAIN_SECONDS = 40


@pytest.fixture
def broker(tmp_path):
    """Give a broker that may be killed, with one topic."""
    with Broker(tmp_path / "kafka") as made:
        made.create_topic("lineage", partitions=4)
        yield made


def settings(broker, tmp_path, **more):
    """Return a transport's settings."""
    return {"url": f"kafka://{broker.address}/lineage", "spool_dir": str(tmp_path / "spool"), **more}


def steps(broker):
    """Return the steps of each run in the order of the topic."""
    found = defaultdict(list)
    for record in broker.read("lineage"):
        event = json.loads(record.value)
        found[event["run"]["runId"]].append(event["eventType"])
    return dict(found)


@pytest.mark.parametrize("delivery", ["auto", "background", "inline"])
def test_a_transport_inherited_over_a_fork(broker, tmp_path, delivery):
    """The child writes by a producer of its own, and neither its exit nor the parent waits for the other's."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        transport.emit(event("START", "r"))
        if transport.close():  # which has made a producer, whoever delivers
            transport.emit(event("RUNNING", "r"))
        for end in (os._exit, sys.exit):
            if (pid := os.fork()) == 0:
                signal.alarm(15)
                transport.emit(event("RUNNING", end.__name__))
                transport.close()
                end(0)
            assert os.waitpid(pid, 0)[1] == 0
        transport.emit(event("COMPLETE", "r"))
        assert transport.close()
    """
    run_script(tmp_path, code, json.dumps(settings(broker, tmp_path, delivery=delivery)))
    found = steps(broker)
    assert found["r"] == ["START", "RUNNING", "COMPLETE"]
    assert set(found) == {"r", "_exit", "exit"}


def test_a_child_that_writes_nothing_ends(broker, tmp_path):
    """A fork that inherits a producer which is in use and never touches it exits by itself."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        for number in range(20):
            transport.emit(event("START", str(number)))
            if (pid := os.fork()) == 0:
                signal.alarm(15)
                sys.exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        assert transport.close()
    """
    run_script(tmp_path, code, json.dumps(settings(broker, tmp_path, delivery="background")))
    assert len(steps(broker)) == 20


def test_a_process_that_just_ends_has_delivered(broker, tmp_path):
    """Nobody calls ``close``; the exit waits for what is under way, and nothing is written to stderr."""
    code = """
        TrueWatchTransport(json.loads(sys.argv[1])).emit(event("START", "r"))
    """
    run_script(tmp_path, code, json.dumps(settings(broker, tmp_path)))
    assert steps(broker) == {"r": ["START"]}


@pytest.mark.serial
def test_an_emit_without_a_broker_keeps_to_its_budget(broker, tmp_path):
    """A broker that hangs costs a job no more, and Kafka's library says nothing on stderr."""
    broker.freeze()
    code = """
        logging.getLogger("truewatch_lineage").setLevel(logging.ERROR)  # which tells that events wait
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        start = time.monotonic()
        for number in range(5):
            transport.emit(event("START", str(number)))
        assert time.monotonic() - start < 1.5, time.monotonic() - start
        transport.close()
    """
    budgets = {"delivery": "inline", "delivery_budget": 0.5, "exit_budget": 0.5}
    run_script(tmp_path, code, json.dumps(settings(broker, tmp_path, **budgets)))
    assert spooled(tmp_path / "spool").pending == 5


def _torment(nursery, broker, *, kills, seed):
    """Kill and replace children, and now and then the broker; return how often."""
    dice = random.Random(seed)
    done = Counter()
    roles = ["inline", "background"] * (EMITTERS // 2) + ["courier"] * COURIERS
    children = {}

    def start(role):
        children[nursery.courier() if role == "courier" else nursery.emitter(delivery=role, pause=0.01)] = role

    for role in roles:
        start(role)
    while done["kills"] < kills:
        time.sleep(dice.uniform(0.1, 0.5))
        victim = dice.choice(sorted(children))
        nursery.kill(victim)
        start(children.pop(victim))
        done["kills"] += 1
        if done["kills"] % BROKER_LIVES == 0:
            broker.kill()
            time.sleep(dice.uniform(0, 0.3))
            broker.start()
            done["broker"] += 1
    for child in children:
        nursery.kill(child)
        done["kills"] += 1
    return done


def _drain(params):
    loaded = load(params)
    with contextlib.closing(Store(loaded.spool_dir)) as store:
        courier = Courier(store, loaded.destinations, connections=CONNECTIONS)
        try:
            courier.drain(DRAIN_SECONDS, probe=True, wait=True)
        finally:
            courier.finish(0)
            courier.stop()


def _kill_loop(broker, tmp_path, capsys, **plan):
    acks = tmp_path / "acks"
    acks.mkdir()
    params = settings(broker, tmp_path, concurrency=CONNECTIONS, timeout=3)
    with Nursery(params, acks) as nursery:
        done = _torment(nursery, broker, **plan)
        emitted = nursery.acknowledged()
    _drain(params)
    records = broker.read("lineage")
    left = spooled(tmp_path / "spool")
    arrived = Counter(digest(json.loads(record.value)) for record in records)
    lost = set(emitted) - set(arrived)
    duplicates = sum(arrived.values()) - len(arrived)
    show(
        capsys,
        f"kafka kill loop: {done['kills']} kills, {done['broker']} of the broker; {len(emitted)} acknowledged, "
        f"{len(arrived)} in the topic, {left.pending} pending, {left.dead} dead, {len(lost)} lost, {duplicates} twice",
    )
    assert (len(lost), left.pending, left.dead, left.tombstones) == (0, 0, 0, 0)
    assert duplicates <= (done["kills"] + done["broker"]) * CONNECTIONS
    first = {}
    for record in records:
        place = json.loads(record.value)["run"]
        first.setdefault((place["runId"], place["facets"]["place"]["number"]), len(first))
    runs = defaultdict(list)
    for (run, number), position in first.items():
        runs[run].append((position, number))
    assert all([number for _, number in places] == sorted(number for _, number in places) for places in runs.values())


@pytest.mark.timeout(150)
def test_nothing_acknowledged_is_lost_to_kills_of_writers_and_broker(broker, tmp_path, capsys):
    """Emitters, couriers and the broker are killed: all that emit() returned from is in the topic, in order."""
    _kill_loop(broker, tmp_path, capsys, kills=24, seed=8)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_to_many_kills(broker, tmp_path, capsys):
    """The same with ten times the kills."""
    _kill_loop(broker, tmp_path, capsys, kills=240, seed=time.time_ns())
