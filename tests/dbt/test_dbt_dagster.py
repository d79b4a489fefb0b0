"""dagster-dbt with truewatch-dbt as its executable sees what it sees of dbt, and the lineage is whole."""

from __future__ import annotations

from pathlib import Path

import expected_graph as expected
import pytest
from lineage_checks import differences
from support import cli
from support.dbt import HARBOUR, copy_of, environment
from support.dbt_events import runs_of
from support.receiver import Receiver

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # it makes an environment

SCRIPT = Path(__file__).with_name("inside") / "dagster_build.py"
ASSETS = len(expected.MODELS) + len(expected.SEEDS) + len(expected.SNAPSHOTS)


def test_dagster_builds_its_assets_by_it(tmp_path) -> None:
    """Each model, seed and snapshot is an asset that was made, and the graph is the one written by hand."""
    dbt = environment("dagster")
    project = copy_of(HARBOUR, tmp_path)
    with Receiver(tokens=[cli.TOKEN]) as receiver:
        lineage = {
            "TRUEWATCH_LINEAGE_URL": receiver.url,
            "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
            "TRUEWATCH_LINEAGE_SPOOL_DIR": tmp_path / "spool",
            "TRUEWATCH_LINEAGE_EXIT_BUDGET": "40",
            "DAGSTER_DISABLE_TELEMETRY": "1",
            "DAGSTER_HOME": tmp_path,
        }
        program = dbt.command("truewatch-dbt")[0]
        ran = dbt.run("python", SCRIPT, project, program, project=tmp_path / "project", env=lineage, timeout=600)
        events = [one["event"] for one in receiver.events()]

    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == f"{ASSETS} assets"
    assert not differences(events)
    assert all(run.types == ["START", "COMPLETE"] for run in runs_of(events).values())
