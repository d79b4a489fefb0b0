"""An outage met by many short-lived processes costs a handful of requests between them all."""

from __future__ import annotations

from collections import defaultdict, deque

import pytest
from support.couriers import post
from support.destinations import destination
from support.figures import show
from support.nursery import Nursery, digest
from support.raw_server import RawServer, answer, hang, on_accept, reset

TOKEN = "outage-test-token"
PROCESSES = 100
AT_ONCE = 8
HANDFUL = 15
BUDGET = 0.5

pytestmark = pytest.mark.serial

KINDS = {"task": {"delivery": "auto"}, "job": {"delivery": "background", "close": True}}
OUTAGES = {
    "resets what connects": on_accept(reset()),
    "answers 503": answer(503),
    "refuses the token": answer(401),
    "hangs": hang(),
}


def _run(nursery, **kind):
    """Run all processes, some at once, and check that each ended well."""
    running = deque()
    for _ in range(PROCESSES):
        if len(running) == AT_ONCE:
            assert nursery.wait(running.popleft()) == 0
        running.append(nursery.emitter(count=2, **kind))
    while running:
        assert nursery.wait(running.popleft()) == 0


@pytest.mark.parametrize(
    ("kind", "outage"), [*(("task", outage) for outage in OUTAGES), ("job", "answers 503"), ("job", "hangs")]
)
def test_100_processes_make_a_handful_of_requests(tmp_path, capsys, kind, outage):
    """Tasks that end by ``os._exit``, jobs that close: 200 emits in time, few requests, and all arrives afterwards."""
    acks = tmp_path / "acks"
    acks.mkdir()
    with RawServer([OUTAGES[outage]] * 500, default=OUTAGES[outage]) as server:
        settings = {"url": server.url, "token": TOKEN, "spool_dir": str(tmp_path / "spool")}
        settings |= {"delivery_budget": BUDGET, "exit_budget": BUDGET}
        with Nursery(settings, acks) as nursery:
            _run(nursery, **KINDS[kind])
            emitted = nursery.acknowledged()
            slowest = nursery.slowest()
        requests = max(len(server.requests), server.connections)
        show(capsys, f"{PROCESSES} {kind}s, {outage}: {requests} requests, slowest emit {slowest:.2f} s")
        assert slowest < BUDGET + 1
        assert 1 <= requests <= HANDFUL

        tried = len(server.requests)
        server.behave(answer(200))
        there = destination(server.url, token="another-token")
        with post(tmp_path / "spool", there) as here:
            here.courier.drain(20, probe=True, wait=True)
        arrived = [request.json for request in server.requests[tried:]]
    assert len(emitted) == 2 * PROCESSES
    assert sorted(digest(event) for event in arrived) == sorted(emitted)
    runs = defaultdict(list)
    for event in arrived:
        runs[event["run"]["runId"]].append(event["eventType"])
    assert all(steps == ["START", "RUNNING"] for steps in runs.values())
