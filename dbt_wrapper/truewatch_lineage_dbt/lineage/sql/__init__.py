"""Finds, from a query's text alone, which columns its columns come from; knows nothing of dbt."""
