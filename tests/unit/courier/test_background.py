"""Threads that lead in the background: what wakes them, and whether they live."""

from __future__ import annotations

import time

import pytest
from support.couriers import post
from support.destinations import destination
from support.events import tree
from support.raw_server import RawServer, hang

from truewatch_lineage.courier import leader
from truewatch_lineage.courier.service import Service


def _of_run(number):
    return tree(run={"runId": str(number)})


def test_each_event_is_tried_at_once_while_another_attempt_takes_long(tmp_path, monkeypatch):
    """Not only the first of them: without a wake-up they would be found at the leader's next look."""
    monkeypatch.setattr(leader, "POLL_SECONDS", 60.0)
    with RawServer([hang()]) as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as ours:
            ours.put(there, [_of_run(1)])
            ours.courier.start(poll=0.02)
            server.wait_for(1)
            for number in (2, 3, 4):
                ours.put(there, [_of_run(number)])
                ours.courier.wake()
                server.wait_for(number, timeout=5)
                time.sleep(0.2)  # its end is noted, and the leader waits for nothing but the first


@pytest.mark.parametrize(
    ("ends", "all_live", "has_ended"),
    [(set(), True, False), ({"here"}, False, False), ({"here", "there"}, False, True)],
)
def test_it_tells_whether_all_its_threads_live_and_whether_none_does(tmp_path, monkeypatch, ends, all_live, has_ended):
    """One dead thread is one destination to which nothing is delivered."""
    here, there = (destination("http://127.0.0.1:9", name=name) for name in ("here", "there"))
    run = Service._run
    monkeypatch.setattr(Service, "_run", lambda self: None if self._leader.binding.name in ends else run(self))
    with post(tmp_path / "spool", here, there) as ours:
        assert (ours.courier.all_live(), ours.courier.has_ended()) == (False, True)
        ours.courier.start(poll=0.02)
        time.sleep(0.2)  # those that end have ended
        assert (ours.courier.all_live(), ours.courier.has_ended()) == (all_live, has_ended)
