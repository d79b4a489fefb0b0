"""The link *Lineage* of a task instance."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from truewatch_lineage_airflow import compat
from truewatch_lineage_airflow.ui.address import lineage_address

try:
    from airflow.sdk import BaseOperatorLink
except ImportError:
    from airflow.models.baseoperatorlink import BaseOperatorLink


class LineageLink(BaseOperatorLink):  # type: ignore[misc]  # Airflow is untyped here
    """Leads from any task instance to its lineage; made by the server when somebody looks at the task instance."""

    name = "Lineage"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ARG002 - the key tells all
        """Return where the lineage of a task instance's try is seen; empty for none, where its run is gone.

        Args:
            operator: The task's.
            ti_key: The try's ``TaskInstanceKey``.
        """
        conf, date = compat.lineage_conf(), _date(ti_key.dag_id, ti_key.run_id)
        if conf is None or date is None:
            return ""
        return lineage_address(conf.namespace(), f"{ti_key.dag_id}.{ti_key.task_id}", _run_id(ti_key, date))


def _run_id(ti_key: Any, date: datetime) -> str:
    """Return the runId that Airflow's OpenLineage provider gives to a try."""
    from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter  # noqa: PLC0415 - slow, seldom needed

    run_id: str = OpenLineageAdapter.build_task_instance_run_id(
        dag_id=ti_key.dag_id,
        task_id=ti_key.task_id,
        try_number=ti_key.try_number,
        logical_date=date,
        map_index=ti_key.map_index,
    )
    return run_id


def _date(dag_id: str, run_id: str) -> datetime | None:
    """Return what the provider takes for a DAG run's date: the logical one, else when it could run (Airflow 3)."""
    from airflow.models.dagrun import DagRun  # noqa: PLC0415 - the server has it loaded already
    from airflow.utils.session import create_session  # noqa: PLC0415

    with create_session() as session:
        found = session.query(DagRun).filter(DagRun.dag_id == dag_id, DagRun.run_id == run_id).one_or_none()
        date: datetime | None = found and (found.logical_date or getattr(found, "run_after", None))
        return date
