"""dbt integration: runs dbt with dbt's own outcome, and sends its lineage beside it.

``truewatch-dbt`` starts in `main`; ``lineage`` makes the events, in the process of `recording`.
"""
