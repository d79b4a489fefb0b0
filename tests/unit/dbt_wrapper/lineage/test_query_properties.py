"""Column lineage holds for any chain of projections: the query is made from the lineage, not the other way round."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage_dbt.lineage.sql.model import Shape, Table
from truewatch_lineage_dbt.lineage.sql.queries import read

COLUMNS = ("a", "b", "c", "d")
RANKS = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
EXPRESSIONS = {
    "{0}": ("IDENTITY", None),
    "upper({0})": ("TRANSFORMATION", None),
    "coalesce({0}, {1})": ("TRANSFORMATION", "TRANSFORMATION"),
    "max({0}) over (partition by {1})": ("AGGREGATION", "WINDOW"),
    "case when {1} is null then {0} end": ("TRANSFORMATION", "CONDITIONAL"),
}
"""How an expression uses its first column, and its second."""


class Warehouse:
    """Knows one table, ``t``, by its columns or only by its name."""

    def __init__(self, closed: bool) -> None:
        self._shape = Shape(COLUMNS, closed=True) if closed else Shape()

    def table(self, parts):
        """Return the table."""
        return Table(".".join(parts), lambda: self._shape)

    def call(self, text):
        """Know no function's rows."""


layer = st.lists(
    st.tuples(st.sampled_from(sorted(EXPRESSIONS)), st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=4
)


def composed(inner: str, outer: str) -> str:
    """Return how a column is used by what uses a value made of it; written apart from the code it checks."""
    if outer not in RANKS:
        return outer
    return inner if inner not in RANKS else RANKS[max(RANKS.index(inner), RANKS.index(outer))]


def layered(layers):
    """Return the SQL of layers, each a CTE over the one before, and what each last column is made of."""
    made = {name: {(name, "IDENTITY")} for name in COLUMNS}
    ctes, source = [], "t"
    for depth, picked in enumerate(layers):
        items, now = [], {}
        for name, (expression, first, second) in zip(COLUMNS, picked, strict=True):
            used = (COLUMNS[first], COLUMNS[second])
            items.append(f"{expression.format(*used)} as {name}")
            now[name] = {
                (leaf, composed(inner, outer))
                for column, outer in zip(used, EXPRESSIONS[expression], strict=True)
                if outer
                for leaf, inner in made[column]
            }
        ctes.append(f"l{depth} as (select {', '.join(items)} from {source})")
        made, source = now, f"l{depth}"
    return f"with {', '.join(ctes)} select * from {source}", made


@given(st.lists(layer, min_size=1, max_size=5), st.booleans())
def test_chain_of_layers(layers, closed):
    """Find what each column of a chain of selects is made of, whether or not the table's columns are known."""
    sql, expected = layered(layers)
    dialect = "snowflake" if closed else "postgres"  # in Snowflake an alias may hide a column that is not known
    relation = read(sql, dialect, Warehouse(closed))
    found = {
        column.name: {(leaf.column, usage.subtype) for leaf, usages in column.inputs.items() for usage in usages}
        for column in relation.columns.values()
    }
    assert found == expected


@given(st.permutations(COLUMNS), st.sets(st.sampled_from(COLUMNS), max_size=3))
def test_star_without_some(order, left_out):
    """Give exactly the columns that a star has not left out, in the order of the select beneath."""
    kept = [name for name in order if name not in left_out]
    clause = f" exclude ({', '.join(sorted(left_out))})" if left_out else ""
    sql = f"with s as (select {', '.join(order)} from t) select *{clause} from s"
    relation = read(sql, "duckdb", Warehouse(closed=False))
    assert [column.name for column in relation.columns.values()] == kept
