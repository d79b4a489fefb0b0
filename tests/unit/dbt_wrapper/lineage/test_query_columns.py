"""Column lineage from a query's text: every expectation is written by hand from reading the query."""

from __future__ import annotations

import pytest
import sqlglot

from truewatch_lineage_dbt.lineage.sql.errors import UnreadableSqlError
from truewatch_lineage_dbt.lineage.sql.model import Inputs, Relation, Shape, Table
from truewatch_lineage_dbt.lineage.sql.queries import read
from truewatch_lineage_dbt.lineage.sql.tree import dialect_of

VERSION = tuple(int(part) for part in sqlglot.__version__.split(".")[:2])

MARKS = {
    "IDENTITY": "=",
    "TRANSFORMATION": "~",
    "AGGREGATION": "+",
    "CONDITIONAL": "?",
    "WINDOW": "w",
    "FILTER": "filter",
    "JOIN": "join",
    "GROUP_BY": "group",
    "SORT": "sort",
}
"""How the tables below write a usage: ``= a.x`` is x of table a itself, ``# a.x`` a hash or count of it."""

SHAPES = {
    "a": Shape(("id", "x", "y"), closed=True),
    "b": Shape(("id", "z"), closed=True),
    "c": Shape(("Id", "Total"), closed=True),
}
"""The tables of the queries; ``o`` and ``p`` are tables of unknown columns."""


class Warehouse:
    """Knows a, b and c, and of any other table only its name."""

    def table(self, parts: tuple[str, ...]) -> Table:
        """Return a table by the last part of its name."""
        return Table(parts[-1], lambda: SHAPES.get(parts[-1], Shape()))

    def call(self, text: str) -> None:
        """Know no function's rows."""


def lineage(sql: str, dialect: str | None = "duckdb") -> Relation:
    """Read a query of the warehouse."""
    return read(sql, dialect, Warehouse())


def told(inputs: Inputs) -> str:
    """Write inputs as the tables below do, in alphabetical order."""
    return ", ".join(
        sorted(f"{mark(usage)} {leaf.dataset}.{leaf.column}" for leaf, us in inputs.items() for usage in us)
    )


def mark(usage) -> str:
    """Write a usage, ``#`` before it where it masks."""
    return ("#" if usage.masking else "") + MARKS[usage.subtype]


def columns(relation: Relation) -> dict[str | None, str]:
    """Write the columns of a result."""
    return {column.name: told(column.inputs) for column in relation.columns.values()}


