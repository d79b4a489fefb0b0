"""Resume, replay, drop and rebind keep the spool's rows in agreement: heads, references, bytes."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import replace

import pytest
from support.spool_audit import audit

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, admin, report

ONE = Binding("one", "dataway", "https://one.example/v1/write/openlineage")
MOVED = Binding("one", "dataway", "https://two.example/v1/write/openlineage")
OTHER = Binding("other", "portal", "https://portal.example/api/data-registry/lineage")


@pytest.fixture
def store(tmp_path):
    """A spool whose bytes are 1 MiB a destination."""
    made = Store(tmp_path / "spool", max_bytes=2 * 1024 * 1024, shares=2)
    yield made
    made.close()


def _entry(number, lane="run:a", binding=ONE):
    body = gzip.compress(b'{"n":%d}' % number, mtime=0)
    return Entry(binding, lane, body, "START", "ns/job", lane.removeprefix("run:"))


def _put(store, *entries):
    return store.put(list(entries))


def _settle(store, event_id, result, binding=ONE, attempt=1):
    store.settle(binding, [Settlement(event_id, attempt, result, f"{result} by test", 400)], Standing(attempts=attempt))


def _agrees(store):
    return not audit(store).faults


def test_a_replayed_dead_letter_is_the_head_of_its_lane_again(store) -> None:
    """It goes before the later event of its run that still waits."""
    first, second = _put(store, _entry(1), _entry(2))
    _settle(store, first, "dead")
    assert [event.id for event in store.heads(ONE, 9)] == [second]

    (done,) = admin.replay(store, [first])

    assert (done.problem, done.overtaken) == (None, 0)
    assert [event.id for event in store.heads(ONE, 9)] == [first]
    assert _agrees(store)


def test_replay_says_how_many_later_events_of_the_run_have_gone(store) -> None:
    """Receipts of later events of the same run are counted, those of others are not."""
    first, second, third, elsewhere = _put(store, _entry(1), _entry(2), _entry(3), _entry(4, "run:b"))
    _settle(store, first, "dead")
    for event_id in (second, third, elsewhere):
        _settle(store, event_id, "delivered")

    assert [one.overtaken for one in admin.replay(store, [first])] == [2]


def test_replay_names_what_it_can_not_do(store) -> None:
    """An unknown id, one that waits, one of another destination and one without body are told apart."""
    (waiting,) = _put(store, _entry(1))
    (bodiless,) = _put(store, replace(_entry(2), body=None, dead="it is no JSON"))

    problems = {one.id: one.problem for one in admin.replay(store, [waiting, bodiless, 99])}

    assert "waits" in problems[waiting]
    assert "metadata" in problems[bodiless]
    assert "no such event" in problems[99]
    assert "of destination other" in admin.replay(store, [bodiless], "other")[0].problem


def test_drop_removes_events_of_any_state_with_what_belongs_to_them(store) -> None:
    """The next of the lane becomes its head, and equal bodies are kept while one event has them."""
    first, dead, twin, last = _put(store, _entry(1), _entry(2, "run:b"), _entry(1, "run:c"), _entry(3))
    _settle(store, dead, "dead")

    assert admin.drop(store, [first, dead, 99]) == [first, dead]
    assert [event.id for event in store.heads(ONE, 9)] == [twin, last]
    assert _agrees(store)


def test_drop_of_another_destination_does_nothing(store) -> None:
    """``--destination`` guards against a wrong id."""
    (event_id,) = _put(store, _entry(1))

    assert admin.drop(store, [event_id], "other") == []
    assert store.pending(ONE) == 1


@pytest.mark.parametrize(("name", "resumed"), [(None, ["one", "other"]), ("one", ["one"]), ("nobody", [])])
def test_resume_opens_what_is_stopped(store, name, resumed) -> None:
    """A parked and a paused destination are ready at once, all or the one that is named."""
    _put(store, _entry(1), _entry(2, binding=OTHER))
    store.settle(ONE, [], Standing(state="parked", reason="no token", until=9e9, failures=3, parked_with="x"))
    store.settle(OTHER, [], Standing(state="paused", reason="down", until=9e9, failures=1))

    assert admin.resume(store, name) == resumed
    assert {one.name for one in (ONE, OTHER) if store.standing(one).state == "ready"} == set(resumed)


def test_resume_lets_an_event_be_tried_that_waits_for_its_own_time(store) -> None:
    """An operator who has mended something need not wait for a lane's backoff."""
    (event_id,) = _put(store, _entry(1))
    store.settle(ONE, [Settlement(event_id, 1, "wait", "500", 500, due=store.clock() + 300)], Standing(attempts=1))
    assert store.heads(ONE, 9) == []

    assert admin.resume(store) == ["one"]
    assert [event.id for event in store.heads(ONE, 9)] == [event_id]


