"""The store's rules, one at a time; `tests/integration/test_spool_model.py` looks for sequences that break them."""

from __future__ import annotations

import contextlib
import gc
import os
import sqlite3
from pathlib import Path

import pytest
from support.couriers import Clock
from support.spool_audit import audit

from truewatch_lineage.errors import SpoolBusyError, SpoolCorruptError, SpoolFullError, SpoolUnusableError
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, admin, report, rescue
from truewatch_lineage.spool import share as module
from truewatch_lineage.spool.fates import Fate, fates

A = Binding("a", "dataway", "http://a/v1")
B = Binding("b", "portal", "http://b/v1")
DAY = 86_400.0


@pytest.fixture
def clock():
    """A clock."""
    return Clock()


@pytest.fixture
def make(tmp_path, clock):
    """A function that opens a store on one folder; all are closed at the end."""
    stores = []

    def open_store(**more):
        stores.append(Store(tmp_path / "spool", durability="process", clock=clock, **more))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def one(store, query, *values):
    """Return the first row of a query."""
    with store.database.read() as connection:
        return connection.execute(query, values).fetchone()


def test_a_share_each(make):
    """A destination that has used its share takes nothing from the other's, and gets room again when it delivers."""
    store = make(max_bytes=200, shares=2)
    first, second = store.put([Entry(A, "run:1", b"x" * 60), Entry(A, "run:2", b"y" * 50)])
    assert (first, second) == (1, None)
    assert store.put([Entry(B, "run:1", b"z" * 100)]) == [2]
    store.settle(A, [Settlement(first, 1, "delivered")], Standing())
    assert store.put([Entry(A, "run:2", b"y" * 50)]) == [3]


def test_a_smaller_one_does_not_overtake(make):
    """Once an event of a lane was refused, a smaller one of the same put and lane is refused too."""
    store = make(max_bytes=100)
    given = [Entry(A, "run:1", b"x" * 101), Entry(A, "run:1", b"y"), Entry(A, "run:2", b"y")]
    assert store.put(given) == [None, None, 1]


def test_a_quarter_for_dead_letters(make):
    """Dead letters keep their bodies up to a quarter of the share, and then their metadata alone."""
    store = make(max_bytes=400)
    ids = store.put([Entry(A, f"run:{n}", bytes([n]) * 60, dead="bad" if n == 0 else None) for n in range(4)])
    store.settle(A, [Settlement(ids[1], 1, "dead", "refused", 400)], Standing())
    rows = [one(store, "SELECT state, body_id IS NULL, bytes, reason FROM event WHERE id = ?", n) for n in ids]
    assert rows == [(1, 0, 60, "bad"), (1, 1, 60, "refused"), (0, 0, 60, None), (0, 0, 60, None)]
    assert one(store, "SELECT bytes, dead_bytes FROM destination") == (180, 60)


def test_equal_bodies_are_stored_once(make):
    """One event for two destinations has one body, which goes with the last of them."""
    store = make()
    first, second = store.put([Entry(A, "run:1", b"same"), Entry(B, "run:1", b"same")])
    assert one(store, "SELECT count(*), sum(refs) FROM body") == (1, 2)
    store.settle(A, [Settlement(first, 1, "delivered")], Standing())
    assert [queued.body for queued in store.heads(B, 9)] == [b"same"]
    store.settle(B, [Settlement(second, 1, "delivered")], Standing())
    assert one(store, "SELECT count(*) FROM body") == (0,)


def test_a_receipt(make, clock):
    """A delivered event leaves what is needed to trace it, for as many days as set."""
    store = make(receipts_days=2)
    store.put([Entry(A, "run:1", b"x", "START", "ns/job", "1")])
    store.settle(A, [Settlement(1, 1, "wait")], Standing())
    clock.now += 5
    store.settle(A, [Settlement(1, 2, "delivered", "cached", 200, cached=True)], Standing())
    receipt = one(store, "SELECT event_type, job, run_id, status, note, attempts, delivered - created FROM receipt")
    assert receipt == ("START", "ns/job", "1", 200, "cached", 2, 5.0)
    clock.now += 2 * DAY
    store.tidy()
    assert audit(store).delivered == {1}
    clock.now += 1
    store.tidy()
    assert not audit(store).delivered
    assert one(store, "SELECT delivered, cached FROM destination") == (1, 1)


def test_no_receipts(make):
    """With no days for receipts there are none."""
    store = make(receipts_days=0)
    store.put([Entry(A, "run:1", b"x")])
    store.settle(A, [Settlement(1, 1, "delivered")], Standing())
    assert not audit(store).known


def test_an_answer_that_comes_twice_counts_once(make):
    """Two leaders that both delivered an event count it, and what was said of the answer, once."""
    first, second = make(), make()
    first.put([Entry(A, "run:1", b"x")])
    for store in (first, second):
        store.settle(A, [Settlement(1, 1, "delivered", cached=True, not_json=True)], Standing())
    assert one(first, "SELECT delivered, cached, not_json FROM destination") == (1, 1, 1)


