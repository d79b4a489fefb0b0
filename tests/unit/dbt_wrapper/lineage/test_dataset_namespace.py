"""The namespace of a target's datasets."""

from __future__ import annotations

import sys

import pytest

from truewatch_lineage_dbt.lineage.upstream import dataset_namespace


@pytest.mark.parametrize(
    ("adapter", "target", "expected"),
    [
        ("postgres", {"host": "db.example.com", "port": 5432}, "postgres://db.example.com:5432"),
        ("duckdb", {"path": "/data/shop.duckdb"}, "duckdb:///data/shop.duckdb"),
        ("bigquery", {"project": "p"}, "bigquery"),
        ("databricks", {"host": "x.cloud.databricks.com"}, "databricks://x.cloud.databricks.com"),
        ("spark", {"method": "thrift", "host": "h"}, "spark://h:10001"),
        ("fabric", {"server": "h"}, "fabric-warehouse://h"),
        ("clickhouse", {"host": "h", "port": 9000}, "clickhouse://h:9000"),
    ],
)
def test_namespace_is_upstreams(adapter, target, expected):
    """Name a namespace as dbt-ol does, so that both meet in the catalog."""
    assert dataset_namespace(adapter, target) == expected


@pytest.mark.parametrize(
    ("adapter", "target", "expected"),
    [
        ("duckdb", {}, "duckdb://:memory:"),
        ("duckdb", {"path": None}, "duckdb://:memory:"),
        ("teradata", {"host": "h"}, "teradata"),
        ("postgres", {"host": "h"}, "postgres"),
        ("spark", {"method": "session", "host": "h"}, "spark"),
        ("snowflake", {"account": None}, "snowflake"),
    ],
)
def test_namespace_where_upstream_has_none(adapter, target, expected):
    """Fall back on the adapter's name where upstream would raise."""
    assert dataset_namespace(adapter, target) == expected


def test_namespace_has_no_token():
    """Leave out what follows the name of a database of MotherDuck."""
    assert dataset_namespace("duckdb", {"path": "md:shop?motherduck_token=t0ps3cret"}) == "duckdb://md:shop"


def test_namespace_without_upstream(monkeypatch):
    """Fall back where upstream's package is missing."""
    monkeypatch.setitem(sys.modules, "openlineage.common.provider.dbt.processor", None)
    assert dataset_namespace("postgres", {"host": "h", "port": 1}) == "postgres"
