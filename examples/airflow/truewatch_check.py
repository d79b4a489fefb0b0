"""Put this file into Airflow's DAGs folder: it makes the DAG truewatch_check, which checks the way to TrueWatch."""

from truewatch_lineage_airflow.check_dag import make_dag

dag = make_dag()
