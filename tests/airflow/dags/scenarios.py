"""The DAGs of the scenarios: what a task can come to, and what events tell of it."""

from __future__ import annotations

import os
import signal
from datetime import datetime, timedelta, timezone

from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

try:
    from airflow.sdk import DAG, Asset, task
except ImportError:  # Airflow 2
    from airflow.datasets import Dataset as Asset
    from airflow.decorators import task
    from airflow.models import DAG

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
ORDERS = Asset("file:///warehouse/orders.csv")


def dag(dag_id, schedule=None):
    """Make a DAG that runs only when asked, or when its assets change."""
    return DAG(dag_id, schedule=schedule, start_date=START, catchup=False)


with dag("succeeds"):

    @task
    def one():
        """Succeed."""

    one()

with dag("fails"):

    @task
    def wrong():
        """Fail."""
        raise ValueError("as the test wants it")

    wrong()

with dag("retries"):

    @task(retries=1, retry_delay=timedelta(seconds=1))
    def second_time_lucky(ti=None):
        """Fail once."""
        if ti.try_number == 1:
            raise ValueError("only the first try")

    second_time_lucky()

with dag("dies"):

    @task(retries=1, retry_delay=timedelta(seconds=1))
    def killed_once(ti=None):
        """Lose the process in the first try, as by the kernel's out-of-memory killer."""
        if ti.try_number == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    killed_once()

with dag("sql"):
    create = SQLExecuteQueryOperator(
        task_id="create",
        conn_id="warehouse",
        sql=[
            "create table if not exists staged_orders (id integer, price real)",
            "create table if not exists orders (id integer, price real)",
        ],
    )
    fill = SQLExecuteQueryOperator(
        task_id="fill", conn_id="warehouse", sql="insert into orders select id, price from staged_orders"
    )
    create >> fill

with dag("maps"):

    @task
    def each(number):
        """Do one of several."""
        return number

    each.expand(number=[1, 2, 3])

with dag("produces"):

    @task(outlets=[ORDERS])
    def write():
        """Change the asset."""

    write()

with dag("consumes", schedule=[ORDERS]):

    @task(inlets=[ORDERS])
    def read():
        """Run because the asset changed."""

    read()
