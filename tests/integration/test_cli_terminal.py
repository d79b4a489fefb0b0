"""What commands show to a person: tables that fit the terminal."""

from __future__ import annotations

import os
import pty

from support.cli import ndjson, run, run_child, started
from support.events import RUN_ID, tree


def _keep(env, tmp_path, *events):
    """Leave events in the spool."""
    assert run("send", "--no-wait", ndjson(tmp_path / "kept.ndjson", *events), env=env).code == 75


def _on_terminal(env, width, *command):
    """Return what a command shows on a terminal of a width."""
    ours, theirs = pty.openpty()
    with started(*command, env=env | {"TERM": "xterm", "COLUMNS": width}, stdout=theirs, stdin=theirs) as child:
        assert child.wait(20) == 0
        os.close(theirs)
        shown = os.read(ours, 65536).decode().replace("\r", "")
    os.close(ours)
    return shown


def test_on_a_terminal_there_are_headings_and_no_tabs(env, tmp_path) -> None:
    """A person gets a table, a pipe gets tabs."""
    _keep(env, tmp_path, tree())

    shown = _on_terminal(env, 200, "spool", "list")

    assert "event_type" in shown.splitlines()[0]
    assert len(shown.splitlines()) == 2
    assert "\t" not in shown
    assert "\t" in run_child("spool", "list", env=env).out


def test_on_a_narrow_terminal_nothing_is_cut(env, tmp_path) -> None:
    """Each event is a block of lines: words, ids and times stay whole."""
    run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    _keep(env, tmp_path, tree(eventType="COMPLETE"))

    shown = _on_terminal(env, 80, "spool", "trace", RUN_ID)

    rows = run("spool", "trace", RUN_ID, "--json", env=env).lines
    assert [line.split() for line in shown.splitlines() if line.startswith("created")] == [
        ["created", row["created"]] for row in rows
    ]
    assert ["delivered", rows[0]["delivered"]] in [line.split() for line in shown.splitlines()]


def test_status_begins_with_its_first_count(env, tmp_path) -> None:
    """Without an empty line of headings."""
    _keep(env, tmp_path, tree())

    assert _on_terminal(env, 80, "spool", "status").split()[:2] == ["pending", "1"]
    assert _on_terminal(env, 80, "spool", "status").splitlines()[0].startswith("pending")
