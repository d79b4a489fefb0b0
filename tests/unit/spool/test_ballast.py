"""The ballast."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from truewatch_lineage.spool import ballast as module
from truewatch_lineage.spool.ballast import SIZE, Ballast


@pytest.fixture
def ballast(tmp_path):
    """A ballast that is not there yet."""
    return Ballast(tmp_path)


def test_fill_and_drop(ballast):
    """It takes real room, once, and gives it back, once."""
    assert ballast.fill()
    assert ballast.fill()
    assert ballast.path.stat().st_size == SIZE
    assert ballast.path.stat().st_blocks * 512 >= SIZE
    assert ballast.drop()
    assert not ballast.drop()


def test_a_part_of_it_is_made_whole(ballast):
    """What a kill in the middle of its making has left is made anew."""
    ballast.path.write_bytes(b"x")
    assert ballast.fill()
    assert ballast.path.stat().st_size == SIZE


def test_little_room(ballast, monkeypatch):
    """A disk that is nearly full is left alone."""
    monkeypatch.setattr(module, "_ROOM_TO_REFILL", 1 << 62)
    assert not ballast.fill()
    assert not ballast.path.exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT])
def test_no_room_after_all(ballast, monkeypatch, code):
    """Where it can't be made whole nothing of it stays."""

    def fail(handle, offset, size):
        os.write(handle, b"a part")
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", fail)
    assert not ballast.fill()
    assert not ballast.path.exists()


@pytest.mark.parametrize(
    ("free", "has_file", "is_kept"), [(SIZE, False, True), (SIZE - 1, False, False), (0, True, True)]
)
def test_the_room_may_be_in_the_file_or_free(ballast, monkeypatch, free, has_file, is_kept):
    """Which of both is no matter for deliveries."""
    assert not has_file or ballast.fill()
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert ballast.is_kept() is is_kept


def test_a_folder_that_is_gone_is_told_by_whoever_writes(ballast):
    """It is made anew then."""
    ballast.path.parent.rmdir()
    assert ballast.is_kept()