PROJECTIONS = {
    "a rename": ("select x as k from a", {"k": "= a.x"}),
    "a literal": ("select 1 as one, now() as at from a", {"one": "", "at": ""}),
    "an expression": ("select x + y as s from a", {"s": "~ a.x, ~ a.y"}),
    "a cast": ("select cast(x as int) as k, y::text as l from a", {"k": "~ a.x", "l": "~ a.y"}),
    "parentheses": ("select (x) as k from a", {"k": "= a.x"}),
    "coalesce": ("select coalesce(x, y, 0) as k from a", {"k": "~ a.x, ~ a.y"}),
    "a star": ("select * from a", {"id": "= a.id", "x": "= a.x", "y": "= a.y"}),
    "a qualified star": ("select b.* from a, b", {"id": "= b.id", "z": "= b.z"}),
    "a star without": ("select * exclude (x) from a", {"id": "= a.id", "y": "= a.y"}),
    "a star with another": ("select * replace (x + 1 as x) from a", {"id": "= a.id", "x": "~ a.x", "y": "= a.y"}),
    "case": (
        "select case when x > 1 then y else id end as k from a",
        {"k": "? a.x, ~ a.id, ~ a.y"},
    ),
    "case of a value": ("select case x when 1 then 'a' end as k from a", {"k": "? a.x"}),
    "if": ("select if(x > 1, y, 0) as k from a", {"k": "? a.x, ~ a.y"}),
    "aggregates": (
        "select sum(x) as s, max(y) as m, count(*) as n, count(x) as c from a",
        {"s": "+ a.x", "m": "+ a.y", "n": "", "c": "#+ a.x"},
    ),
    "an aggregate of an expression": ("select round(sum(x * y), 2) as s from a", {"s": "+ a.x, + a.y"}),
    "an aggregate of a case": (
        "select sum(case when x = 1 then y else 0 end) as s from a",
        {"s": "+ a.y, ? a.x"},
    ),
    "a filtered aggregate": ("select sum(y) filter (where x > 1) as s from a", {"s": "+ a.y, ? a.x"}),
    "an ordered aggregate": ("select string_agg(x, ',' order by y) as s from a", {"s": "+ a.x, sort a.y"}),
    "a percentile": ("select percentile_cont(0.5) within group (order by y) as p from a", {"p": "+ a.y"}),
    "a rank": (
        "select row_number() over (partition by x order by y) as n from a",
        {"n": "w a.x, w a.y"},
    ),
    "a running sum": (
        "select sum(y) over (partition by x order by id) as s from a",
        {"s": "+ a.y, w a.id, w a.x"},
    ),
    "a row before": ("select lag(y) over (order by id) as l from a", {"l": "w a.id, ~ a.y"}),
    "a named window": (
        "select sum(y) over w as s from a window w as (partition by x)",
        {"s": "+ a.y, w a.x"},
    ),
    "a hash": ("select md5(x) as h, sha256(y) as s from a", {"h": "#~ a.x", "s": "#~ a.y"}),
    "a column of the same select": ("select x as k, k + 1 as l from a", {"k": "= a.x", "l": "~ a.x"}),
    "an alias that is no column of the unknown table": (
        "select x + 1 as k, k * 2 as l from o",
        {"k": "~ o.x", "l": "~ o.x"},
    ),
    "an alias that hides a column": (
        "select trim(k) as k, coalesce(k, m) as l from o",
        {"k": "~ o.k", "l": "~ o.k, ~ o.m"},
    ),
    "an alias that hides a known column": ("select x as y, y as k from a", {"y": "= a.x", "k": "= a.y"}),
    "a scalar subquery": (
        "select (select max(z) from b where b.id = a.id) as m from a",
        {"m": "+ b.z, filter a.id, filter b.id"},
    ),
    "a subquery that names a column of the query around it": (
        "select (select max(z) from b where id = x) as m from a",
        {"m": "+ b.z, filter a.x, filter b.id"},
    ),
    "a hidden column": ("select _partitiontime as p from a", {"p": "= a._partitiontime"}),
    "a whole row": ("select to_json(a) as r from a", {"r": "~ a.id, ~ a.x, ~ a.y"}),
    "exists": (
        "select exists (select z from b where b.id = a.id) as e from a",
        {"e": "filter a.id, filter b.id"},
    ),
    "a field of a structure": ("select o.s.f as k, o.s.g.h as l from o", {"k": "~ o.s", "l": "~ o.s"}),
    "an unnested array": (
        "select o.id, e from o, unnest(o.list) as t(e)",
        {"id": "= o.id", "e": "~ o.list"},
    ),
    "a function's rows": ("select g.i from generate_series(1, 3) as g(i)", {"i": ""}),
    "values": ("select v.k from (values (1, 2)) as v(k, l)", {"k": ""}),
    "a lambda's own name": ("select list_transform(x, e -> e + y) as k from a", {"k": "~ a.x, ~ a.y"}),
    "a table's spelling": ("select ID as id, total as t from c", {"id": "= c.Id", "t": "= c.Total"}),
}

