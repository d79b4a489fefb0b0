"""dbt 1.8 to 1.11, and the lowest releases of what the extra asks for: the same lineage, the same exit codes."""

from __future__ import annotations

import pytest
from lineage_checks import differences
from support import cli
from support.dbt import HARBOUR, OTHERS, SMALL, copy_of, environment, masked
from support.dbt_events import runs_of
from support.receiver import Receiver
from tables.dbt_rows import ROWS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # each makes an environment

CHOSEN = ("build", "a failing model", "a failing test", "a compile error", "bad --target", "compile", "--version")


@pytest.fixture(params=OTHERS)
def dbt(request):
    """A dbt of another release."""
    return environment(request.param)


@pytest.fixture
def lineage(tmp_path):
    """A receiver, and the settings that lead to it."""
    with Receiver(tokens=[cli.TOKEN]) as receiver:
        variables = {
            "TRUEWATCH_LINEAGE_URL": receiver.url,
            "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
            "TRUEWATCH_LINEAGE_SPOOL_DIR": tmp_path / "spool",
            "TRUEWATCH_LINEAGE_EXIT_BUDGET": "40",
        }
        yield receiver, variables


def test_a_build_gives_the_graph(dbt, lineage, tmp_path) -> None:
    """Every table and every column is right, and every run is whole."""
    receiver, variables = lineage
    ran = dbt.run("truewatch-dbt", "build", project=copy_of(HARBOUR, tmp_path), env=variables, timeout=300)
    events = [one["event"] for one in receiver.events()]

    assert ran.code == 0, ran.out + ran.err
    assert not differences(events)
    assert all(run.types == ["START", "COMPLETE"] for run in runs_of(events).values())


def test_codes_and_output_are_those_of_dbt(dbt, lineage, tmp_path) -> None:
    """For some commands that end in each way."""
    _, variables = lineage
    wrong = []
    for number, name in enumerate(CHOSEN):
        row, found = ROWS[name], []
        for command, env in (("dbt", {}), ("truewatch-dbt", variables)):
            folder = tmp_path / f"{number}-{command}"
            folder.mkdir()
            project = copy_of(SMALL, folder, row.files)
            if row.before:
                dbt.run("dbt", *row.before, project=project)
            ran = dbt.run(command, *row.args, project=project, env=env)
            found.append((ran.code, masked(ran.out, folder)))
        wrong += [name] if found[0] != found[1] else []

    assert not wrong
