"""What ``receive`` is told by options: events to begin with, how much to keep, and where to pass events on."""

from __future__ import annotations

import json
import os
import time

import pytest
from support.private import write_private
from support.receiver import DATAWAY, Receiver
from tables.receiver_rules import EVENT, event


def test_events_of_files_are_loaded(tmp_path) -> None:
    """JSON, NDJSON and folders; what no destination takes is there too, and its verdict says so."""
    (tmp_path / "one.json").write_text(json.dumps(EVENT, indent=2))
    folder = tmp_path / "folder"
    folder.mkdir()
    lines = [event({"job.name": "a", "producer": ...}), event({"job.name": "b", "eventTime": ...})]
    (folder / "many.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Receiver(args=["--load", str(tmp_path / "one.json"), "--load", str(folder)]) as receiver:
        found = receiver.events()
        assert "3 events loaded." in receiver.stderr()
    assert [(one["job_name"], one["destination"]) for one in found] == [
        ("daily_orders", "file"),
        ("a", "file"),
        ("b", "file"),
    ]
    assert [one["verdicts"]["dataway"]["accepted"] for one in found] == [True, False, False]


def test_bad_lines_are_named_and_the_rest_is_loaded(tmp_path) -> None:
    """A broken line, an object that is no event, and an array's elements."""
    file = tmp_path / "mixed.ndjson"
    good = json.dumps(EVENT)
    file.write_text(f'{good}\n{{"broken": \n{{"x": 1}}\n[{json.dumps(event({"job.name": "in an array"}))}]\n')
    with Receiver(args=["--load", str(file), "--load", str(tmp_path / "absent")]) as receiver:
        log = receiver.stderr()
        assert [one["job_name"] for one in receiver.events()] == ["daily_orders", "in an array"]
    assert f"{file}:2: " in log
    assert f"{file}:3: $: needs the objects run and job" in log
    assert f"{tmp_path / 'absent'}: " in log
    assert "2 events loaded, 3 left out." in log


def test_loading_twice_counts_duplicates(tmp_path) -> None:
    """The same file again adds nothing but a count."""
    file = tmp_path / "one.json"
    file.write_text(json.dumps(EVENT))
    with Receiver(args=["--load", str(file), "--load", str(file)]) as receiver:
        assert [one["duplicates"] for one in receiver.events()] == [1]


def test_what_is_kept_is_bounded(tmp_path) -> None:
    """--keep-bytes: the newest events stay, the file does not grow on."""
    data = tmp_path / "events.sqlite"
    with Receiver(data=data, args=["--keep-bytes", str(4 * 2**20)]) as receiver:
        for number in range(40):
            receiver.post(event({"job.name": f"job-{number}", "padding": f"{number}" * 150_000}))
        stats = receiver.stats()
        newest = receiver.events()[-1]["job_name"]
    assert newest == "job-39"
    assert stats["evicted"] > 0
    assert stats["events"] + stats["evicted"] == 40
    assert stats["bytes"] < 6 * 2**20


def test_accepted_events_are_passed_on(tmp_path) -> None:
    """--tee: through the core's own delivery, by the settings; what was refused is not."""
    with Receiver(tokens=["their-token-0123"]) as theirs:
        token = write_private(tmp_path / "token", "their-token-0123")
        program = ("-c", _WITH_ENVIRONMENT.format(token=str(token), spool=str(tmp_path / "spool")))
        with Receiver(args=["--tee", "--url", theirs.url], program=program) as ours:
            assert "also delivered" in ours.stderr()
            assert ours.post(EVENT).status == 200
            assert ours.post(event({"producer": ...})).status == 400
            arrived = theirs.wait_for_events(1)
            assert ours.stop() == 0
    assert [one["event"] for one in arrived] == [EVENT]


_WITH_ENVIRONMENT = (
    "import os; os.environ.update(TRUEWATCH_LINEAGE_TOKEN_FILE={token!r}, TRUEWATCH_LINEAGE_SPOOL_DIR={spool!r});"
    "from truewatch_lineage.cli.receive import command; command()"
)

WRONG = [
    (["--tee"], "url"),
    (
        ["--tee", "--port", "18999", "--destination", "datakit", "--url", "http://127.0.0.1:18999"],
        "back to this receiver",
    ),
    (["--keep-bytes", "1"], "--keep-bytes"),
    (["--keep-days", "0"], "--keep-days"),
]


@pytest.mark.parametrize(("args", "named"), WRONG)
def test_options_that_cannot_be_meant_are_refused(tmp_path, args, named) -> None:
    """Before anything is received, with what to mend."""
    with pytest.raises(AssertionError, match=named), Receiver(args=["--spool-dir", str(tmp_path), *args]):
        pass


@pytest.mark.skipif(os.name != "posix", reason="needs a program as the browser")
def test_the_page_is_shown_in_a_browser(tmp_path) -> None:
    """--open: the browser gets the url of the page."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o755)
    program = ("-c", _WITH_BROWSER.format(browser=str(browser)))
    with Receiver(args=["--open"], program=program) as receiver:
        assert _text_of(seen).strip() == receiver.url
        assert receiver.request("POST", DATAWAY, json.dumps(EVENT).encode()).status == 200


def _text_of(file):
    end = time.monotonic() + 10
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < end
        time.sleep(0.02)
    return file.read_text()


_WITH_BROWSER = (
    "import os; os.environ['BROWSER'] = {browser!r};from truewatch_lineage.cli.receive import command; command()"
)