NESTED = {
    "a chain that ends in a star": (
        "with s as (select * from a), r as (select id as k, upper(x) as u from s) select * from r",
        {"k": "= a.id", "u": "~ a.x"},
    ),
    "a chain over a table of unknown columns": (
        "with s as (select * from o), r as (select id as k, lower(n) as m from s) select * from r",
        {"k": "= o.id", "m": "~ o.n"},
    ),
    "a subquery": ("select q.k from (select x as k from a) as q", {"k": "= a.x"}),
    "named columns of a CTE": (
        "with t(k, l) as (select id, x from a) select l, k from t",
        {"l": "= a.x", "k": "= a.id"},
    ),
    "named columns of a subquery": ("select k from (select id from a) as t(k)", {"k": "= a.id"}),
    "a CTE named as the table it reads": ("with a as (select id from a) select * from a", {"id": "= a.id"}),
    "a CTE within a CTE": (
        "with r as (with s as (select x from a) select x as k from s) select * from r",
        {"k": "= a.x"},
    ),
    "an aggregate of an aggregate": (
        "with s as (select x, sum(y) as t from a group by x) select max(t) as m, x + 1 as k from s group by x",
        {"m": "+ a.y", "k": "~ a.x"},
    ),
    "a condition on a computed column": (
        "with s as (select case when x = 1 then 'p' end as k from a) select upper(k) as l from s",
        {"l": "? a.x"},
    ),
    "a recursive CTE": (
        "with recursive r as (select id, x from a union all select b.id, x from b join r using (id)) select * from r",
        {"id": "= a.id, = b.id", "x": "= a.x"},
    ),
    "dbt's inlined ephemeral model": (
        "with __dbt__cte__e as (select id, upper(x) as u from a) select e.u from __dbt__cte__e as e",
        {"u": "~ a.x"},
    ),
    "a union": (
        "select id, x from a union all select id, z from b",
        {"id": "= a.id, = b.id", "x": "= a.x, = b.z"},
    ),
    "a union of stars": (
        "with u as (select * from o union all select * from p) select k from u",
        {"k": "= o.k, = p.k"},
    ),
    "a union by name": (
        "select id, x from a union by name select z as x, id from b",
        {"id": "= a.id, = b.id", "x": "= a.x, = b.z"},
    ),
    "an intersection": ("select id from a intersect select id from b", {"id": "= a.id"}),
    "using": ("select * from a join b using (id)", {"id": "= a.id", "x": "= a.x", "y": "= a.y", "z": "= b.z"}),
    "using, right": ("select id from a right join b using (id)", {"id": "= b.id"}),
    "using, full": ("select id from a full join b using (id)", {"id": "~ a.id, ~ b.id"}),
    "a natural join": ("select id, z from a natural join b", {"id": "= a.id", "z": "= b.z"}),
    "a semi join": ("select * from a semi join b on a.id = b.id", {"id": "= a.id", "x": "= a.x", "y": "= a.y"}),
    "a lateral subquery": (
        "select l.k from a, lateral (select a.x + 1 as k) as l",
        {"k": "~ a.x"},
    ),
    "a self join": (
        "select l.x as k, r.y as m from a as l join a as r on l.id = r.id",
        {"k": "= a.x", "m": "= a.y"},
    ),
    "an unqualified column that one table has": (
        "select x, z from a join b on a.id = b.id",
        {"x": "= a.x", "z": "= b.z"},
    ),
    "an unqualified column that the unknown table has": (
        "select x, q from a join o on a.id = o.id",
        {"x": "= a.x", "q": "= o.q"},
    ),
    "a column that either unknown table may have": ("select q from o, p", {"q": ""}),
    "a pivot": (
        "select * from a pivot (sum(y) for x in ('p', 'q'))",
        {"id": "= a.id", "p": "+ a.y, ? a.x", "q": "+ a.y, ? a.x"},
    ),
    "an unpivot": (
        "select * from a unpivot (v for n in (x, y))",
        {"id": "= a.id", "n": "", "v": "~ a.x, ~ a.y"},
    ),
}

