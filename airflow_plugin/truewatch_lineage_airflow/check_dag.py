"""A DAG that runs ``truewatch-lineage check`` on a worker, for an Airflow whose machines give nobody a shell.

Two lines in a file of the DAGs folder (``examples/airflow/truewatch_check.py``) make it known::

    from truewatch_lineage_airflow.check_dag import make_dag

    dag = make_dag()

The task's log has every step with its fix; the task fails if a step does.
"""

# ruff: noqa: AIR311 - Param comes from where each Airflow has it
from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.errors import TruewatchLineageError

DAG_ID: Final = "truewatch_check"


def make_dag(dag_id: str = DAG_ID) -> Any:
    """Return the DAG, which runs when somebody triggers it.

    Args:
        dag_id: Its name.
    """
    try:
        from airflow.sdk import DAG, Param, task  # noqa: PLC0415 - a worker of either generation has only its own
    except ImportError:
        from airflow import DAG  # noqa: PLC0415
        from airflow.decorators import task  # noqa: PLC0415
        from airflow.models.param import Param  # noqa: PLC0415

    params = {
        "airflow_conn_id": Param(
            None, type=["null", "string"], description="The connection to check; none for what tasks use."
        ),
        "send": Param(True, type="boolean", description="Whether to send a START and its COMPLETE."),
    }
    with DAG(dag_id, schedule=None, catchup=False, params=params, tags=["truewatch-lineage"], doc_md=__doc__) as dag:
        task(task_id="check", retries=0)(_check)()
    return dag


def _check(params: Any = None) -> None:
    """Run the command in the task's process, which alone may ask Airflow for connections, and print what it prints."""
    from truewatch_lineage.cli.check import command  # noqa: PLC0415 - not needed where DAGs are only read

    arguments = [] if params["send"] else ["--no-send"]
    if params["airflow_conn_id"]:
        arguments += ["--airflow-conn-id", params["airflow_conn_id"]]
    code = command.main(arguments, prog_name="truewatch-lineage check", standalone_mode=False)
    if code:
        raise TruewatchLineageError("A step of the check has failed.", fix="The lines above tell which, and its fix.")
