"""A receiver that is down, hangs or refuses changes nothing of dbt, and no event is lost."""

from __future__ import annotations

import contextlib
import os
import time

import pytest
from support import cli
from support.airflow_processes import free_port
from support.dbt import SMALL, copy_of, masked
from support.dbt_events import runs_of
from support.receiver import Receiver
from support.spooled import spooled

# The first test makes the environment; times are compared, so nothing else may run.
pytestmark = [pytest.mark.timeout(600), pytest.mark.serial]

EXIT_BUDGET_S = 5
SLACK_S = 3
"""What two runs of the same command may differ by on a busy machine."""

HANGING = [{"delay": 60, "times": None}]
UNAVAILABLE = [{"status": 503, "times": None}]
TOO_BIG = [{"status": 413, "times": None}]
OUTAGES = {
    "down": (None, cli.TOKEN),
    "hanging": (HANGING, cli.TOKEN),
    "503": (UNAVAILABLE, cli.TOKEN),
    "401": ([], "an-old-token-of-the-tests"),
    "413": (TOO_BIG, cli.TOKEN),
}
RUNS = 5
"""Of a build of the small project: the whole, a seed, two models, a test."""


@pytest.fixture(scope="module")
def plain(dbt, tmp_path_factory):
    """What plain dbt prints and how long it takes, once its files are in the system's cache."""
    for _ in range(2):
        folder = tmp_path_factory.mktemp("plain")
        project = copy_of(SMALL, folder)
        start = time.monotonic()
        ran = dbt.run("dbt", "build", project=project)
        seconds = time.monotonic() - start
    return ran, masked(ran.out, folder), seconds


@contextlib.contextmanager
def _outage(faults):
    """Give the url of a receiver that misbehaves, and the receiver; one that is down is started on entry's end."""
    with Receiver(tokens=[cli.TOKEN], port=free_port()) as receiver:
        if faults is None:
            receiver.stop()
        else:
            receiver.faults(faults)
        yield receiver


@pytest.mark.parametrize(("faults", "token"), OUTAGES.values(), ids=OUTAGES)
def test_an_outage_changes_nothing_and_loses_nothing(dbt, plain, faults, token, tmp_path) -> None:
    """Code, output and time are dbt's, one line tells where the events are, and they all arrive later."""
    ran, output, seconds = plain
    project = copy_of(SMALL, tmp_path)
    settings = {"token": token, "spool_dir": tmp_path / "spool"}
    with _outage(faults) as receiver:
        settings["url"] = f"http://127.0.0.1:{receiver.port}"
        variables = {f"TRUEWATCH_LINEAGE_{name.upper()}": value for name, value in settings.items()}
        start = time.monotonic()
        ours = dbt.run("truewatch-dbt", "build", project=project, env=variables)
        took = time.monotonic() - start

        assert (ours.code, masked(ours.out, tmp_path)) == (ran.code, output)
        assert took < seconds + EXIT_BUDGET_S + SLACK_S
        [line] = ours.err.splitlines()
        assert line.startswith("truewatch-lineage: ")
        assert token not in ours.out + ours.err
        kept = spooled(tmp_path / "spool")
        assert kept.pending + kept.dead == 2 * RUNS
        assert kept.tombstones == 0

        _mend(receiver, faults, settings)
        arrived = [one["event"] for one in receiver.events()]
    assert len(arrived) == 2 * RUNS
    assert all(run.is_whole() for run in runs_of(arrived).values())


def _mend(receiver, faults, settings):
    """Let the receiver accept, the token be right, and deliver what was kept."""
    if faults is None:
        receiver.start()
    receiver.clear()
    settings = {**settings, "token": cli.TOKEN}
    if faults is TOO_BIG:
        assert cli.run("spool", "replay", "--all", "--dead", env=settings).code == 0
    os.environ.pop("TRUEWATCH_LINEAGE_TOKEN", None)
    done = cli.run("spool", "drain", "--timeout", "30", env=settings)
    assert done.code == 0, done.out + done.err
