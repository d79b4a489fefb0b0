"""Order within a run under faults, and lanes and destinations that do not get into each other's way."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import defaultdict
from dataclasses import replace

import pytest
from support.couriers import post
from support.destinations import destination
from support.events import tree
from support.raw_server import Behaviour, RawServer, answer, close, cut, hang, reset
from support.spooled import spooled

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.courier import binding_of

STEPS = ("START", "RUNNING", "RUNNING", "COMPLETE")
FAULTS = (
    answer(503),
    answer(500),
    answer(429),
    answer(429, {"Retry-After": "0"}),
    answer(503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}),
    reset(),
    close(),
    cut(),
    hang(),
)


def events(runs, steps=STEPS):
    """Return the events of runs, step by step, each with its place in its run."""
    return [
        tree(eventType=step, run={"runId": f"run-{run}", "facets": {"place": {"number": number}}})
        for number, step in enumerate(steps)
        for run in range(runs)
    ]


def places(server):
    """Return for each run the places of its events as they came, failed attempts among them."""
    runs = defaultdict(list)
    for body in server.bodies:
        runs[body["run"]["runId"]].append(body["run"]["facets"]["place"]["number"])
    return runs


def by_run(behave, otherwise=answer(200)):  # noqa: B008 - a behaviour is frozen
    """Behave in one way to requests of ``run-0`` and otherwise to all others."""

    def run(exchange):
        poisoned = exchange.request.json["run"]["runId"] == "run-0"
        return (behave if poisoned else otherwise).run(exchange)

    return Behaviour(run)


class Crowd:
    """A behaviour that counts how many requests are served at once; each waits a while for ``wanted`` of them."""

    def __init__(self, wanted=1):
        self._wanted = wanted
        self._full = threading.Event()
        self._lock = threading.Lock()
        self._now = 0
        self.peak = 0

    def run(self, exchange):
        with self._lock:
            self._now += 1
            self.peak = max(self.peak, self._now)
            if self.peak >= self._wanted:
                self._full.set()
        self._full.wait(0.5)
        time.sleep(0.005)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        with self._lock:
            self._now -= 1
        return True


@pytest.mark.parametrize("seed", range(3))
def test_order_within_a_run_holds_under_faults(tmp_path, seed):
    """No event is sent before the one ahead of it in its run was answered; 64 connections, every third one fails."""
    dice = random.Random(seed)
    crowd = Crowd()
    usual = Behaviour(crowd.run)
    script = [dice.choice(FAULTS) if dice.random() < 0.33 else usual for _ in range(300)]
    with RawServer(script, default=usual) as server:
        there = destination(server.url, timeout=0.3)
        with post(tmp_path / "spool", there, connections=64) as here:
            here.put(there, events(80))
            here.courier.drain(40, wait=True)
            assert here.courier.pending() == 0
    arrived = {run: [number for number, _ in itertools.groupby(numbers)] for run, numbers in places(server).items()}
    assert arrived == {f"run-{run}": [0, 1, 2, 3] for run in range(80)}
    assert crowd.peak <= 64
    assert spooled(tmp_path / "spool")[:4] == (0, 0, 320, 0)


def test_all_connections_are_used(tmp_path):
    """64 events of 64 runs are on their way at once when the destination takes them well."""
    crowd = Crowd(wanted=64)
    with RawServer(default=Behaviour(crowd.run)) as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there, connections=64) as here:
            here.put(there, events(400, STEPS[:1]))
            here.courier.drain(20)
    assert crowd.peak == 64
    assert server.connections <= 64


@pytest.mark.parametrize(
    ("poison", "steps", "pending", "dead"),
    [
        (answer(400), 2, 0, 2),
        (answer(404), 1, 0, 1),
        (answer(408), 2, 0, 2),
        (answer(413, {"Retry-After": "1"}), 2, 0, 2),
        (answer(422), 2, 0, 2),
        (answer(500), 2, 2, 0),
        (answer(503), 2, 2, 0),
        (hang(), 2, 2, 0),
        (reset(), 2, 2, 0),
    ],
)
def test_a_poisoned_lane_stops_only_itself(tmp_path, poison, steps, pending, dead):
    """All other runs are delivered at once, and what may be tried again keeps its order."""
    with RawServer(default=by_run(poison)) as server:
        there = destination(server.url, timeout=0.3)
        with post(tmp_path / "spool", there) as here:
            here.put(there, events(20, ("START", "COMPLETE")[:steps]))
            end = time.monotonic() + 8
            while here.courier.pending() > pending and time.monotonic() < end:
                here.courier.drain(0.5, wait=True)
    found = spooled(tmp_path / "spool")
    assert (found.pending, found.dead, found.delivered) == (pending, dead, 20 * steps - pending - dead)
    others = {run: numbers for run, numbers in places(server).items() if run != "run-0"}
    assert others == {f"run-{run}": [*range(steps)] for run in range(1, 20)}
    if pending:
        assert set(places(server)["run-0"]) == {0}


def test_a_dead_letter_frees_its_lane(tmp_path):
    """The COMPLETE goes though the START was refused."""
    with RawServer([answer(400)]) as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as here:
            here.put(there, events(1))
            here.courier.drain(5)
        assert places(server) == {"run-0": [0, 1, 2, 3]}
    assert spooled(tmp_path / "spool")[:3] == (0, 1, 3)


def make(tmp_path, destinations, **more):
    """Make a transport with named destinations that share a spool."""
    settings = {"destinations": destinations, "spool_dir": str(tmp_path / "spool"), "exit_budget": 5}
    return TrueWatchTransport({**settings, **more})


@pytest.mark.parametrize("delivery", ["background", "inline"])
@pytest.mark.parametrize("trouble", [hang(), answer(401), answer(503, {"Retry-After": "900"}), answer(302), reset()])
def test_a_destination_in_trouble_does_not_delay_another(tmp_path, trouble, delivery):
    """What is for the other arrives, in order; what is for the one in trouble waits."""
    with RawServer(default=trouble) as bad, RawServer() as good:
        both = {"bad": {"url": bad.url, "token": "token-of-bad"}, "good": {"url": good.url, "token": "token-of-good"}}
        transport = make(tmp_path, both, delivery=delivery, delivery_budget=0.3)
        for event in events(5):
            transport.emit(event)
        good.wait_for(20, timeout=3)
        transport.close(0.5)
        assert all(numbers == [0, 1, 2, 3] for numbers in places(good).values())
        assert {request.header("Authorization") for request in bad.requests} <= {"Bearer token-of-bad"}
    assert spooled(tmp_path / "spool", "bad").pending == 20
    assert spooled(tmp_path / "spool", "good")[:3] == (0, 0, 20)


def test_a_full_destination_does_not_evict_another(tmp_path):
    """Each may fill its own share: the one that is down is full, loses what comes after, and keeps what it took."""
    with RawServer(default=answer(503, {"Retry-After": "900"})) as bad, RawServer() as good:
        both = {"bad": {"url": bad.url, "token": "token-of-bad"}, "good": {"url": good.url, "token": "token-of-good"}}
        transport = make(tmp_path, both, delivery="background", spool_max_bytes=12_000)
        for run in range(60):
            transport.emit(tree(run={"runId": str(run)}))
            good.wait_for(run + 1, timeout=3)
        transport.close()
        assert [body["run"]["runId"] for body in good.bodies] == [str(run) for run in range(60)]
    full = spooled(tmp_path / "spool", "bad")
    assert full.pending + full.tombstones == 60
    assert full.pending >= 15
    assert full.tombstones >= 10
    assert spooled(tmp_path / "spool", "good")[:4] == (0, 0, 60, 0)


@pytest.mark.parametrize("differs", ["name", "kind", "url"])
def test_settings_that_differ_never_send_through_each_other(tmp_path, differs):
    """Two settings that share a folder and differ in name, kind or url keep each to their own events."""
    with RawServer() as server:
        one = destination(server.url)
        other = {
            "name": replace(one, name="another"),
            "kind": replace(destination(server.url, "openlineage"), url=one.url),
            "url": replace(one, url=one.url + "/other"),
        }[differs]
        with post(tmp_path / "spool", one) as here:
            here.put(other, events(3))
            here.courier.drain(0.5, probe=True, wait=True)
            assert (server.requests, here.courier.pending()) == ([], 0)
        with post(tmp_path / "spool", other) as there:
            there.courier.drain(5)
            assert (len(server.requests), there.courier.pending()) == (12, 0)
            assert binding_of(other) != binding_of(one)


def test_several_destinations_with_rules_of_their_own(tmp_path):
    """Portal is spared job events, a match keeps others away, names are mapped for one alone."""
    job = {"eventTime": "2026-10-21T08:00:00Z", "job": {"namespace": "ns", "name": "job"}, "producer": "https://p"}
    with RawServer(default=answer(201, body={})) as server:
        destinations = {
            "way": {"url": server.url, "token": "token-of-way", "map_namespaces": {"db": "postgres://catalog"}},
            "portal": {"destination": "portal", "url": server.url, "token": "token-of-portal"},
            "starts": {
                "destination": "openlineage",
                "url": server.url,
                "token": "token-of-starts",
                "match": {"keep": [{"event_type": "START"}]},
                "compression": "none",
            },
        }
        transport = make(tmp_path, destinations, delivery="background")
        for event in (tree(), tree(eventType="COMPLETE"), job):
            transport.emit(event)
        assert transport.close()
        by_path = defaultdict(list)
        for request in server.requests:
            by_path[request.path].append(request)
    way, portal, starts = (
        by_path[path] for path in ("/v1/write/openlineage", "/api/data-registry/lineage", "/api/v1/lineage")
    )
    assert len(way) == 3
    runs = [one.json for one in way if "run" in one.json]  # the job event's lane may be faster
    assert [one["eventType"] for one in runs] == ["START", "COMPLETE"]
    assert runs[0]["inputs"][0]["namespace"] == "postgres://catalog"
    assert [one.json["eventType"] for one in portal] == ["START", "COMPLETE"]
    assert portal[0].json["inputs"][0]["namespace"] == "db"
    assert portal[0].json["schemaURL"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json"
    assert [one.json["eventType"] for one in starts] == ["START"]
    assert [one[0].header("Content-Encoding") for one in (way, portal, starts)] == ["gzip", None, None]
    tokens = [one[0].header("Authorization") for one in (way, portal, starts)]
    assert tokens == ["Bearer token-of-way", "Bearer token-of-portal", "Bearer token-of-starts"]
    assert spooled(tmp_path / "spool", "portal").skipped == 1
    assert spooled(tmp_path / "spool", "way").skipped == 0
