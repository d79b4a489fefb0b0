"""Rows that hold what we never wrote, as a damaged page that SQLite still reads: the spool is saved and goes on."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3

import pytest
from support.spool_audit import audit

from truewatch_lineage.errors import SpoolCorruptError
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, report, soundness
from truewatch_lineage.spool.records import from_row

BINDING = Binding("default", "dataway", "http://localhost/v1")
CORRUPT = "spool.db.corrupt-*"
EVENTS = 6

WRONG = {
    "until is text": "UPDATE destination SET state = 'paused', until = 'garbage'",
    "attempts are text": "UPDATE destination SET attempts = 'abc'",
    "an unknown state": "UPDATE destination SET state = 'reedy'",
    "a reason that is bytes": "UPDATE destination SET reason = x'ff'",
    "bytes are text": "UPDATE destination SET bytes = 'abc'",
    "due is text": "UPDATE event SET due = 'abc'",
    "attempts of events are bytes": "UPDATE event SET attempts = x'00'",
    "numbers beyond all": "UPDATE destination SET attempts = 9223372036854775807",
    "a text that is no UTF-8": "UPDATE destination SET reason = CAST(x'ff' AS TEXT)",
    "a lane that is no UTF-8": "UPDATE event SET lane = CAST(lane || x'ff' AS TEXT)",
    "no destination": "DELETE FROM destination",
    "no key": "DELETE FROM meta WHERE key = 'fingerprint_key'",
    "a key that is a number": "UPDATE meta SET value = 5 WHERE key = 'fingerprint_key'",
}


@pytest.fixture(autouse=True)
def quiet(caplog):
    """A rescue is logged as an error, which is right, and no news here."""
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def store(tmp_path):
    """A spool with events, closed at the end."""
    store = Store(tmp_path / "spool", durability="process")
    store.put([Entry(BINDING, f"run:{number}", os.urandom(99), "START", "ns/job") for number in range(EVENTS)])
    yield store
    store.close()


def change(store, script):
    """Change rows behind a store's back."""
    with contextlib.closing(sqlite3.connect(store.database.path)) as connection:
        connection.executescript(script)


def work(store):
    """Do what a job and its courier do with a spool, as they do it."""
    store.fingerprint_key()
    store.tidy_if_due()
    store.next_due(BINDING)
    store.put([Entry(BINDING, "run:new", os.urandom(99))])
    standing = store.standing(BINDING)
    heads = store.heads(BINDING, 2)
    settlements = [Settlement(one.id, standing.attempts + 1, "delivered") for one in heads]
    store.settle(BINDING, settlements, Standing(attempts=standing.attempts + 1))


@pytest.mark.parametrize("reopened", [False, True], ids=["open", "reopened"])
@pytest.mark.parametrize("case", WRONG)
def test_what_we_never_wrote_is_mended(store, case, reopened):
    """Nothing but errors of the spool come out, the rows are put right, and no event is lost."""
    change(store, WRONG[case])
    if reopened:
        store.close()
    for _ in range(3):
        with contextlib.suppress(SpoolCorruptError):  # what does not try twice by itself tells of it
            work(store)
    work(store)
    with store.database.read() as connection:
        assert soundness.is_sound(connection)
    found = audit(store)
    assert not found.faults
    assert set(range(1, EVENTS + 1)) <= found.known
    status = report.status(store)
    assert status["pending"] + status["delivered"] == len(found.known)


def test_a_time_of_tidying_that_is_none(store):
    """A spool whose last tidying can't be read is tidied, which mends it; nothing else is touched."""
    change(store, "INSERT OR REPLACE INTO meta VALUES ('tidied', 'x')")
    store.tidy_if_due()
    with store.database.read() as connection:
        assert connection.execute("SELECT typeof(value) FROM meta WHERE key = 'tidied'").fetchone() == ("real",)
    assert not list(store.folder.glob(CORRUPT))


def test_a_destination_that_only_its_index_knows(store):
    """A row that is gone from its page, but not from the index, is found missing at once, and made again."""
    store.database.checkpoint()
    store.close()
    with contextlib.closing(sqlite3.connect(store.database.path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'destination'").fetchone()[0]
    with store.database.path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 3)
        file.write(bytes(2))  # the number of the page's cells
    assert len(store.heads(BINDING, 9)) == EVENTS
    assert list(store.folder.glob(CORRUPT))
    assert not audit(store).faults


@pytest.mark.parametrize("error", [TypeError, ValueError, OverflowError, LookupError, UnicodeError])
def test_a_fault_of_our_own_is_no_damage(store, error):
    """An error of the code that works on a sound spool stays what it is, and moves no file."""
    for block in (store.database.read, store.database.write):
        with pytest.raises(error), block():
            raise error
    assert not list(store.folder.glob(CORRUPT))
    assert audit(store).pending == set(range(1, EVENTS + 1))


def test_a_record_takes_only_what_its_fields_may_hold():
    """The values of a row become a record, or it is said which of them can't be."""
    row = ("paused", None, 5.0, 1, 2, 3, 4, None, "x")
    assert from_row(Standing, row) == Standing(*row)
    for at, wrong in ((0, "reedy"), (1, 5), (2, "x"), (3, None)):
        with pytest.raises(TypeError, match="Standing"):
            from_row(Standing, (*row[:at], wrong, *row[at + 1 :]))
