"""Events that break what reads them: each is a dead letter with a reason, and harms neither another nor the job."""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
from collections.abc import Mapping

import pytest
from support.events import tree

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.events.mapping import NameMapper
from truewatch_lineage.events.match import Match


class Raising(Mapping):
    """A mapping whose iteration raises."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise RuntimeError("secret text")

    def __len__(self):
        return 1


class Unclassed:
    """An object that does not even tell its class."""

    @property
    def __class__(self):
        raise ZeroDivisionError("secret text")


def doubled(levels):
    """Return lists in lists, each holding the same one twice."""
    value = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def make(folder, **settings):
    """Return a transport that stores for two destinations, and its spool's rows."""
    names = {name: {"url": f"http://127.0.0.1:9/{name}", "token": f"tkn_hostile_{name}"} for name in ("a", "b")}
    names["a"] |= settings
    return TrueWatchTransport({"delivery": "spool", "spool_dir": str(folder / "spool"), "destinations": names})


def rows(folder):
    """Return (destination, is dead, reason, has a body) of each event."""
    query = """
        SELECT name, event.state, event.reason, body_id IS NOT NULL FROM event
        JOIN destination ON destination.id = destination_id ORDER BY event.id
    """
    with contextlib.closing(sqlite3.connect(folder / "spool" / "spool.db")) as database:
        return database.execute(query).fetchall()


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (Raising(), "RuntimeError"),
        (Unclassed(), "ZeroDivisionError"),
        (tree(run={"runId": "r", "facets": {"big": doubled(40)}}), r"facets\.big: The event has over 4,000,000 values"),
    ],
    ids=["mapping", "class", "shared"],
)
def test_an_event_that_can_not_be_read_is_a_dead_letter_of_each_destination(tmp_path, caplog, event, told):
    """It is counted and its reason kept, without any text of its own exceptions."""
    caplog.set_level(logging.DEBUG)
    to = make(tmp_path)
    to.emit(event)
    to.emit(tree())
    to.close()
    found = rows(tmp_path)
    assert [(name, state) for name, state, _, _ in found] == [("a", 1), ("b", 1), ("a", 0), ("b", 0)]
    assert all(re.search(told, reason) for _, _, reason, _ in found[:2])
    assert "secret text" not in f"{found} {caplog.text}"


@pytest.mark.parametrize("part", [(Match, "wants"), (NameMapper, "apply")], ids=["match", "map"])
def test_a_fault_for_one_destination_costs_no_other_its_event(tmp_path, caplog, monkeypatch, part):
    """The one gets a dead letter with the event's body and the kind of fault; the other gets the event."""

    def broken(*_):
        raise LookupError("secret text")

    monkeypatch.setattr(*part, broken)
    to = make(tmp_path, match={"keep": [{"job": "*"}]}, map_namespaces={"ns": "other"})
    to.emit(tree())
    to.close()
    (a, b) = rows(tmp_path)
    assert (a[0], a[1], a[3]) == ("a", 1, 1)
    assert "LookupError" in a[2]
    assert b[:2] == ("b", 0)
    assert "secret text" not in f"{a} {caplog.text}"
