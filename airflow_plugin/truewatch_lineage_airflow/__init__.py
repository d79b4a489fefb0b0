"""Airflow integration.

Will set up Airflow's OpenLineage provider so that its events go through ``truewatch_lineage.TrueWatchTransport``, with
the token from an Airflow connection. The package is importable and holds nothing yet.
"""
