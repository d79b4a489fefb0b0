"""Column lineage of nodes, with what is known of the tables they read."""

from __future__ import annotations

import logging
import sys

import pytest
from support.dbt_manifest import manifest, node, run

from truewatch_lineage_dbt.lineage import sql
from truewatch_lineage_dbt.lineage.columns import ColumnReader
from truewatch_lineage_dbt.lineage.datasets import Project

DOCUMENTED = {"columns": {"id": {"name": "id"}, "name": {"name": "name", "data_type": "text"}}}


def read(unique_id: str, *nodes, catalog=None, reader=None, **more):
    """Return a node's columns as ``{column: ["table.column SUBTYPE"]}``; None where it has no column lineage."""
    project = Project(run(**more), manifest(*nodes), catalog or {})
    lineage = (reader or ColumnReader()).read(project, project.node(unique_id))
    return None if lineage is None else {column.name: told(column.inputs) for column in lineage.columns}


def told(inputs):
    """Write inputs in alphabetical order."""
    return sorted(
        f"{leaf.dataset}.{leaf.column} {' '.join(sorted(usage.subtype for usage in usages))}".strip()
        for leaf, usages in inputs.items()
    )


def test_star_over_a_model_takes_the_columns_of_its_sql():
    """Follow a star to columns that only the upstream model's own SQL names, though it has not run."""
    assert read(
        "model.p.b",
        node("model.p.a", "select id as k, upper(name) as n from db.raw.t", "source.p.raw.t"),
        node("source.p.raw.t", schema="raw"),
        node("model.p.b", "select * from db.main.a", "model.p.a"),
    ) == {"k": ["db.main.a.k IDENTITY"], "n": ["db.main.a.n IDENTITY"]}


def test_chain_of_many_stars():
    """Read a chain of models that is longer than the stack is deep."""
    chain = [node("model.p.m0", "select 1 as k, 2 as l")]
    for place in range(1, 400):
        text = f"with s as (select * from db.main.m{place - 1}) select * from s"
        chain.append(node(f"model.p.m{place}", text, f"model.p.m{place - 1}"))
    assert read("model.p.m399", *chain) == {"k": ["db.main.m398.k IDENTITY"], "l": ["db.main.m398.l IDENTITY"]}


def test_nodes_that_read_each_other_end():
    """Bear a manifest that dbt would refuse."""
    assert (
        read(
            "model.p.a",
            node("model.p.a", "select * from db.main.b", "model.p.b"),
            node("model.p.b", "select * from db.main.a", "model.p.a"),
        )
        is None
    )


def test_ephemeral_model_is_passed_through():
    """Tell of the tables behind an ephemeral model, which dbt puts into the SQL as a CTE."""
    assert read(
        "model.p.b",
        node("source.p.raw.t", schema="raw"),
        node(
            "model.p.e", "select upper(id) as u from db.raw.t", "source.p.raw.t", config={"materialized": "ephemeral"}
        ),
        node(
            "model.p.b",
            "with __dbt__cte__e as (select upper(id) as u from db.raw.t) select u from __dbt__cte__e",
            "model.p.e",
        ),
    ) == {"u": ["db.raw.t.id TRANSFORMATION"]}


def test_seed_has_the_columns_of_its_file(tmp_path):
    """Follow a star over a seed to the header of its CSV file."""
    (tmp_path / "codes.csv").write_text("code;label\n1;one\n", encoding="utf-8-sig")
    seed = node(
        "seed.p.codes",
        root_path=str(tmp_path),
        original_file_path="codes.csv",
        config={"materialized": "seed", "delimiter": ";"},
    )
    model = node("model.p.m", "select * from db.main.codes", "seed.p.codes")
    assert read("model.p.m", seed, model) == {
        "code": ["db.main.codes.code IDENTITY"],
        "label": ["db.main.codes.label IDENTITY"],
    }


@pytest.mark.parametrize(
    "broken", [{}, {"root_path": "/nowhere", "original_file_path": "codes.csv"}, {"root_path": "/nowhere"}]
)
def test_seed_without_its_file(broken):
    """Bear a seed whose file is not at hand."""
    model = node("model.p.m", "select code from db.main.codes", "seed.p.codes")
    assert read("model.p.m", node("seed.p.codes", **broken), model) == {"code": ["db.main.codes.code IDENTITY"]}


def test_star_over_a_documented_source():
    """Take what the documentation says of a source's columns."""
    source = node("source.p.raw.t", schema="raw", **DOCUMENTED)
    model = node("model.p.m", "select * from db.raw.t", "source.p.raw.t")
    assert read("model.p.m", source, model) == {"id": ["db.raw.t.id IDENTITY"], "name": ["db.raw.t.name IDENTITY"]}


def test_star_over_a_source_in_the_catalog():
    """Take the catalog's columns before the documentation's, and in its spelling."""
    source = node("source.p.raw.t", schema="raw", **DOCUMENTED)
    model = node("model.p.m", "with s as (select * from db.raw.t) select id, more from s", "source.p.raw.t")
    catalog = {"sources": {"source.p.raw.t": {"columns": {"ID": {"type": "INT"}, "MORE": {"type": "INT"}}}}}
    assert read("model.p.m", source, model, catalog=catalog) == {
        "id": ["db.raw.t.ID IDENTITY"],
        "more": ["db.raw.t.MORE IDENTITY"],
    }


def test_star_over_an_unknown_table_gives_the_declared_columns():
    """Let the model's own documentation name what a star over an unknown table must bring."""
    source = node("source.p.raw.t", schema="raw")
    model = node("model.p.m", "select *, 1 as one from db.raw.t", "source.p.raw.t", **DOCUMENTED)
    assert read("model.p.m", source, model) == {
        "one": [],
        "id": ["db.raw.t.id IDENTITY"],
        "name": ["db.raw.t.name IDENTITY"],
    }


