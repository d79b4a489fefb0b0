"""What Airflow loads: the ``airflow.plugins`` entry point."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin


class TrueWatchLineagePlugin(AirflowPlugin):  # type: ignore[misc]  # Airflow is untyped here
    """Sends the lineage of Airflow's tasks and DAG runs to TrueWatch or Spotify Portal."""

    name = "truewatch_lineage"
