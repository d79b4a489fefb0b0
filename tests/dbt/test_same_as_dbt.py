"""truewatch-dbt ends and prints as dbt does, whatever happens, and no run stays open in the events."""

from __future__ import annotations

import pytest
from support import cli
from support.dbt import SMALL, copy_of, masked
from support.dbt_events import runs_of
from tables.dbt_rows import ROWS

pytestmark = pytest.mark.timeout(600)  # the first test makes the environment


@pytest.fixture
def lineage(tmp_path):
    """Settings that keep the events in a spool of the test's own."""
    return {
        "TRUEWATCH_LINEAGE_URL": "http://127.0.0.1:9",
        "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
        "TRUEWATCH_LINEAGE_DELIVERY": "spool",
        "TRUEWATCH_LINEAGE_SPOOL_DIR": str(tmp_path / "spool"),
    }


def _spooled(lineage):
    """Give the events in the spool, in order; none where there is no spool."""
    done = cli.run("spool", "export", env={"spool_dir": lineage["TRUEWATCH_LINEAGE_SPOOL_DIR"]})
    return done.lines if done.code == 0 else []


def _run(dbt, command, row, folder, more):
    """Run a row's command on a project of its own; return the result with stdout masked."""
    project = copy_of(SMALL, folder, row.files)
    where = folder / "elsewhere" if row.elsewhere else project
    where.mkdir(exist_ok=True)
    args = [arg.format(project=project) if "{project}" in arg else arg for arg in row.args]
    env = {name: value.replace("{project}", str(project)) for name, value in row.env.items()}
    if row.before:
        dbt.run("dbt", *row.before, project=project)
    ran = dbt.run(command, *args, project=where, env=env | more)
    return ran, masked(ran.out, folder)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_code_and_output_are_those_of_dbt(dbt, row, lineage, tmp_path) -> None:
    """The exit code and stdout are the same but for times and ids; stderr has one line of ours where lineage is."""
    theirs, their_output = _run(dbt, "dbt", row, tmp_path / "dbt", {})
    ours, our_output = _run(dbt, "truewatch-dbt", row, tmp_path / "ours", lineage | row.ours)

    assert (theirs.code, ours.code) == (row.code, row.code), ours.err
    assert our_output == their_output
    added = [line for line in ours.err.splitlines() if line not in theirs.err.splitlines()]
    assert len(added) == (row.ends is not None or row.warns), ours.err
    assert all(line.startswith("truewatch-lineage: ") for line in added)
    assert any("No lineage was sent" in line for line in added) == row.warns
    _check_events(_spooled(lineage), row.ends)


def _check_events(events, ends):
    """The run's job has START and its end, as every run inside it has, or there is none at all."""
    runs = list(runs_of(events).values())
    if ends in {None, "JOBS"}:
        assert not runs
        assert bool(events) == (ends == "JOBS")
        return
    assert all(run.is_whole() for run in runs), [(run.job, run.types) for run in runs]
    whole = runs[0]
    assert events[0] is whole.events[0]
    assert events[-1] is whole.end
    assert whole.end["eventType"] == ends
    if ends == "FAIL":
        assert whole.end["run"]["facets"]["errorMessage"]["message"]
