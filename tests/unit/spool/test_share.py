"""Shares of the spool, and what is done only once in a while."""

from __future__ import annotations

import pytest

from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from truewatch_lineage.spool import share as module
from truewatch_lineage.spool.interval import Interval

A = Binding("a", "dataway", "http://a/v1")


class Disk:
    """A disk and a clock that are set by hand."""

    free = 2000
    now = 1_800_000_000.0

    def __call__(self, folder=None):
        """Return what `shutil.disk_usage` does of a folder, or the time."""
        return self.now if folder is None else self


@pytest.fixture
def disk(monkeypatch):
    """A nearly full disk."""
    disk = Disk()
    monkeypatch.setattr(module.shutil, "disk_usage", disk)
    return disk


@pytest.fixture
def store(tmp_path, disk):
    """A store without a set size and with its ballast, closed at the end."""
    store = Store(tmp_path / "spool", durability="process", clock=disk)
    disk.free = 100 * MIB
    assert store.ballast.fill()
    disk.free = Disk.free
    yield store
    store.close()


def big(number):
    """Return an event too big for a tenth of what the spool itself takes."""
    return Entry(A, f"run:{number}", bytes([number]) * 200_000)


def test_a_share_grows_with_the_room(store, disk):
    """What was cut on a full disk is looked up again when an event does not fit, at most once a minute."""
    assert store.put([big(1)]) == [None]
    disk.free = 100 * MIB
    assert store.put([big(1)]) == [None], "it was looked up a moment ago"
    disk.now += module.RECOUNT_SECONDS
    assert store.put([big(1), big(2)]) == [1, 2]


def test_dead_letters_get_the_room_too(store, disk):
    """The part of the share that bodies of dead letters may have grows with it, also where nothing is put."""
    store.put([Entry(A, "run:1", b"x" * 150)])
    other = Store(store.folder, durability="process", clock=disk)
    other._share.size = 10
    disk.free = 100 * MIB
    other.settle(A, [Settlement(1, 1, "dead", "refused", 400)], Standing(attempts=1))
    with other.database.read() as connection:
        assert connection.execute("SELECT dead_bytes FROM destination").fetchone() == (150,)
    other.close()


def test_a_set_size_stays(tmp_path, disk):
    """What a user has set is not looked up."""
    store = Store(tmp_path / "spool", max_bytes=1000, clock=disk)
    disk.free = 100 * MIB
    assert store.put([big(1)]) == [None]
    store.close()


def test_what_the_spool_has_taken_counts_as_its_own(store, disk):
    """A share does not shrink by what is in it."""
    disk.free = 100 * MIB
    before = module.Share(store.folder, None, 1, disk).size
    store.put([big(1)])
    disk.free -= store.database.path.stat().st_size + store.database.wal_bytes()
    assert module.Share(store.folder, None, 1, disk).size == pytest.approx(before, abs=1)


def test_an_interval():
    """Due at once, then after so many seconds, or when the clock was turned back."""
    now = [0.0]
    interval = Interval(60, lambda: now[0])
    seen = []
    for second in (5.0, 64.9, 65.0, 65.0, 4.0, 5.0):
        now[0] = second
        seen.append(interval.is_due())
    assert seen == [True, False, True, False, True, False]


def test_the_capacity_is_that_of_all_shares(tmp_path) -> None:
    """Whatever the number of destinations that share it."""
    with_three = Store(tmp_path / "spool", durability="process", max_bytes=3000, shares=3)

    assert with_three.capacity == 3000
    with_three.close()
