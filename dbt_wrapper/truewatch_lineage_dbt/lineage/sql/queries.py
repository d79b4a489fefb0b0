"""Reads a query: common table expressions, set operations, selects and what decides about their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.expressions import inputs_of, is_aggregated
from truewatch_lineage_dbt.lineage.sql.model import (
    FILTER,
    GROUP_BY,
    NOTHING,
    SORT,
    Inputs,
    Leaf,
    Relation,
    Usage,
    fold,
)
from truewatch_lineage_dbt.lineage.sql.projections import project
from truewatch_lineage_dbt.lineage.sql.scope import Scope
from truewatch_lineage_dbt.lineage.sql.sources import Tables, read_sources
from truewatch_lineage_dbt.lineage.sql.tree import QUERY, SET_OPERATION, Tree, alias_columns, arg, items, parse
from truewatch_lineage_dbt.lineage.sql.unions import unite

_ALIASES_EVERYWHERE: Final = frozenset(
    {"clickhouse", "databricks", "duckdb", "redshift", "snowflake", "spark", "teradata"}
)
_ROUNDS: Final = 2
"""How often a recursive part is read again; each time its columns may reach one step further."""


def read(sql: str, dialect: str | None, tables: Tables) -> Relation:
    """Return what a query makes.

    Raises:
        UnreadableSqlError: It does not parse, or is not one query.
        RecursionError: It is nested too deep.
    """
    query = parse(sql, dialect)
    reader = QueryReader(tables, dialect)
    return reader.relation(query, Scope(reader, {}))


class QueryReader:
    """Reads queries, with those within them.

    Attributes:
        tables: The tables of the warehouse.
        dialect: sqlglot's name of the dialect, or None.
        aliases_everywhere: As in ``scope.Reader``.
    """

    def __init__(self, tables: Tables, dialect: str | None) -> None:
        self.tables = tables
        self.dialect = dialect
        self.aliases_everywhere = dialect in _ALIASES_EVERYWHERE

    def relation(self, query: Tree, scope: Scope) -> Relation:
        """Return what a query makes, where it stands in a scope."""
        scope = scope.inner()
        self._define(query, scope)
        if isinstance(query, exp.Subquery):
            return self._subquery(query, scope)
        if isinstance(query, SET_OPERATION):
            return self._set_operation(query, scope)
        return self._select(query, scope) if isinstance(query, exp.Select) else Relation(catchall=NOTHING)

    def _define(self, query: Tree, scope: Scope) -> None:
        """Put a query's common table expressions into sight; ClickHouse has plain expressions there too."""
        clause = arg(query, "with")
        is_recursive = clause is not None and bool(clause.args.get("recursive"))
        for cte in items(clause, "expressions"):
            key, names = fold(cte.alias), alias_columns(cte)
            if not isinstance(cte.this, QUERY):
                scope.aliases[key] = inputs_of(cte.this, scope)
                continue
            if is_recursive:
                self._recur(cte.this, key, names, scope)
            scope.ctes[key] = self.relation(cte.this, scope).renamed(names)

    def _recur(self, query: Tree, key: str, names: list[str], scope: Scope) -> None:
        """Put what a recursive query begins with into its own sight, then what comes of that."""
        first = query
        while isinstance(first, SET_OPERATION):
            first = first.this
        scope.ctes[key] = self.relation(first, scope).renamed(names)
        for _ in range(_ROUNDS):
            scope.ctes[key] = self.relation(query, scope).renamed(names)

    def _subquery(self, query: Tree, scope: Scope) -> Relation:
        """Read ``(select …) order by x``; ``(a join b on …)`` makes all that both have."""
        if not isinstance(query.this, exp.Table):
            inner = self.relation(query.this, scope)
            scope.add("", inner)
            return self._sorted(query, scope, inner)
        influences = read_sources(query.this, scope, self.tables)
        relation = scope.star()
        relation.influences.add(influences)
        return relation

    def _set_operation(self, query: Tree, scope: Scope) -> Relation:
        """Read ``a union b union c`` without a step deeper for each."""
        chain = []
        left = query
        while isinstance(left, SET_OPERATION):
            if left is not query:
                self._define(left, scope)
            chain.append(left)
            left = left.this
        relation = self.relation(left, scope)
        for operation in reversed(chain):
            relation = unite(operation, relation, self.relation(operation.expression, scope))
        return self._sorted(query, scope, relation)

    def _select(self, query: Tree, scope: Scope) -> Relation:
        influences = Inputs()
        for clause in (arg(query, "from"), *items(query, "joins"), *items(query, "laterals")):
            if clause is not None:
                influences.add(read_sources(clause, scope, self.tables))
        scope.windows = {window.name: window for window in items(query, "windows")}
        relation = project(query, scope)
        relation.influences = influences
        self._filter(query, scope, influences, "where", "prewhere")
        scope.name(relation)
        self._filter(query, scope, influences, "having", "qualify")
        self._distinct(query, scope, influences)
        self._group(query, scope, relation)
        return self._sorted(query, scope, relation)

    def _filter(self, query: Tree, scope: Scope, influences: Inputs, *clauses: str) -> None:
        for name in clauses:
            if query.args.get(name) is not None:
                influences.add(inputs_of(query.args[name].this, scope, FILTER))

    def _distinct(self, query: Tree, scope: Scope, influences: Inputs) -> None:
        distinct = query.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            influences.add(inputs_of(distinct.args["on"], scope, FILTER))

    def _group(self, query: Tree, scope: Scope, relation: Relation) -> None:
        group = query.args.get("group")
        if group is None:
            return
        if group.args.get("all"):
            keys = [
                column.inputs
                for node, column in zip(query.expressions, relation.columns.values(), strict=False)
                if not is_aggregated(node)
            ]
            relation.influences.add(Inputs.of(keys, GROUP_BY))
        else:
            _influence(group, scope, relation, GROUP_BY)

    def _sorted(self, query: Tree, scope: Scope, relation: Relation) -> Relation:
        for name in ("order", "sort", "cluster"):
            if query.args.get(name) is not None:
                scope.name(relation)
                _influence(query.args[name], scope, relation, SORT)
        return relation


def _influence(clause: Tree, scope: Scope, relation: Relation, usage: Usage) -> None:
    """Take in the keys of GROUP BY or ORDER BY; a number is the place of a column of the result."""
    for key in _keys(clause):
        place = key.this if isinstance(key, exp.Ordered) else key
        if isinstance(place, exp.Literal) and not place.is_string:
            found = _at(relation, place.name)
            relation.influences.add(Inputs.of([found], usage))
        else:
            relation.influences.add(inputs_of(key, scope, usage, aliases_first=usage is SORT))


def _keys(clause: Tree) -> Iterable[Tree]:
    """Yield the keys, those of GROUPING SETS, ROLLUP and CUBE as they stand in any version's tree."""
    for value in clause.args.values():
        if isinstance(value, list):
            yield from value


def _at(relation: Relation, place: str) -> Mapping[Leaf, frozenset[Usage]]:
    columns = list(relation.columns.values())
    number = int(place) if place.isdigit() else 0
    return columns[number - 1].inputs if 0 < number <= len(columns) else NOTHING