@pytest.mark.parametrize(
    ("config", "history"),
    [
        (
            {"strategy": "timestamp", "unique_key": "id", "updated_at": "at"},
            {
                "dbt_scd_id": ["db.raw.t.changed TRANSFORMATION", "db.raw.t.id TRANSFORMATION"],
                "dbt_updated_at": ["db.raw.t.changed IDENTITY"],
                "dbt_valid_from": ["db.raw.t.changed IDENTITY"],
                "dbt_valid_to": ["db.raw.t.changed TRANSFORMATION"],
            },
        ),
        (
            {"strategy": "check", "unique_key": ["id"], "check_cols": "all"},
            {
                "dbt_scd_id": ["db.raw.t.id TRANSFORMATION"],
                "dbt_updated_at": [],
                "dbt_valid_from": [],
                "dbt_valid_to": [],
            },
        ),
        (
            {
                "strategy": "check",
                "unique_key": "id || '-' || at",
                "hard_deletes": "new_record",
                "snapshot_meta_column_names": {"dbt_valid_to": "until"},
            },
            {
                "dbt_scd_id": ["db.raw.t.changed TRANSFORMATION", "db.raw.t.id TRANSFORMATION"],
                "dbt_updated_at": [],
                "dbt_valid_from": [],
                "until": [],
                "dbt_is_deleted": [],
            },
        ),
    ],
)
def test_snapshot_has_its_history(config, history):
    """Add the columns that dbt adds, made of the key and of when a row changed."""
    source = node("source.p.raw.t", schema="raw")
    snapshot = node("snapshot.p.s", "select id, changed as at from db.raw.t", "source.p.raw.t", config=config)
    assert read("snapshot.p.s", source, snapshot) == {
        "id": ["db.raw.t.id IDENTITY"],
        "at": ["db.raw.t.changed IDENTITY"],
        **history,
    }


def test_incremental_model_is_no_input_of_itself():
    """Leave out what an incremental model looks up in its own table."""
    reader = ColumnReader()
    text = "select id from db.raw.t where id > (select max(id) from db.main.m)"
    nodes = node("source.p.raw.t", schema="raw"), node("model.p.m", text, "source.p.raw.t")
    project = Project(run(), manifest(*nodes), {})
    lineage = reader.read(project, project.node("model.p.m"))
    assert told(lineage.influences) == ["db.raw.t.id FILTER"]


def test_table_that_dbt_does_not_know():
    """Name a table that only the SQL names, with the target's database and schema."""
    model = node("model.p.m", "select a.x, b.y, c.z from k.l.a, l.b, c")
    assert read("model.p.m", model, database="db", schema="main") == {
        "x": ["k.l.a.x IDENTITY"],
        "y": ["db.l.b.y IDENTITY"],
        "z": ["db.main.c.z IDENTITY"],
    }


def test_adapter_without_databases():
    """Match two-part names where the manifest has no database."""
    parent = node("model.p.a", "select 1 as k", database=None)
    model = node("model.p.m", "select * from `main`.`a`", "model.p.a", database=None)
    assert read("model.p.m", parent, model, adapter_type="spark") == {"k": ["main.a.k IDENTITY"]}


def test_file_as_a_source_of_duckdb():
    """Know a source by the function that dbt-duckdb puts in its place."""
    source = node("source.p.files.t", schema="files", relation_name="read_csv('/data/t.csv')")
    model = node("model.p.m", "select id from read_csv('/data/t.csv')", "source.p.files.t")
    assert read("model.p.m", source, model) == {"id": ["db.files.t.id IDENTITY"]}


def test_unreadable_sql_is_a_debug_message(caplog):
    """Keep to table lineage where no parser reads the SQL, and say so only to who debugs."""
    with caplog.at_level(logging.DEBUG):
        assert read("model.p.m", node("model.p.m", "select from from where")) is None
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert "model.p.m" in caplog.text


def test_upstream_parser_is_asked_where_sqlglot_fails(monkeypatch):
    """Take what openlineage_sql knows where sqlglot is not installed."""
    monkeypatch.delattr(sql, "queries", raising=False)
    monkeypatch.setitem(sys.modules, "truewatch_lineage_dbt.lineage.sql.queries", None)
    source = node("source.p.raw.t", schema="raw")
    model = node("model.p.m", "select id, a + b as s from db.raw.t", "source.p.raw.t")
    assert read("model.p.m", source, model) == {"id": ["db.raw.t.id"], "s": ["db.raw.t.a", "db.raw.t.b"]}


def test_model_that_an_earlier_invocation_compiled(tmp_path):
    """Follow a star to a model that is not part of this run, by what dbt compiled of it before."""
    compiled = tmp_path / "compiled" / "p" / "models" / "a.sql"
    compiled.parent.mkdir(parents=True)
    compiled.write_text("select 1 as k, 2 as l")
    parent = node("model.p.a", package_name="p", original_file_path="models/a.sql")
    model = node("model.p.b", "select * from db.main.a", "model.p.a")
    found = read("model.p.b", parent, model, target_path=str(tmp_path))
    assert found == {"k": ["db.main.a.k IDENTITY"], "l": ["db.main.a.l IDENTITY"]}
    assert read("model.p.b", parent, model, target_path=str(tmp_path / "elsewhere")) is None


def test_python_model_has_no_columns():
    """Leave a model in Python at table lineage."""
    assert read("model.p.m", node("model.p.m", "def model(dbt, session): ...", language="python")) is None
