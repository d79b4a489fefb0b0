"""Locks between processes."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from truewatch_lineage.spool.locks import FileLock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="flock; Windows locks by a library")


@pytest.fixture
def pair(tmp_path):
    """Two locks on one file, as two processes would have them."""
    locks = FileLock(tmp_path / "x.lock"), FileLock(tmp_path / "x.lock")
    yield locks
    for lock in locks:
        lock.close()


def test_one_holder_at_a_time(pair):
    """The second gets the lock when the first lets it go, and not before."""
    first, second = pair
    assert first.try_acquire()
    assert first.try_acquire(), "it is held already"
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    assert (first.held, second.held) == (False, True)


def test_a_wait_that_ends(pair):
    """A wait ends at its deadline, or as soon as the lock is free."""
    first, second = pair
    first.try_acquire()
    begun = time.monotonic()
    assert not second.acquire(0.1)
    assert 0.1 <= time.monotonic() - begun < 1
    timer = threading.Timer(0.1, first.release)
    timer.start()
    assert second.acquire(5)
    timer.join()


def test_hold(pair):
    """`hold` tells whether it holds, and frees the lock at the end of its block, also after an error."""
    first, second = pair
    with first.hold(0) as held, second.hold(0) as also:
        assert (held, also) == (True, False)
    with pytest.raises(ZeroDivisionError), first.hold(0):
        raise ZeroDivisionError
    assert second.try_acquire()


def test_a_removed_lock_file(pair):
    """Whoever locks after the file was removed locks the file that others will find there."""
    first, second = pair
    first.try_acquire()
    first.release()
    first.path.unlink()
    assert second.try_acquire()
    assert not first.try_acquire()


def test_abandoning_keeps_the_others_lock(pair):
    """A copy of the descriptor, as a forked child has it, goes without freeing the lock."""
    first, second = pair
    first.try_acquire()
    copy = FileLock(first.path)
    copy._handle, copy._held = os.dup(first._handle), True
    copy.abandon()
    assert not copy.held
    assert not second.try_acquire()


def test_a_closed_lock_leaves_no_descriptor(pair):
    """After `close` nothing is open, and the lock can be used again."""
    first, _ = pair
    first.try_acquire()
    handle = first._handle
    first.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
    assert first.try_acquire()
