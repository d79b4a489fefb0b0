"""dbt integration.

Will run dbt, return dbt's own exit code, and send its lineage through ``truewatch_lineage.TrueWatchTransport``. The
package is importable and holds nothing yet.
"""
