"""What is read from the state of ``--defer`` and ``clone`` is named as it stands there."""

from __future__ import annotations

import dataclasses

import pytest
from support.dbt_manifest import AT, manifest, node, run

from truewatch_lineage_dbt.lineage import EventBuilder, Outcome

PARENT = "model.shop.orders"
CHILD = "model.shop.names"
PROD = {"database": "db", "schema": "prod", "alias": "orders_v1"}

READS = {
    "the state": ('"db"."prod"."orders_v1"', '"{}"."{}"."{}"', ["db.prod.orders_v1"]),
    "this target": ('"db"."main"."orders"', '"{}"."{}"."{}"', ["db.main.orders"]),
    "the state, without quotes": ("db.prod.orders_v1", "{}.{}.{}", ["db.prod.orders_v1"]),
    "this target, by another name's beginning": ("db.main.orders, db.prod.orders_v10", "{}.{}.{}", ["db.main.orders"]),
}
"""What SQL selects from, how the adapter writes a relation, and which of the parent's tables is read."""


def _builder(relation, sql):
    """Return a builder of a project whose parent stands in another schema of the state as well."""
    parent = node(PARENT, relation_name=relation.format("db", "main", "orders"))
    made = EventBuilder(run(), manifest(parent, node(CHILD, sql, PARENT)))
    made.deferred = {PARENT: {**PROD, "relation_name": relation.format(*PROD.values())}}
    return made


def _inputs(events):
    return [dataset["name"] for event in events for dataset in event["inputs"]]


@pytest.mark.parametrize(("tables", "relation", "expected"), READS.values(), ids=READS)
def test_the_sql_says_which_of_both_is_read(tables, relation, expected) -> None:
    """Dbt itself looks for the table in the warehouse; the compiled SQL has what came of it."""
    events = _builder(relation, f"select 1 as one from {tables}").node_finished(CHILD, Outcome("success", AT))
    assert _inputs(events)[:1] == expected


def test_columns_come_from_there_too() -> None:
    """The table that the SQL names is no unknown one."""
    (event,) = _builder('"{}"."{}"."{}"', 'select name from "db"."prod"."orders_v1"').node_finished(
        CHILD, Outcome("success", AT)
    )
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [(field["name"], field["field"]) for field in fields["name"]["inputFields"]] == [
        ("db.prod.orders_v1", "name")
    ]
    assert _inputs([event]) == ["db.prod.orders_v1"]


def test_nothing_is_said_before_there_is_sql() -> None:
    """A START comes before dbt has compiled, and a table that may not exist would stay in the graph."""
    assert _inputs(_builder("{}.{}.{}", None).node_started(CHILD, AT)) == []


def test_a_clone_reads_the_state() -> None:
    """Not what the model itself is made of."""
    made = _builder("{}.{}.{}", None)
    made.run = dataclasses.replace(made.run, command="clone")
    assert _inputs(made.node_started(PARENT, AT)) == ["db.prod.orders_v1"]
