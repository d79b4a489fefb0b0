"""Run in an environment with dagster-dbt: ``dagster_build.py PROJECT PROGRAM`` builds a project's assets by a dbt."""

from __future__ import annotations

import sys
from pathlib import Path

from dagster import materialize
from dagster_dbt import DbtCliResource, dbt_assets

folder, program = Path(sys.argv[1]), sys.argv[2]
resource = DbtCliResource(project_dir=str(folder), profiles_dir=str(folder), dbt_executable=program)
resource.cli(["parse"], target_path=Path("target")).wait()


@dbt_assets(manifest=folder / "target" / "manifest.json")
def harbour(context, dbt: DbtCliResource):
    """Build the project."""
    yield from dbt.cli(["build"], context=context).stream()


done = materialize([harbour], resources={"dbt": resource})
sys.stdout.write(f"{len(done.get_asset_materialization_events())} assets\n")
