"""dagster-dbt: the resource calls truewatch-dbt, whose stdout is dbt's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dagster import AssetExecutionContext, Definitions
from dagster_dbt import DbtCliResource, DbtProject, dbt_assets

project = DbtProject(project_dir=Path("/opt/harbour"))


@dbt_assets(manifest=project.manifest_path)
def harbour(context: AssetExecutionContext, dbt: DbtCliResource) -> Iterator[Any]:
    """Build the project."""
    yield from dbt.cli(["build"], context=context).stream()


definitions = Definitions(
    assets=[harbour],
    resources={"dbt": DbtCliResource(project_dir=project, dbt_executable="/opt/dbt/bin/truewatch-dbt")},
)