DIALECTS = {
    "BigQuery's except": ("bigquery", "select * except (x) from a", {"id": "= a.id", "y": "= a.y"}),
    "BigQuery's array in FROM": ("bigquery", "select e.k as k from o, o.list as e", {"k": "~ o.list"}),
    "BigQuery's unnest": ("bigquery", "select e from o, unnest(o.list) as e", {"e": "~ o.list"}),
    "Snowflake's flatten": (
        "snowflake",
        "select f.value:name::string as n from o, lateral flatten(input => o.list) as f",
        {"n": "~ o.list"},
    ),
    "Snowflake's path": ("snowflake", "select src:a.b::int as n from o", {"n": "~ o.src"}),
    "Snowflake's iff": ("snowflake", "select iff(x > 1, y, 0) as k from a", {"k": "? a.x, ~ a.y"}),
    "Spark's lateral view": (
        "spark",
        "select o.id, e from o lateral view explode(o.list) t as e",
        {"id": "= o.id", "e": "~ o.list"},
    ),
    "Spark's backticks": ("spark", "select `x` as `k` from `db`.`a`", {"k": "= a.x"}),
    "Postgres' lateral join": (
        "postgres",
        "select l.k from a cross join lateral (select max(z) as k from b where b.id = a.id) as l",
        {"k": "+ b.z"},
    ),
    "Postgres' name of a cast": ("postgres", "select x::int, cast(y as text) from a", {"x": "~ a.x", "y": "~ a.y"}),
    "DuckDB's name of a cast": ("duckdb", "select x::int from a", {None: "~ a.x"}),
    "Redshift's own aliases": ("redshift", "select x as k, k + 1 as l from a", {"k": "= a.x", "l": "~ a.x"}),
    "T-SQL": ("tsql", "select top 5 [x] as k, isnull(y, 0) as l from [a]", {"k": "= a.x", "l": "~ a.y"}),
    "ClickHouse's constant": ("clickhouse", "with 5 as n select x + n as k from a", {"k": "~ a.x"}),
    "Trino": ("trino", "select try_cast(x as bigint) as k from a", {"k": "~ a.x"}),
}

ROWS = {
    "where": ("select id from a where x > 1", "filter a.x"),
    "having": ("select id from a group by id having max(x) > 1", "filter a.x, group a.id"),
    "qualify": (
        "select id from a qualify row_number() over (partition by x order by y) = 1",
        "filter a.x, filter a.y",
    ),
    "a filter on a window's column": (
        "with r as (select id, row_number() over (partition by x order by y) as n from a) select id from r where n = 1",
        "filter a.x, filter a.y",
    ),
    "a subquery in a filter": (
        "select id from a where x in (select z from b where id > 1)",
        "filter a.x, filter b.id, filter b.z",
    ),
    "join": ("select a.id from a join b on a.id = b.id and z > 1", "join a.id, join b.id, join b.z"),
    "a comma join": ("select a.id from a, b where a.id = b.id", "filter a.id, filter b.id"),
    "using": ("select x from a join b using (id)", "join a.id, join b.id"),
    "a natural join": ("select x from a natural join b", "join a.id, join b.id"),
    "a semi join": ("select x from a semi join b on a.id = b.id", "join a.id, join b.id"),
    "group by": ("select x, count(*) as n from a group by x", "group a.x"),
    "group by place": ("select x as k, count(*) as n from a group by 1", "group a.x"),
    "group by alias": ("select lower(x) as k, count(*) as n from a group by k", "group a.x"),
    "group by all": ("select x, sum(y) as s from a group by all", "group a.x"),
    "grouping sets": ("select x, y, count(*) as n from a group by grouping sets ((x), (y))", "group a.x, group a.y"),
    "rollup": ("select x, y, count(*) as n from a group by rollup (x, y)", "group a.x, group a.y"),
    "order by": ("select id from a order by x desc, y", "sort a.x, sort a.y"),
    "order by place": ("select id, x from a order by 2", "sort a.x"),
    "order by alias": ("select y as x from a order by x", "sort a.y"),
    "distinct on": ("select distinct on (x) id from a", "filter a.x"),
    "an intersection": ("select id from a intersect select id from b", "filter b.id"),
    "a difference": ("select id from a except select z from b", "filter b.z"),
    "both sides of a union": (
        "select id from a where x > 1 union all select id from b where z > 1",
        "filter a.x, filter b.z",
    ),
    "within a CTE": ("with s as (select id from a where x > 1) select id from s", "filter a.x"),
    "within a CTE that is not used": ("with s as (select id from a where x > 1) select id from b", ""),
    "order of a union": ("select id from a union all select id from b order by id", "sort a.id, sort b.id"),
    "nothing": ("select id from a limit 3", ""),
}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_projection(name):
    """Tell what the columns of a plain select are made of."""
    sql, expected = PROJECTIONS[name]
    assert columns(lineage(sql)) == expected


