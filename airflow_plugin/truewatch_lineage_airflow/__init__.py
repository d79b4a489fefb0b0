"""Airflow integration: sends what Airflow's OpenLineage provider emits, by settings and connections of Airflow's own.

Airflow starts at ``plugin``; events go through ``transport``; docs/airflow.md tells how to use it.
"""