def test_rebind_moves_events_in_their_places(store) -> None:
    """Lanes of both are merged by the order of emit, and attempts are counted anew."""
    first, other_lane = _put(store, _entry(1), _entry(2, "run:b"))
    store.settle(ONE, [Settlement(first, 1, "wait", "500", 500, due=9e9)], Standing(attempts=1))
    (dead,) = _put(store, _entry(3, "run:d"))
    _settle(store, dead, "dead", attempt=2)
    (later,) = _put(store, replace(_entry(4), binding=MOVED))

    done = admin.rebind(store, ONE, MOVED)

    assert (done.moved, done.left) == (3, 0)
    heads = store.heads(MOVED, 9)
    assert [event.id for event in heads] == [first, other_lane]
    assert {(event.attempts, event.failed_at) for event in heads} == {(0, 0)}
    assert store.pending(ONE) == 0
    assert store.pending(MOVED) == 3
    assert later not in [event.id for event in heads]
    assert report.dead_ids(store, "one") == [dead]
    assert _agrees(store)
    assert admin.bound_elsewhere(store, MOVED) == []


def test_rebind_converts_bodies_and_leaves_what_does_not_fit(store) -> None:
    """Another kind may want other bodies, and may take less."""
    fits, not_taken = _put(store, _entry(1), _entry(2, "job:ns/job"))

    def convert(body):
        return gzip.compress(b'{"changed":true}', mtime=0) if b'"n":1' in gzip.decompress(body) else None

    done = admin.rebind(store, ONE, MOVED, convert)

    assert (done.moved, done.left) == (1, 1)
    assert [gzip.decompress(event.body) for event in store.heads(MOVED, 9)] == [b'{"changed":true}']
    assert [event.id for event in store.heads(ONE, 9)] == [not_taken]
    assert fits != not_taken
    assert _agrees(store)


def test_rebind_of_many_events_is_cut_into_commits(store) -> None:
    """More than a page moves, and all of it."""
    _put(store, *(_entry(number, f"run:{number}") for number in range(1201)))

    assert admin.rebind(store, ONE, MOVED).moved == 1201
    assert store.pending(MOVED) == 1201
    assert _agrees(store)


def test_a_long_replay_lets_emits_in(tmp_path):
    """Thousands of dead letters are replayed in short commits: one long one would lock every job of the host out."""
    store, other = Store(tmp_path / "spool", durability="process"), Store(tmp_path / "spool", durability="process")
    there = Binding("a", "dataway", "http://a/v1")
    ids = store.put([Entry(there, f"run:{n}", b"%d" % n, run_id=str(n), dead="refused") for n in range(5_000)])
    replaying = threading.Thread(target=admin.replay, args=(store, ids))
    replaying.start()
    slowest = 0.0
    while replaying.is_alive():
        began = time.monotonic()
        other.put([Entry(there, "run:new", b"x")])
        slowest = max(slowest, time.monotonic() - began)
    replaying.join()
    assert store.pending(there) > 5_000
    assert slowest < 1.0
    store.close()
    other.close()
