"""Many requests in one commit: each gets its own answer, and a fault of one is no other's."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.spooled import stored
from tables.receiver_rules import event

from truewatch_lineage.config import load
from truewatch_lineage.errors import SpoolBusyError, SpoolFullError
from truewatch_lineage.gateway import commit as module
from truewatch_lineage.gateway.commit import GroupCommit
from truewatch_lineage.gateway.door import Door
from truewatch_lineage.serving.answers import Refusal
from truewatch_lineage.spool import Store
from truewatch_lineage.spool.report import status


@pytest.fixture
def settings(tmp_path):
    """One destination that takes any event."""
    return load({"destination": "openlineage", "url": "http://127.0.0.1:9", "spool_dir": str(tmp_path / "spool")})


@pytest.fixture
def commit(settings):
    """A commit into a real spool."""
    store = Store(settings.spool_dir, durability="process")
    made = GroupCommit(store, Door(settings), lambda: None)
    yield made
    made.close()
    store.close()


def body(name, **facets):
    """Return an event's JSON."""
    return json.dumps(event({"job.name": name, "run.facets": facets})).encode()


def answers(commit, bodies):
    """Add all at once, and return for each None or its refusal."""

    async def add_all():
        return await asyncio.gather(*(commit.add(one, ()) for one in bodies), return_exceptions=True)

    # In a thread of its own: the browser tests' driver keeps a loop running in the one of the tests.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(add_all())).result()


def test_requests_that_come_together_share_a_commit(commit, settings):
    """In the order in which they came."""
    names = [f"job-{number}" for number in range(100)]
    assert answers(commit, map(body, names)) == [None] * 100
    assert [one["job"]["name"] for one in stored(settings.spool_dir)] == names
    assert commit.commits == 1
    assert commit.counts == {"accepted": 100, "skipped": 0, "refused": 0, "failed": 0}


def test_each_gets_its_own_answer(commit, settings):
    """What is refused is not stored, and what came with it is."""
    first, refused, last = answers(commit, [body("a"), b"[]", body("b")])
    assert (first, last) == (None, None)
    assert (refused.status, refused.code) == (400, "invalidEvent")
    assert [one["job"]["name"] for one in stored(settings.spool_dir)] == ["a", "b"]
    assert (commit.counts["accepted"], commit.counts["refused"]) == (2, 1)


def test_a_commit_is_bounded_by_events_and_bytes(commit, monkeypatch):
    """At least one event, however large."""
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    assert answers(commit, [body(str(number)) for number in range(7)]) == [None] * 7
    assert commit.commits == 3
    monkeypatch.setattr(module, "MAX_BYTES", 1500)
    assert answers(commit, [body("large", x={"y": "z" * 2000}), body("small"), body("small too")]) == [None] * 3
    assert commit.commits == 5


@pytest.mark.parametrize(
    ("error", "code", "trouble"),
    [
        (SpoolFullError("The disk is full.", path="/spool"), "spoolFull", "the spool is full"),
        (SpoolBusyError("It is locked.", path="/spool"), "spoolUnavailable", "the spool can't be written"),
        (RuntimeError("a fault that quotes the event"), "spoolUnavailable", "the spool can't be written"),
    ],
)
def test_a_commit_that_fails_is_everybodys_503(commit, monkeypatch, caplog, error, code, trouble):
    """With the time to come again, and the gateway is not ready, until one passes or a while is over."""

    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Store, "put_groups", fail)
        refusals = answers(commit, [body("a"), body("b")])
    assert [(one.status, one.code) for one in refusals] == [(503, code)] * 2
    assert all(int(one.headers["Retry-After"]) > 0 for one in refusals)
    assert commit.trouble() == trouble
    assert "quotes the event" not in caplog.text
    with monkeypatch.context() as patch:
        patch.setattr(module, "TROUBLE_SECONDS", -1.0)
        assert commit.trouble() is None
    assert answers(commit, [body("a")]) == [None]
    assert commit.trouble() is None
    assert commit.counts == {"accepted": 1, "skipped": 0, "refused": 0, "failed": 2}


def test_a_full_share_is_told_once_and_so_is_its_end(settings, monkeypatch, caplog):
    """By the destination's name; each delivery makes room for one event, which is no end of it."""
    store = Store(settings.spool_dir, durability="process", max_bytes=4000)
    commit = GroupCommit(store, Door(settings), lambda: None)
    large = body("large", x={"y": os.urandom(5000).hex()})
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            (refused,) = answers(commit, [large])
            assert (refused.status, refused.code) == (503, "spoolFull")
            assert "the share of default is used up" in refused.message
            assert commit.trouble() == "the spool is full: the share of default is used up"
            assert answers(commit, [body("small")]) == [None]
            assert commit.trouble() is None
        monkeypatch.setattr(module, "TROUBLE_SECONDS", -1.0)
        assert answers(commit, [body("s")]) == [None]
    commit.close()
    store.close()
    assert [record.getMessage() for record in caplog.records] == [
        "The spool is full: the share of default is used up. Events are refused with 503 until there is room.",
        "The spool has room again: events are taken.",
    ]


