"""dbt by a BashOperator: the dbt run shows as a child of the task that started it.

The worker needs truewatch-lineage[dbt] beside dbt, wherever that is installed; the settings of the lineage are
variables of the worker, such as TRUEWATCH_LINEAGE_URL and TRUEWATCH_LINEAGE_TOKEN_FILE.
"""

from __future__ import annotations

from datetime import datetime, timezone

from airflow.providers.standard.operators.bash import BashOperator  # Airflow 2: airflow.operators.bash
from airflow.sdk import DAG  # Airflow 2: from airflow import DAG

LINEAGE = "macros.OpenLineageProviderPlugin"

with DAG("harbour", schedule="@daily", start_date=datetime(2026, 1, 1, tzinfo=timezone.utc), catchup=False):
    BashOperator(
        task_id="dbt_build",
        bash_command="exec /opt/dbt/bin/truewatch-dbt build --target prod",  # exec: signals reach dbt itself
        cwd="/opt/harbour",
        append_env=True,
        env={
            "OPENLINEAGE_NAMESPACE": "production-dbt",
            "OPENLINEAGE_PARENT_ID": f"{{{{ {LINEAGE}.lineage_parent_id(task_instance) }}}}",
            "OPENLINEAGE_ROOT_PARENT_ID": f"{{{{ {LINEAGE}.lineage_root_parent_id(task_instance) }}}}",
        },
    )
