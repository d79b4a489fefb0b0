"""kill -9 of emitting and delivering processes, and of the receiver, at any moment: nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

import pytest
from support.figures import show
from support.misbehaviour import FAULTS, ambiguous
from support.nursery import CONNECTIONS, Nursery, digest
from support.receiver import Receiver

from truewatch_lineage.config import load
from truewatch_lineage.courier import Courier
from truewatch_lineage.spool import Store

EMITTERS = 8
COURIERS = 2
DRAIN_SECONDS = 60
TOKEN = "kill-loop-token"


@dataclass
class Trouble:
    """What was done to them."""

    kills: int = 0
    receiver_kills: int = 0
    ambiguous: int = 0


def _settings(receiver, tmp_path):
    return {
        "url": receiver.url,
        "token": TOKEN,
        "spool_dir": str(tmp_path / "spool"),
        "durability": "power",
        "concurrency": CONNECTIONS,
    }


def _torment(nursery, receiver, trouble, *, kills, acknowledged, pause, seed):
    """Kill and replace children until there were enough kills and enough acknowledged events."""
    dice = random.Random(seed)
    children = {}

    def start(role):
        children[nursery.courier() if role == "courier" else nursery.emitter(delivery=role, pause=pause)] = role

    for number in range(EMITTERS):
        start("background" if number % 2 else "inline")
    for _ in range(COURIERS):
        start("courier")
    while trouble.kills < kills or len(nursery.acknowledged()) < acknowledged:
        time.sleep(dice.uniform(0, 0.4))
        victim = dice.choice(sorted(children))
        nursery.kill(victim)
        start(children.pop(victim))
        trouble.kills += 1
        if trouble.kills % 7 == 0:
            fault = dice.choice(FAULTS)
            trouble.ambiguous += ambiguous(fault)
            receiver.faults([fault])
        if trouble.kills % 16 == 0:
            receiver.kill()
            time.sleep(dice.uniform(0, 0.3))
            receiver.start()
            trouble.receiver_kills += 1
    for child in children:
        nursery.kill(child)
        trouble.kills += 1


def _drain(settings):
    loaded = load(settings)
    store = Store(loaded.spool_dir)
    courier = Courier(store, loaded.destinations, connections=CONNECTIONS)
    try:
        courier.drain(DRAIN_SECONDS, probe=True, wait=True)
    finally:
        courier.finish(0)
        courier.stop()
        store.close()


def _left(tmp_path):
    """Count what the spool still holds: pending, dead, tombstones; and ask SQLite whether it is sound."""
    with contextlib.closing(sqlite3.connect(tmp_path / "spool" / "spool.db")) as spool:
        states = Counter(dict(spool.execute("SELECT state, count(*) FROM event GROUP BY state")))
        tombstones = spool.execute("SELECT sum(tombstones) FROM destination").fetchone()[0]
        sound = spool.execute("PRAGMA integrity_check").fetchone()[0]
    return states[0], states[1], tombstones, sound


def _kill_loop(tmp_path, capsys, **plan):
    trouble = Trouble()
    acks = tmp_path / "acks"
    acks.mkdir()
    with Receiver(tokens=[TOKEN]) as receiver:
        settings = _settings(receiver, tmp_path)
        with Nursery(settings, acks) as nursery:
            _torment(nursery, receiver, trouble, **plan)
            emitted = nursery.acknowledged()
        receiver.faults([])
        _drain(settings)
        arrived = receiver.events()

    pending, dead, tombstones, sound = _left(tmp_path)
    received = {digest(found["event"]) for found in arrived}
    lost = set(emitted) - received
    duplicates = sum(found["duplicates"] for found in arrived)
    show(
        capsys,
        f"kill loop: {trouble.kills} kills, {trouble.receiver_kills} of the receiver; "
        f"{len(emitted)} acknowledged, {len(received)} received, {pending} pending, {dead} dead, "
        f"{tombstones} tombstones, {len(lost)} lost, {duplicates} duplicates",
    )
    assert sound == "ok"
    assert (len(lost), pending, dead, tombstones) == (0, 0, 0, 0)
    assert len(emitted) == len(set(emitted)) >= plan["acknowledged"]
    assert duplicates <= (trouble.kills + trouble.receiver_kills) * CONNECTIONS + trouble.ambiguous
    places = defaultdict(list)
    for found in arrived:
        places[found["run_id"]].append(found["event"]["run"]["facets"]["place"]["number"])
    assert all(numbers == sorted(numbers) for numbers in places.values())


@pytest.mark.timeout(120)
def test_nothing_acknowledged_is_lost_to_kills(tmp_path, capsys):
    """Of 8 emitters and 2 couriers random ones are killed 40 times: all that emit() returned from arrives, in order."""
    _kill_loop(tmp_path, capsys, kills=40, acknowledged=1000, pause=0.01, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_acknowledged_is_lost_to_500_kills(tmp_path, capsys):
    """The same with at least 500 kills and 10,000 acknowledged events, power-safe."""
    _kill_loop(tmp_path, capsys, kills=500, acknowledged=10_000, pause=0.02, seed=time.time_ns())
