"""How commands end where somebody interrupts them, nobody reads their output, or the spool is another user's."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from support.cli import ndjson, run, started
from support.events import tree

NOBODY = 65534
FULL = Path("/dev/full")


@pytest.fixture
def event(tmp_path):
    """A file with an event."""
    return ndjson(tmp_path / "event.json", tree())


@pytest.fixture
def down(tmp_path):
    """Settings of a destination where nobody listens."""
    return {"url": "http://127.0.0.1:9", "token": "a-token-of-the-tests", "spool_dir": tmp_path / "spool"}


def test_an_interrupt_ends_quietly_with_130(tmp_path, down, event) -> None:
    """Ctrl-C while it waits: no traceback, and the event is kept."""
    with started("send", "--timeout", 50, event, env=down, stderr=subprocess.PIPE) as child:
        while not (tmp_path / "spool" / "spool.db").exists() or run("spool", "list", env=down).out == "":
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)

        assert child.wait(20) == 130
        told = child.stderr.read()
    assert "Interrupted: 1 event kept in the spool." in told
    assert "Traceback" not in told
    assert run("spool", "status", "--json", env=down).json["pending"] == 1


def test_an_interrupted_drain_says_what_is_kept(down, event) -> None:
    """The same, with the same code."""
    run("send", "--no-wait", event, env=down)
    with started("spool", "drain", "--timeout", 50, env=down, stderr=subprocess.PIPE) as child:
        while not run("spool", "list", "--json", env=down).lines[0]["attempts"]:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)

        assert child.wait(20) == 130
        assert "Interrupted: 1 event kept in the spool." in child.stderr.read()


@pytest.mark.parametrize(
    "command", [("--help",), ("validate", "--help"), ("spool", "list", "--json"), ("spool", "export")]
)
def test_whoever_stops_reading_is_no_fault(tmp_path, command) -> None:
    """As ``head`` does: no word, and the code that shells give for it."""
    env = {"destination": "datakit", "spool_dir": tmp_path / "spool"}
    run("send", "--no-wait", ndjson(tmp_path / "many.ndjson", *[tree()] * 3), env=env)
    reading, writing = os.pipe()
    os.close(reading)
    with started(*command, env=env, stdout=writing, stderr=subprocess.PIPE) as child:
        os.close(writing)

        assert (child.wait(20), child.stderr.read()) == (141, "")


@pytest.mark.skipif(not FULL.exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", [("send",), ("validate",)])
def test_a_full_disk_for_the_output_is_one_message(tmp_path, env, command) -> None:
    """Exit code 1, no traceback."""
    file = ndjson(tmp_path / "odd.ndjson", tree(schemaURL=...))
    with (
        FULL.open("wb") as full,
        started(*command, file, env=env, stdout=full, stderr=subprocess.PIPE) as child,
    ):
        assert child.wait(20) == 1
        assert child.stderr.read() == "Error: The output can't be written: No space left on device.\n"


@pytest.fixture
def forbidden():
    """A spool's folder that this user may not look into: another user's, or where we are no root, a locked one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as parent:  # pytest's own folders are closed to others
        folder = Path(parent) / "spool"
        folder.mkdir(0o700)
        if os.geteuid():
            folder.chmod(0)
            yield folder
            folder.chmod(0o700)
            return
        Path(parent).chmod(0o755)
        os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield folder
        finally:
            os.setresuid(0, 0, 0)


@pytest.mark.parametrize(
    "command",
    [
        *(("status",), ("list",), ("show", 1), ("trace", "x"), ("export",), ("resume",), ("drain",)),
        *(("replay", 1), ("drop", 1), ("rebind", "default")),
    ],
)
def test_another_users_spool_is_told_with_its_owner(forbidden, command) -> None:
    """By every command that looks into it: it is a matter of settings, exit code 2."""
    ran = run("spool", *command, env={"destination": "datakit", "spool_dir": forbidden})

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: The spool's folder ")
    assert ("belongs to root, and you are " in ran.err) == (forbidden.stat().st_uid == 0)
    assert "Traceback" not in ran.err


def test_check_tells_a_folder_that_it_may_not_see(forbidden) -> None:
    """As a failed step, also where the folder is inside of the forbidden one."""
    for folder in (forbidden, forbidden / "deeper"):
        ran = run("check", "--no-send", "--json", env={"destination": "datakit", "spool_dir": folder})

        (step,) = [one for one in ran.json["steps"] if one["name"] == "spool"]
        assert (ran.code, step["status"]) == (1, "FAIL")
