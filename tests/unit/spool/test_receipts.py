"""Receipts go when they are too old or too many, a few in each transaction."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import receipts, schema
from truewatch_lineage.spool.share import LEAST_RECEIPTS, Share


@pytest.fixture
def spool():
    """A database with 25 receipts, delivered at the times 1 to 25, and how many transactions were begun."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(schema.TABLES)
        rows = [(number, 1, 0, 0.0, float(number)) for number in range(1, 26)]
        connection.executemany(
            "INSERT INTO receipt (id, destination_id, attempts, created, delivered) VALUES (?, ?, ?, ?, ?)", rows
        )
        begun = []

        @contextlib.contextmanager
        def write():
            begun.append(connection)
            yield connection

        yield connection, write, begun


@pytest.mark.parametrize(
    ("before", "most", "left"),
    [
        pytest.param(0.0, 100, range(1, 26), id="none is old, none too many"),
        pytest.param(21.0, 100, range(21, 26), id="those before a time"),
        pytest.param(0.0, 4, range(22, 26), id="all but the newest"),
        pytest.param(24.0, 4, range(24, 26), id="both"),
        pytest.param(99.0, 4, (), id="all"),
        pytest.param(0.0, 25, range(1, 26), id="just as many as may stay"),
    ],
)
def test_what_goes(spool, monkeypatch, before, most, left):
    """The oldest go, whatever makes them too many."""
    connection, write, _ = spool
    monkeypatch.setattr(receipts, "AT_ONCE", 10)
    receipts.forget(write, before, most)
    assert [row[0] for row in connection.execute("SELECT id FROM receipt ORDER BY id")] == list(left)


def test_few_go_in_each_transaction(spool, monkeypatch):
    """25 of which 10 may go at once take three, so that whoever stores events waits for none of them for long."""
    _, write, begun = spool
    monkeypatch.setattr(receipts, "AT_ONCE", 10)
    receipts.forget(write, 99.0, 100)
    assert len(begun) == 3 + 1


def test_how_many_may_stay(tmp_path):
    """As many as take a quarter of the spool's room, and always some."""
    assert Share(tmp_path, 1024 * MIB, 2, lambda: 0.0).receipts == 256 * MIB // receipts.BYTES
    assert Share(tmp_path, 1, 1, lambda: 0.0).receipts == LEAST_RECEIPTS