@pytest.mark.parametrize(("free", "expected"), [(5 * MIB, MIB // 2), (1 << 50, 1024 * MIB)])
def test_the_default_size(make, monkeypatch, free, expected):
    """Unless set the spool takes a tenth of the free space, and at most 1 GiB."""
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": free}))
    assert make()._share.size == expected


def test_the_ballast_comes_with_the_first_event(make, clock):
    """A process that only puts makes the ballast too, and looks after it every ten minutes."""
    store = make()
    assert not store.ballast.path.exists()
    for later, expected in ((0, True), (599, False), (1, True)):
        clock.now += later
        store.put([Entry(A, "run:1", b"x")])
        assert store.ballast.drop() is expected


@pytest.mark.parametrize("number", [-1, 0, 99, 1 << 62, 1 << 63, 1 << 200, -(1 << 200)])
def test_ids_that_no_event_has(make, number):
    """Any number may be asked for, also one that SQLite can't hold: it is unknown."""
    store = make()
    store.put([Entry(A, "run:1", b"x")])
    assert not store.is_pending(number)
    assert store.lane_due(number) is None
    assert store.pending(A, before=number) == (number > 1)
    assert fates(store, [1, number]) == {1: Fate("pending"), number: Fate("unknown")}
    assert report.shown(store, number) is None
    assert "no such event" in admin.replay(store, [number])[0].problem
    assert admin.drop(store, [number]) == []


def test_a_put_that_fails_leaves_no_address_behind(make):
    """An id of a destination that was made in a transaction rolled back is not used for another one's events."""
    store = make()
    with pytest.raises(UnicodeEncodeError):
        store.put([Entry(A, "run:1", b"x"), Entry(A, "\ud800", b"y")])
    store.put([Entry(B, "run:1", b"z")])
    store.put([Entry(A, "run:1", b"x")])
    assert [queued.body for queued in store.heads(A, 9)] == [b"x"]
    assert [queued.body for queued in store.heads(B, 9)] == [b"z"]


def _open_below(folder):
    """Count this process's descriptors of files in a folder, where the system tells them."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        return None
    names = []
    for descriptor in descriptors.iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(descriptor))  # noqa: PTH115 - a deleted file's link is no path
    return sum(name.startswith(str(folder)) for name in names)


def test_a_store_that_is_forgotten_is_closed(make, tmp_path):
    """A store that goes out of scope leaves neither a descriptor nor a log behind."""
    store = Store(tmp_path / "other")
    store.put([Entry(A, "run:1", b"x")])
    before = _open_below(tmp_path / "other")
    del store
    gc.collect()
    assert not (tmp_path / "other" / "spool.db-wal").exists()
    assert before is None or (before, _open_below(tmp_path / "other")) == (4, 0)  # database, log, index, lock


def test_a_log_without_a_courier(make):
    """Writers alone keep the log short, and it shrinks again."""
    store = make()
    sizes = []
    for number in range(1200):
        store.put([Entry(A, f"run:{number}", os.urandom(3000))])
        sizes.append(store.database.wal_bytes())
    assert max(sizes) < 6 * MIB
    assert min(sizes[600:]) < MIB


def test_a_file_that_shrinks_after_an_outage(make):
    """What an outage has made of the file is given back to the disk once it is delivered."""
    store = make()
    ids = store.put([Entry(A, f"run:{number}", os.urandom(20_000)) for number in range(300)])
    store.tidy()
    assert store.database.path.stat().st_size > 5 * MIB
    store.settle(A, [Settlement(number, 1, "delivered") for number in ids], Standing())
    store.tidy()
    assert store.database.path.stat().st_size < MIB
    assert not audit(store).faults


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("database disk image is malformed", SpoolCorruptError),
        ("file is not a database", SpoolCorruptError),
        ("unsupported file format", SpoolCorruptError),
        ("Could not decode to UTF-8 column 'lane' with text 'a\ufffd'", SpoolCorruptError),
        ("no such table: event", SpoolCorruptError),
        ("database or disk is full", SpoolFullError),
        ("disk I/O error", SpoolFullError),
        ("database is locked", SpoolBusyError),
        ("locking protocol", SpoolBusyError),
        ("attempt to write a readonly database", SpoolUnusableError),
        ("unable to open database file", SpoolUnusableError),
        ("something new", SpoolUnusableError),
    ],
)
def test_what_sqlites_errors_mean(tmp_path, text, expected):
    """Each of SQLite's messages (sqlite3_errstr) is told as what it is for a spool."""
    assert type(rescue.explain(sqlite3.OperationalError(text), tmp_path / "spool.db")) is expected


def test_a_group_is_stored_whole_or_not_at_all(make):
    """An event for two destinations is not stored for one where the other's share is used up; others still are."""
    store = make(max_bytes=200, shares=2)
    store.put([Entry(B, "run:0", b"0" * 90)])
    both = [Entry(A, "run:1", b"x" * 60), Entry(B, "run:1", b"x" * 60)]
    assert store.put_groups([both, [Entry(A, "run:2", b"y" * 60)], []]) == [False, True, True]
    assert store.crowded([Entry(A, "run:1", b"x" * 40), Entry(B, "run:1", b"x" * 40)]) == [B.name]
    assert store.crowded([Entry(B, "run:1", b"x" * 60, dead="no")]) == []
    assert (store.pending(A), store.pending(B)) == (1, 1)
    audit(store)


def test_a_smaller_group_does_not_overtake_one_that_found_no_room(make):
    """Of one lane, in one commit; a dead letter takes no place in a lane and is stored, its body where it fits."""
    store = make(max_bytes=100)
    groups = [[Entry(A, "run:1", b"x" * 101)], [Entry(A, "run:1", b"y")], [Entry(A, "run:1", b"z", dead="no")]]
    assert store.put_groups(groups) == [False, False, True]
    assert store.put_groups([[Entry(A, "run:1", b"y")]]) == [True]