def test_what_nobody_wants_is_no_part_of_a_commit_that_fails(tmp_path, monkeypatch):
    """It is answered and counted once; what was refused comes again, and what it skips is counted then."""
    portal = {"destination": "portal", "url": "http://127.0.0.1:9", "token": "not-a-real-token"}
    any_other = {"destination": "openlineage", "url": "http://127.0.0.1:9", "match": {"keep": [{"job": "*wanted"}]}}
    settings = load({"destinations": {"a": portal, "b": any_other}, "spool_dir": str(tmp_path / "spool")})
    store = Store(settings.spool_dir, durability="process")
    commit = GroupCommit(store, Door(settings), lambda: None)
    job_event = {"eventTime": "2026-01-01T00:00:00Z", "producer": "https://p", "schemaURL": "https://s"}
    wanted, unwanted = (
        json.dumps({**job_event, "job": {"namespace": "n", "name": name}}).encode() for name in ("wanted", "other")
    )

    def fail(*_):
        raise SpoolBusyError("It is locked.", path="/spool")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "put_groups", fail)
        first, second = answers(commit, [wanted, unwanted])
    assert (first.status, second) == (503, None)
    assert commit.counts == {"accepted": 0, "skipped": 1, "refused": 0, "failed": 1}
    assert answers(commit, [wanted]) == [None]
    assert commit.counts == {"accepted": 1, "skipped": 1, "refused": 0, "failed": 1}
    assert status(store)["skipped"] == 2
    commit.close()
    store.close()


def test_a_fault_after_the_commit_leaves_nobody_waiting(settings, caplog):
    """All of the commit are answered 500, and the next ones are taken."""
    store, faults = Store(settings.spool_dir, durability="process"), [KeyError("quotes the event")]

    def told():
        if faults:
            raise faults.pop()

    commit = GroupCommit(store, Door(settings), told)
    refusals = answers(commit, [body("a"), body("b")])
    assert [(one.status, one.code) for one in refusals] == [(500, "fault")] * 2
    assert answers(commit, [body("c")]) == [None]
    assert commit.counts == {"accepted": 1, "skipped": 0, "refused": 0, "failed": 2}
    assert "quotes the event" not in caplog.text
    commit.close()
    store.close()


def test_a_fault_of_ours_is_one_events_500(commit, monkeypatch, caplog):
    """Its text may quote the event, so only its class is told."""
    enter = Door.enter

    def falter(self, data, secrets):
        if b"poison" in data:
            raise KeyError(data)
        return enter(self, data, secrets)

    monkeypatch.setattr(Door, "enter", falter)
    with caplog.at_level(logging.ERROR):
        first, second = answers(commit, [body("poison"), body("good")])
    assert (first.status, first.code, second) == (500, "fault", None)
    assert "poison" not in caplog.text + first.message
    assert "KeyError" in caplog.text


def test_a_request_that_is_cancelled_is_no_others_fault(commit, settings):
    """As where the server ends; what was begun is stored."""

    async def cancel_one():
        first, second = (asyncio.ensure_future(commit.add(body(name), ())) for name in "ab")
        await asyncio.sleep(0)
        first.cancel()
        return await asyncio.gather(first, second, return_exceptions=True)

    with ThreadPoolExecutor(1) as pool:
        first, second = pool.submit(lambda: asyncio.run(cancel_one())).result()
    assert isinstance(first, asyncio.CancelledError)
    assert second is None
    assert len(stored(settings.spool_dir)) == 2


@pytest.mark.parametrize("kept", [True, False])
def test_only_a_dead_letter_that_is_kept_is_told(tmp_path, caplog, kept):
    """That is where another destination takes the event; what is refused with 413 is kept nowhere."""
    one = {"destination": "dataway", "url": "http://127.0.0.1:9", "token": "not-a-real-token", "oversize": "reject"}
    other = {"b": {"destination": "openlineage", "url": "http://127.0.0.1:9"}} if kept else {}
    settings = load({"destinations": {"a": one, **other}, "spool_dir": str(tmp_path / "spool")})
    store = Store(settings.spool_dir, durability="process")
    commit = GroupCommit(store, Door(settings), lambda: None)
    (answer,) = answers(commit, [body("large", x={"y": "z" * 8 * 1024 * 1024})])
    commit.close()
    store.close()
    assert (answer is None) is kept
    assert sum("is kept as a dead letter" in text for text in caplog.messages) == kept


def test_a_door_says_what_it_refuses(settings):
    """An exception with a status, so that one way of answering serves all."""
    with pytest.raises(Refusal, match=r"Not one event but an array"):
        Door(settings).enter(b"[]")
