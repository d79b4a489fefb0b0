"""astronomer-cosmos: every dbt command of the DAG goes through truewatch-dbt."""

from __future__ import annotations

from datetime import datetime, timezone

from cosmos import DbtDag, ExecutionConfig, ProfileConfig, ProjectConfig
from cosmos.constants import ExecutionMode, InvocationMode

harbour = DbtDag(
    dag_id="harbour",
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    project_config=ProjectConfig("/opt/harbour", env_vars={"OPENLINEAGE_NAMESPACE": "production-dbt"}),
    profile_config=ProfileConfig(
        profile_name="harbour", target_name="prod", profiles_yml_filepath="/opt/harbour/profiles.yml"
    ),
    execution_config=ExecutionConfig(
        execution_mode=ExecutionMode.LOCAL,
        invocation_mode=InvocationMode.SUBPROCESS,  # with DBT_RUNNER cosmos calls dbt as a library: see the plugin
        dbt_executable_path="/opt/dbt/bin/truewatch-dbt",
    ),
)
