"""dbt called as a library, where no command can be swapped: the plugin of dbt's own plugin manager."""

from __future__ import annotations

import pytest
from support import cli
from support.dbt import SMALL, copy_of
from support.dbt_events import runs_of

pytestmark = pytest.mark.timeout(600)  # the first test makes the environment

RUNNER = """
import json, os, sys
from dbt.cli.main import dbtRunner
runner = dbtRunner()
codes = [runner.invoke(arguments.split()).success for arguments in sys.argv[1:]]
print(json.dumps(codes), file=sys.stderr)
"""


@pytest.fixture
def lineage(tmp_path):
    """Settings that keep the events in a spool of the test's own, and switch the plugin on."""
    return {
        "TRUEWATCH_LINEAGE_DBT_PLUGIN": "1",
        "TRUEWATCH_LINEAGE_URL": "http://127.0.0.1:9",
        "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
        "TRUEWATCH_LINEAGE_DELIVERY": "spool",
        "TRUEWATCH_LINEAGE_SPOOL_DIR": str(tmp_path / "spool"),
    }


def _runs(lineage):
    done = cli.run("spool", "export", env={"spool_dir": lineage["TRUEWATCH_LINEAGE_SPOOL_DIR"]})
    return list(runs_of(done.lines).values()) if done.code == 0 else []


def test_each_invocation_of_a_library_is_a_run(dbt, lineage, tmp_path) -> None:
    """One process runs dbt three times: a run that fails, a command without lineage, and a run that does not."""
    project = copy_of(SMALL, tmp_path, {"models/broken.sql": "select * from nowhere"})
    script = tmp_path / "script.py"
    script.write_text(RUNNER)
    arguments = [script, "build", "ls", "seed"]
    ran = dbt.run("python", *arguments, project=project, env=lineage, timeout=120)
    assert ran.err.splitlines()[-1] == "[false, true, true]"
    runs = _runs(lineage)
    assert all(run.is_whole() for run in runs)
    ends = [run.end["eventType"] for run in runs if run.job == "dbt-run-small"]
    assert ends == ["FAIL", "COMPLETE"]


def test_plain_dbt_is_recorded_and_ends_as_ever(dbt, lineage, tmp_path) -> None:
    """Its stdout and code are those of a dbt without the plugin."""
    project = copy_of(SMALL, tmp_path)
    ran = dbt.run("dbt", "seed", project=project, env=lineage)
    assert (ran.code, ran.err.count("truewatch-lineage: ")) == (0, 1)
    assert [run.is_whole() for run in _runs(lineage)] == [True, True]


@pytest.mark.parametrize("command", ["truewatch-dbt", "dbt"])
def test_no_event_is_sent_twice_or_unasked(dbt, lineage, tmp_path, command) -> None:
    """Under truewatch-dbt the plugin leaves all to it; without the variable it is not there at all."""
    project = copy_of(SMALL, tmp_path)
    if command == "dbt":
        lineage["TRUEWATCH_LINEAGE_DBT_PLUGIN"] = "0"
    ran = dbt.run(command, "seed", project=project, env=lineage)
    assert ran.code == 0
    assert len(_runs(lineage)) == (2 if command == "truewatch-dbt" else 0)


def test_a_plugin_with_wrong_settings_leaves_dbt_alone(dbt, lineage, tmp_path) -> None:
    """One line on stderr, and dbt's own end."""
    project = copy_of(SMALL, tmp_path)
    env = {"TRUEWATCH_LINEAGE_DBT_PLUGIN": "1", "TRUEWATCH_LINEAGE_URL": "ftp://nowhere"}
    ran = dbt.run("dbt", "seed", project=project, env=env)
    assert ran.code == 0
    assert ran.err.startswith("truewatch-lineage: No lineage was sent: ")
    assert len(ran.err.splitlines()) == 1
