"""A run that is interrupted ends as dbt's would, leaves no process behind, and no run stays open."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support import cli
from support.airflow_processes import wait_until
from support.dbt import SMALL, copy_of
from support.dbt_events import distinct, runs_of
from support.receiver import Receiver

pytestmark = pytest.mark.timeout(600)  # the first test makes the environment

SLOW = """\
import time


def model(dbt, session):
    time.sleep(12)
    return session.sql("select 1 as one")
"""
WAIT_S = 100


@contextlib.contextmanager
def _started(dbt, command, folder, env=None):
    """Run a build whose only model sleeps, in a session of its own; give the process when it is at it."""
    project = copy_of(SMALL, folder, {"models/slow.py": SLOW})
    output = folder / "output.txt"
    with output.open("wb") as stdout:
        process = subprocess.Popen(
            dbt.command(command, "run", "--select", "slow"),
            cwd=project,
            env=dbt.variables(folder, env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Where a shell has started the tests in its background, children would ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - takes no lock
        )
    try:
        wait_until(lambda: "START python table model" in output.read_text(), WAIT_S, output.read_text)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _processes_of(session):
    """List the processes of a session but for zombies: pid and command."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, owner = folder.joinpath("stat").read_text().rpartition(")")[2].split()[:4]
            if int(owner) == session and state != "Z":
                found[int(folder.name)] = folder.joinpath("cmdline").read_text().replace("\0", " ")
    return found


def _all_events(receiver, folder):
    """Return the events once what a recorder has left in the spool is delivered as well.

    When nobody waits for it, it has a second, which a busy machine eats; what was in flight then arrives again.
    """
    deadline = time.monotonic() + WAIT_S
    settings = {"url": receiver.url, "token": cli.TOKEN, "spool_dir": folder / "spool"}
    while len(events := distinct(one["event"] for one in receiver.events())) < 4 and time.monotonic() < deadline:
        cli.run_child("spool", "drain", "--timeout", "5", env=settings)
    return events


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("whom", ["group", "process"])
def test_an_interrupted_run_is_closed(dbt, number, whom, tmp_path) -> None:
    """The exit code is dbt's, no process is left, and the run ends as ABORT; dbt may let its node come to its end."""
    codes = {}
    with Receiver(tokens=[cli.TOKEN]) as receiver:
        settings = {
            "TRUEWATCH_LINEAGE_URL": receiver.url,
            "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
            "TRUEWATCH_LINEAGE_SPOOL_DIR": tmp_path / "spool",
        }
        for command, env in (("dbt", {}), ("truewatch-dbt", settings)):
            folder = tmp_path / command
            folder.mkdir()
            with _started(dbt, command, folder, env) as process:
                if command != "dbt":
                    receiver.wait_for_events(2, timeout=WAIT_S)
                (os.killpg if whom == "group" else os.kill)(process.pid, number)
                codes[command] = process.wait(WAIT_S)
                wait_until(lambda process=process: not _processes_of(process.pid), WAIT_S,
                           lambda process=process: str(_processes_of(process.pid)))  # fmt: skip
        runs = list(runs_of(_all_events(receiver, tmp_path)).values())

    assert codes["truewatch-dbt"] == codes["dbt"]
    assert [run.types[0] for run in runs] == ["START", "START"]
    assert runs[0].types[-1] == "ABORT"
    assert all(run.is_whole() for run in runs), [run.types for run in runs]


def test_a_killed_run_is_closed(dbt, tmp_path) -> None:
    """SIGKILL leaves dbt no time, so the run is closed by what stays."""
    with Receiver(tokens=[cli.TOKEN]) as receiver:
        settings = {
            "TRUEWATCH_LINEAGE_URL": receiver.url,
            "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
            "TRUEWATCH_LINEAGE_SPOOL_DIR": tmp_path / "spool",
        }
        with _started(dbt, "truewatch-dbt", tmp_path, settings) as process:
            receiver.wait_for_events(2, timeout=WAIT_S)
            process.kill()
            process.wait(WAIT_S)
            events = _all_events(receiver, tmp_path)
    assert all(run.is_whole() for run in runs_of(events).values())
