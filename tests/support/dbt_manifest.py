"""Small manifests of dbt, written by hand, and what is made of them."""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage_dbt.lineage import Run

RUN_ID: Final = "0192f0c1-0000-7000-8000-000000000001"
AT: Final = "2026-03-01T12:00:00Z"


def node(unique_id: str, sql: str | None = None, *parents: str, **more: Any) -> dict[str, Any]:
    """Return a node of a manifest, of database ``db`` and schema ``main``.

    Args:
        unique_id: Such as ``model.shop.orders``.
        sql: Its compiled SQL.
        parents: The unique ids of what it depends on.
        more: Other entries, such as ``config={"materialized": "view"}``.
    """
    kind, _, name = unique_id.partition(".")
    table = name.rpartition(".")[2]
    found = {
        "unique_id": unique_id,
        "resource_type": kind,
        "name": table,
        "database": "db",
        "schema": "main",
        "depends_on": {"nodes": list(parents)},
        "config": {"materialized": "table"},
        "columns": {},
        "identifier" if kind == "source" else "alias": table,
    }
    return {**found, **({"compiled_code": sql} if sql else {}), **more}


def manifest(*nodes: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest of nodes, each in its section."""
    sections: dict[str, Any] = {"nodes": {}, "sources": {}, "exposures": {}, "unit_tests": {}}
    names = {"source": "sources", "exposure": "exposures", "unit_test": "unit_tests"}
    for one in nodes:
        sections[names.get(one["resource_type"], "nodes")][one["unique_id"]] = one
    return sections


def run(**more: Any) -> Run:
    """Return a run of ``dbt build`` on DuckDB."""
    known: dict[str, Any] = {
        "run_id": RUN_ID,
        "command": "build",
        "job_namespace": "team",
        "job_name": "dbt-run-shop",
        "dbt_version": "1.11.0",
        "adapter_type": "duckdb",
        "dataset_namespace": "duckdb://shop.duckdb",
        "project_name": "shop",
    }
    return Run(**{**known, **more})
