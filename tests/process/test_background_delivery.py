"""Threads that deliver: no wake-up is lost, a killed leader is replaced, and a cut attempt is noted."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time

import pytest
from support.events import tree
from support.nursery import Nursery
from support.raw_server import RawServer, answer, delay, hang
from support.spooled import spooled

from truewatch_lineage import TrueWatchTransport

TOKEN = "background-test-token"


@pytest.fixture
def make(tmp_path):
    """Give a maker of transports that share a spool, and close them afterwards."""
    made = []

    def make(url, **more):
        settings = {"url": url, "token": TOKEN, "spool_dir": str(tmp_path / "spool"), "delivery": "background"}
        made.append(TrueWatchTransport({**settings, **more}))
        return made[-1]

    yield make
    for transport in made:
        transport.close(0)


def test_no_wake_up_is_lost(make):
    """An event that is stored just as the thread lies down is delivered at once, and not at the next look."""
    dice = random.Random(1)
    with RawServer() as server:
        transport = make(server.url)
        slow = 0
        for number in range(1, 301):
            start = time.monotonic()
            transport.emit(tree(run={"runId": str(number)}))
            server.wait_for(number, timeout=5)
            slow += time.monotonic() - start > 0.5
            time.sleep(dice.random() * 0.003)
    assert slow <= 2  # a busy machine may be late once; a lost wake-up is late each time


def test_a_killed_leader_is_replaced(tmp_path, make):
    """Whoever waits takes over though nothing in the spool has changed since the leader was killed."""
    with RawServer([hang()]) as server:
        settings = {"url": server.url, "token": TOKEN, "spool_dir": str(tmp_path / "spool")}
        with Nursery(settings, tmp_path) as nursery:
            leader, other = nursery.courier(), nursery.courier()
            time.sleep(0.5)  # both look, and find nothing
            os.kill(other, signal.SIGSTOP)
            make(server.url, delivery="spool").emit(tree())
            server.wait_for(1)
            os.kill(other, signal.SIGCONT)
            time.sleep(0.5)  # it finds that another leads
            assert len(server.requests) == 1
            nursery.kill(leader)
            server.wait_for(2, timeout=3)
            nursery.kill(other)


def test_an_attempt_that_close_cuts_off_counts_and_backs_off(tmp_path, make):
    """Design section 3: "An attempt cut by a budget counts and backs off", else each short job would make its own."""
    with RawServer(default=hang()) as server:
        transport = make(server.url, exit_budget=0.6)
        transport.emit(tree())
        server.wait_for(1)
        start = time.monotonic()
        assert not transport.close()
        assert time.monotonic() - start < 1.6
    assert spooled(tmp_path / "spool").state == "paused"
    with sqlite3.connect(tmp_path / "spool" / "spool.db") as database:
        assert database.execute("SELECT attempts FROM event").fetchone() == (1,)
    database.close()


def test_close_waits_for_what_is_on_its_way(tmp_path, make):
    """A receiver that needs half a second gets it."""
    with RawServer(default=delay(0.5, answer(200))) as server:
        transport = make(server.url, exit_budget=5)
        for number in range(3):
            transport.emit(tree(run={"runId": str(number)}))
        assert transport.close()
        assert len(server.requests) == 3
    assert spooled(tmp_path / "spool")[:3] == (0, 0, 3)


def test_dropped_clients_leave_no_threads(make, tmp_path):
    """A program that builds a client for each event keeps neither threads nor connections for long."""
    import gc  # noqa: PLC0415 - for this test alone
    import threading  # noqa: PLC0415

    with RawServer() as server:
        before = threading.active_count()
        for number in range(20):
            settings = {"url": server.url, "token": TOKEN, "spool_dir": str(tmp_path / "spool")}
            TrueWatchTransport({**settings, "delivery": "background"}).emit(tree(run={"runId": str(number)}))
        server.wait_for(20)
        gc.collect()
        end = time.monotonic() + 5
        ours = "truewatch-lineage"
        while any(thread.name.startswith(ours) for thread in threading.enumerate()) and time.monotonic() < end:
            time.sleep(0.02)
        left = [thread.name for thread in threading.enumerate() if thread.name.startswith(ours)]
    assert (left, threading.active_count() <= before + 1) == ([], True)
