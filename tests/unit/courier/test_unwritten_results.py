"""Results of attempts that the spool can't take: kept until it can, and nothing is tried over and over meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import resource
import time

import pytest
from support.couriers import post
from support.destinations import destination
from support.events import tree
from support.raw_server import RawServer
from support.spooled import spooled

from truewatch_lineage.courier import service
from truewatch_lineage.errors import SpoolFullError


@contextlib.contextmanager
def no_room():
    """Let no file of this process grow beyond what holds nothing."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def events(number):
    """Return events, each of a run of its own."""
    return [tree(run={"runId": str(count)}) for count in range(number)]


def wake_for(courier, seconds):
    """Tell a courier of new events all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        courier.wake()
        time.sleep(0.005)


def wait_for_none(courier):
    """Wait until nothing is left to deliver."""
    end = time.monotonic() + 10
    while courier.pending() and time.monotonic() < end:
        time.sleep(0.02)
    assert not courier.pending()


def test_what_could_not_be_noted_is_noted_later_and_not_sent_again(tmp_path, monkeypatch):
    """Each event is sent once, though the disk was full when the first ones had arrived."""
    monkeypatch.setattr(service, "_AFTER_ERROR", 0.2)
    with RawServer() as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as ours:
            ours.put(there, events(20))
            with no_room():
                ours.courier.start(poll=0.02)
                server.wait_for(1)
                wake_for(ours.courier, 1.0)
                assert len(server.requests) <= 4  # the first window
                assert ours.courier.pending() == 20
            wait_for_none(ours.courier)
            assert len({body["run"]["runId"] for body in server.bodies}) == len(server.requests) == 20


@pytest.mark.parametrize(("longest", "rests"), [(60.0, (0.1, 0.2, 0.4, 0.8)), (0.2, (0.1, 0.2, 0.2, 0.2))])
def test_it_backs_off_whatever_is_signalled_and_ends_at_once(tmp_path, monkeypatch, longest, rests):
    """For twice as long each time, up to the longest rest."""
    monkeypatch.setattr(service, "_AFTER_ERROR", 0.1)
    monkeypatch.setattr(service, "_LONGEST_AFTER_ERROR", longest)
    tries = []

    def fail(*_):
        tries.append(time.monotonic())
        raise SpoolFullError("The disk is full.")

    with RawServer() as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as ours:
            monkeypatch.setattr(ours.store, "settle", fail)
            ours.put(there, events(1))
            ours.courier.start(poll=0.02)
            wake_for(ours.courier, 2.5)
            took = [later - earlier for earlier, later in itertools.pairwise(tries)][: len(rests)]
            assert all(rest <= one < rest + 0.5 for one, rest in zip(took, rests, strict=True))
            began = time.monotonic()
            ours.courier.finish(5)
            ours.courier.stop()
            assert time.monotonic() - began < 1
            assert len(server.requests) == 1


def test_what_another_process_has_noted_meanwhile_counts_once(tmp_path):
    """It can't know what has arrived, so it sends it again; the results kept here come to nothing then."""
    with RawServer() as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as ours, post(tmp_path / "spool", there) as other:
            ours.put(there, events(1))
            with no_room():
                ours.courier.drain(5)
            other.courier.drain(5)
            assert spooled(tmp_path / "spool")[:3] == (0, 0, 1)
            ours.put(there, events(2))
            ours.courier.drain(5)
            assert spooled(tmp_path / "spool")[:3] == (0, 0, 3)
            assert len(server.requests) == 4


def test_results_of_a_spool_that_was_removed_say_nothing_of_the_next(tmp_path):
    """The ids begin anew, so that a result kept would take another event for delivered."""
    with RawServer() as server:
        there = destination(server.url)
        with post(tmp_path / "spool", there) as ours:
            ours.put(there, events(1))
            with no_room():
                ours.courier.drain(5)
            for file in (tmp_path / "spool").glob("spool.db*"):
                file.unlink()
            ours.put(there, events(2)[1:])
            ours.courier.drain(5)
            assert [body["run"]["runId"] for body in server.bodies] == ["0", "1"]
            assert spooled(tmp_path / "spool")[:3] == (0, 0, 1)
