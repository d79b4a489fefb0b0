"""What commands show of the spool."""

from __future__ import annotations

import gzip
import threading

import pytest

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, report
from truewatch_lineage.spool.fates import fates

NOW = 1_790_000_000.0
ONE = Binding("one", "dataway", "https://one.example/v1/write/openlineage")
OLD = Binding("one", "dataway", "https://old.example/v1/write/openlineage")
TWO = Binding("two", "portal", "https://portal.example/api/data-registry/lineage")


@pytest.fixture
def store(tmp_path):
    """A spool whose clock stands still."""
    made = Store(tmp_path / "spool", max_bytes=1 << 20, clock=lambda: NOW)
    yield made
    made.close()


def _entry(number, binding=ONE, run="r", **more):
    body = gzip.compress(b'{"n":%d}' % number, mtime=0)
    return Entry(binding, f"run:{run}", body, "START", "ns/a/job", run, **more)


def test_the_status_of_a_new_spool_has_every_key(store) -> None:
    """The keys are those of the contract, and numbers are there before anything has happened."""
    assert report.status(store) == {
        "pending": 0,
        "dead": 0,
        "delivered": 0,
        "cached": 0,
        "skipped": 0,
        "tombstones": 0,
        "oldest_pending_s": 0.0,
        "bytes": 0,
        "path": str(store.folder),
        "destinations": {},
    }


def test_counts_are_summed_over_destinations(store) -> None:
    """An event for two destinations counts once for each; dead is not pending, cached is a part of delivered."""
    ids = store.put([_entry(1), _entry(2), _entry(3), _entry(1, TWO)])
    store.settle(ONE, [Settlement(ids[0], 1, "delivered", cached=True), Settlement(ids[1], 2, "dead")], Standing())
    store.settle(TWO, [], Standing(state="paused", reason="refused", until=NOW + 60))
    store.count(TWO, skipped=2, tombstones=1)

    found = report.status(store)

    assert {name: found[name] for name in ("pending", "dead", "delivered", "cached", "skipped", "tombstones")} == {
        "pending": 2,
        "dead": 1,
        "delivered": 1,
        "cached": 1,
        "skipped": 2,
        "tombstones": 1,
    }
    assert found["destinations"]["two"] == {
        "state": "paused",
        "reason": "refused",
        "until": "2026-09-21T14:14:20.000Z",
        "pending": 1,
        "dead": 0,
        "delivered": 0,
    }


def test_bindings_of_one_name_are_shown_as_one(store) -> None:
    """The one used last decides the state; what waits for another says so."""
    store.put([_entry(1, OLD), _entry(2)])
    store.settle(OLD, [], Standing(state="parked", reason="gone"))
    store.register(ONE)

    destination = report.status(store)["destinations"]["one"]
    rows = list(report.listed(store))

    assert (destination["state"], destination["pending"]) == ("ready", 2)
    assert destination["reason"].startswith("other settings: 1 event")
    assert [row["reason"] for row in rows] == ["other settings", None]


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing(), None),
        (Standing(state="paused", reason="down", until=NOW + 60), "waiting, retry at 2026-09-21T14:14:20.000Z: down"),
        (
            Standing(state="paused", reason="down", until=NOW),
            "waiting, due since 2026-09-21T14:13:20.000Z for the next emit, courier or drain: down",
        ),
        (Standing(state="parked", reason="no token"), "stopped until you fix this: no token"),
    ],
)
def test_a_row_says_why_it_waits(store, standing, words) -> None:
    """In plain words, of its destination."""
    store.put([_entry(1)])
    store.settle(ONE, [], standing)

    assert [row["reason"] for row in report.listed(store)] == [words]


def test_a_listed_row_has_the_contracts_keys(store) -> None:
    """In this order, which is also that of the JSON."""
    store.put([_entry(1)])

    (row,) = report.listed(store)

    assert list(row) == [
        "id",
        "destination",
        "state",
        "event_type",
        "job",
        "run_id",
        "attempts",
        "reason",
        "status",
        "bytes",
        "created",
    ]
    assert (row["state"], row["job"], row["created"]) == ("pending", "ns/a/job", "2026-09-21T14:13:20.000Z")


def test_listing_reads_page_after_page(store) -> None:
    """More than a page comes out once each, and a limit is kept."""
    ids = store.put([_entry(number, run=str(number)) for number in range(1100)])

    assert [row["id"] for row in report.listed(store)] == ids
    assert len(list(report.listed(store, limit=600))) == 600


@pytest.mark.parametrize("what", ["r", "ns/a/job", "job", "a/job"])
def test_a_trace_finds_a_run_or_a_job(store, what) -> None:
    """By runId, by namespace/name, or by the name alone: waiting, dead and delivered ones."""
    first, second, _, _ = store.put([_entry(1), _entry(2), _entry(3), _entry(4, run="r")])
    store.settle(ONE, [Settlement(first, 1, "delivered", "delivered", 200), Settlement(second, 2, "dead")], Standing())

    found = report.traced(store, what)

    assert [row["state"] for row in found] == ["delivered", "dead", "pending", "pending"]
    assert found[0]["delivered"] == "2026-09-21T14:13:20.000Z"


@pytest.mark.parametrize("what", ["", "ob", "%", "_", "other", "ns/b/job"])
def test_a_trace_finds_nothing_else(store, what) -> None:
    """A part of a name is no name, and a wildcard is no wildcard."""
    store.put([_entry(1)])

    assert report.traced(store, what) == []


def test_fates_tell_what_became_of_events(store) -> None:
    """Delivered by its receipt, dead with its reason, pending, or unknown."""
    first, second, third = store.put([_entry(1), _entry(2, run="s"), _entry(3, run="t")])
    store.settle(ONE, [Settlement(first, 1, "delivered", "ok"), Settlement(second, 2, "dead", "no")], Standing())

    found = fates(store, [first, second, third, 99])

    assert [(found[one].state, found[one].reason) for one in (first, second, third, 99)] == [
        ("delivered", "ok"),
        ("dead", "no"),
        ("pending", None),
        ("unknown", None),
    ]


def test_an_event_is_never_seen_between_waiting_and_delivered(store) -> None:
    """Another process delivers while this one asks: no answer is ``unknown``, and no sum is short."""
    ids = store.put([_entry(number, run=str(number)) for number in range(300)])
    other = Store(store.folder, max_bytes=1 << 20)

    def deliver():
        for number, event_id in enumerate(ids, 1):
            other.settle(ONE, [Settlement(event_id, number, "delivered")], Standing(attempts=number))

    thread = threading.Thread(target=deliver)
    thread.start()
    seen = []
    while thread.is_alive():
        seen += [fate.state for fate in fates(store, ids).values()]
        found = report.status(store)
        assert found["pending"] + found["delivered"] == len(ids)
    thread.join()
    other.close()

    assert set(seen) <= {"pending", "delivered"}


def test_an_export_has_bodies_only(store) -> None:
    """Events of which only the metadata was kept can't be written."""
    store.put([_entry(1), _entry(2, TWO)])
    store.put([Entry(ONE, "other", None, dead="no JSON")])

    assert list(report.exported(store)) == [b'{"n":1}', b'{"n":2}']
    assert list(report.exported(store, destination="two")) == [b'{"n":2}']
    assert list(report.exported(store, dead=True)) == []


def test_nothing_is_made_where_there_is_no_spool(tmp_path) -> None:
    """Looking whether there is one leaves no trace."""
    assert not report.exists(tmp_path / "none")
    assert not (tmp_path / "none").exists()