@pytest.mark.parametrize("name", NESTED)
def test_nested_query(name):
    """Tell what columns are made of through CTEs, subqueries, joins and set operations."""
    sql, expected = NESTED[name]
    assert columns(lineage(sql)) == expected


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect(name):
    """Tell what columns are made of in the words of a dialect."""
    dialect, sql, expected = DIALECTS[name]
    assert columns(lineage(sql, dialect)) == expected


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    """Tell what decides about the rows."""
    sql, expected = ROWS[name]
    assert told(lineage(sql).influences) == expected


@pytest.mark.skipif(VERSION < (26, 0), reason="this version of sqlglot does not know DuckDB's COLUMNS and RENAME")
def test_duckdb_patterns():
    """Tell what DuckDB's own ways to name many columns make."""
    assert columns(lineage("select max(columns(*)) from b")) == {"id": "+ b.id", "z": "+ b.z"}
    assert columns(lineage("select columns('^[xy]') from a")) == {"x": "= a.x", "y": "= a.y"}
    assert columns(lineage("select * rename (z as k) from b")) == {"id": "= b.id", "k": "= b.z"}


def test_star_over_unknown_table_stays_open():
    """Say of which table further columns may come, and which may not."""
    relation = lineage("with s as (select * exclude (k) from o) select *, 1 as one from s")
    assert relation.open == (("o",),)
    assert relation.find("anything") is not None
    assert relation.find("k") is None


def test_column_without_a_name_is_kept_in_its_place():
    """Let a union count columns whose name the database makes up."""
    assert columns(lineage("select k from (select x, y + 1 from a union all select id, z from b) as t(j, k)")) == {
        "k": "= b.z, ~ a.y"
    }


def test_long_union_needs_no_deep_stack():
    """Read a union of many selects."""
    sql = " union all ".join(f"select {column} as k from a" for column in ("x", "y", "id") * 60)
    assert columns(lineage(sql)) == {"k": "= a.id, = a.x, = a.y"}


@pytest.mark.parametrize(
    "sql",
    [
        "select from where",
        "select 1; select 2",
        "create table t as select 1 as k",
        "",
        f"select {'1 + ' * 100_000} 1 as k",
    ],
    ids=["no SQL", "two queries", "a statement", "nothing", "too long"],
)
def test_unreadable_sql(sql):
    """Refuse what is not one query that parses within a second."""
    with pytest.raises(UnreadableSqlError):
        lineage(sql)


def test_comment_after_the_query_is_no_statement():
    """Read a query that ends in a semicolon and a comment."""
    assert columns(lineage("select x from a; -- done")) == {"x": "= a.x"}


@pytest.mark.parametrize(
    ("adapter", "dialect"),
    [
        ("duckdb", "duckdb"),
        ("sqlserver", "tsql"),
        ("glue", "spark"),
        ("vertica", "postgres"),
        ("nosuch", None),
        (None, None),
    ],
)
def test_dialect_of_an_adapter(adapter, dialect):
    """Choose sqlglot's dialect by dbt's adapter."""
    assert dialect_of(adapter) == dialect
