"""Scrapes look into the spool seldom, however many there are and however long a look takes."""

from __future__ import annotations

import time

import pytest

from truewatch_lineage.gateway.http import state as module
from truewatch_lineage.gateway.http.state import SpoolLook


@pytest.fixture
def looks(monkeypatch):
    """The looks that were taken, each of which takes 20 ms."""
    taken = []

    def look(store):
        taken.append(store)
        time.sleep(0.02)
        return {"pending": len(taken)}

    monkeypatch.setattr(module, "status", look)
    return taken


def test_what_was_found_is_told_for_a_while(looks):
    """A hundred scrapes cost one look."""
    look = SpoolLook("a store")
    assert [look.status() for _ in range(100)] == [{"pending": 1}] * 100
    assert looks == ["a store"]


def test_a_look_that_takes_long_is_kept_longer(looks, monkeypatch):
    """Otherwise a large backlog would keep a processor busy with counting it."""
    monkeypatch.setattr(module, "KEEP_SECONDS", 0.0)
    look = SpoolLook("a store")
    began = time.monotonic()
    while look.status() == {"pending": 1}:
        time.sleep(0.01)
    assert time.monotonic() - began > 0.02 * (module.KEEP_TIMES - 1)
