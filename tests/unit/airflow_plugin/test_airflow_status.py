"""What the status page in Airflow's UI shows, as data and as HTML."""

from __future__ import annotations

import gzip
import html
import socket
from urllib.parse import quote

import pytest

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from truewatch_lineage_airflow.ui import address, page, status

HERE = Binding("here", "dataway", "https://here.example/v1/write/openlineage")
HOSTILE = "ns/<script>alert('job')</script>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a spool that is not made yet."""
    monkeypatch.setenv("TRUEWATCH_LINEAGE_SPOOL_DIR", str(tmp_path / "spool"))
    return tmp_path / "spool"


@pytest.fixture
def store(folder):
    """A spool of one destination."""
    made = Store(folder, max_bytes=1 << 20)
    made.register(HERE)
    yield made
    made.close()


def _entry(number, run="run-1", job="ns/job"):
    return Entry(HERE, f"run:{run}", gzip.compress(b'{"n":%d}' % number, mtime=0), "START", job, run)


def test_it_says_whose_spool_it_is(store, folder) -> None:
    """Host, user and folder: on another machine there is another one."""
    found = status.overview()

    assert (found.place.host, found.place.folder, found.problem) == (socket.gethostname(), str(folder), None)
    shown = page.status_page(found).html
    assert all(text in shown for text in (found.place.host, found.place.user, str(folder)))


def test_it_shows_what_waits_what_is_dead_and_why(store) -> None:
    """With the destination's state, and when it is tried again."""
    waits, dead, gone = store.put([_entry(1, "run-1"), _entry(2, "run-2"), _entry(3, "run-3")])
    settled = [Settlement(dead, 1, "dead", reason="too big", status=413), Settlement(gone, 1, "delivered", status=200)]
    store.settle(HERE, settled, Standing(state="paused", reason="busy", until=1_790_000_000.0))

    found = status.overview()

    assert ([row["id"] for row in found.waiting], [row["id"] for row in found.dead]) == ([waits], [dead])
    shown = page.status_page(found).html
    assert all(text in shown for text in ("paused", "busy", "2026-09-21 14:13:20", "too big", "413", "run?what=run-2"))


def test_a_run_is_told_event_by_event(store) -> None:
    """Delivered, waiting and dead ones, counted."""
    ids = store.put([_entry(number) for number in range(3)])
    store.settle(HERE, [Settlement(ids[0], 1, "delivered", status=200)], Standing())

    found = status.trace("run-1")

    assert (found.total, found.tally) == (3, {"delivered": 1, "pending": 2})
    assert "3 events:" in page.run_page(found).html


def test_a_page_has_the_newest_of_many(store) -> None:
    """A job that runs for days has more events than a page should."""
    ids = store.put([_entry(number) for number in range(status.SHOWN + 5)])

    found = status.trace("ns/job")

    assert (found.total, [row["id"] for row in found.rows]) == (len(ids), ids[5:])
    assert f"newest {status.SHOWN}" in page.run_page(found).html
    assert f"the oldest {status.SHOWN} of {len(ids)}" in page.status_page(status.overview()).html


@pytest.mark.parametrize("make", [status.overview, lambda: status.trace("run-1")], ids=["status", "run"])
def test_where_there_is_no_spool_the_page_says_so(folder, make) -> None:
    """With the folder and the user, and where else to look; none is made."""
    found = make()
    shown = page.status_page if isinstance(found, status.Overview) else page.run_page

    assert found.place.folder == str(folder)
    assert "There is no spool" in shown(found).html
    assert not folder.exists()


def test_wrong_settings_are_told(monkeypatch) -> None:
    """They are a part of the page, not an error of Airflow's server."""
    monkeypatch.setenv("TRUEWATCH_LINEAGE_RECEIPTS_DAYS", "many")

    found = status.overview()

    assert found.place.folder is None
    assert "receipts_days" in page.status_page(found).html.lower()


def test_an_unknown_run_is_no_error(store) -> None:
    """The page says where else it may be known."""
    assert "Nothing is known here of" in page.run_page(status.trace("elsewhere")).html


@pytest.mark.parametrize("what", ["<b>x</b>", '"><script>x</script>', "{{ 7 * 7 }}"])
def test_everything_shown_is_escaped(store, what) -> None:
    """Names of jobs, runs and what was asked for are text, whatever they hold."""
    store.put([_entry(1, what, HOSTILE)])

    pages = [page.status_page(status.overview()), page.run_page(status.trace(what))]

    for made in pages:
        assert "<script" not in made.html
        assert html.escape(what).replace("&quot;", "&#34;") in made.html
        assert "&lt;script&gt;alert" in made.html
        assert f"run?what={quote(what)}" in made.html


def test_a_page_runs_no_script_and_asks_nobody_for_anything(store) -> None:
    """Its policy allows its own style alone; only who is not let in gets our one script."""
    policy = page.status_page(status.overview()).headers["Content-Security-Policy"]
    refused = page.refused_page("Sign in.")

    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy + refused.headers["Content-Security-Policy"]
    assert "http" not in page.status_page(status.overview()).html.replace("https://", "").partition("<main>")[0]
    assert "script-src 'sha256-" in refused.headers["Content-Security-Policy"]


def test_a_template_is_filled_with_encoded_values() -> None:
    """Other braces stay, and a value can't add a path or a parameter."""
    template = "https://app.example/{org}/lineage?ns={job_namespace}&job={job_name}&run={run_id}"

    filled = address.filled(template, job_namespace="a/b", job_name="x&y={run_id}", run_id="r")

    assert filled == "https://app.example/{org}/lineage?ns=a%2Fb&job=x%26y%3D%7Brun_id%7D&run=r"
