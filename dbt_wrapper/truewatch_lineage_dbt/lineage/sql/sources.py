"""What a query selects from: tables, subqueries, joins, functions that make rows."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.expressions import inputs_of
from truewatch_lineage_dbt.lineage.sql.model import (
    JOIN,
    TRANSFORMATION,
    Inputs,
    Relation,
    Source,
    fold,
)
from truewatch_lineage_dbt.lineage.sql.pivots import pivoted
from truewatch_lineage_dbt.lineage.sql.scope import Scope
from truewatch_lineage_dbt.lineage.sql.tree import QUERY, Tree, alias_columns, items


class Tables(Protocol):
    """Knows the tables of the warehouse."""

    def table(self, parts: tuple[str, ...]) -> Source:
        """Return the table of a name as SQL has it, ``("database", "schema", "table")`` or less."""

    def call(self, text: str) -> Source | None:
        """Return the table that stands for a function's rows, such as ``read_csv('a.csv')``; None where none does."""


def read_sources(clause: Tree, scope: Scope, tables: Tables) -> Inputs:
    """Put what FROM, a JOIN or a LATERAL VIEW names into sight, and return what that decides about the rows."""
    node = clause.this if isinstance(clause, (exp.From, exp.Join)) else clause
    before = list(scope.sources)
    source = _aliased(node, _source(node, scope, tables), scope)
    scope.add(_alias(node), source)
    influences = Inputs.of([source.influences])
    if isinstance(clause, exp.Join):
        influences.add(_join(clause, scope, before))
    for nested in (*items(node, "joins"), *items(node, "laterals")):
        influences.add(read_sources(nested, scope, tables))
    return influences


def _alias(node: Tree) -> str:
    """Return the name that a source is known by; a table's own where it has no alias."""
    return str(node.alias_or_name if isinstance(node, exp.Table) else node.alias)


def _source(node: Tree, scope: Scope, tables: Tables) -> Source:
    if isinstance(node, exp.Table):
        return _table(node, scope, tables)
    if isinstance(node, QUERY):
        return scope.reader.relation(node, scope)
    if isinstance(node, exp.Lateral) and isinstance(node.this, QUERY):
        return scope.reader.relation(node.this, scope)
    return Relation(catchall=inputs_of(node, scope, TRANSFORMATION))


def _table(node: Tree, scope: Scope, tables: Tables) -> Source:
    """Return a common table expression, a table, an array of a table in sight, or a function's rows."""
    if not isinstance(node.this, exp.Identifier):
        call = node if node.this is None else node.this
        known = tables.call(call.sql(scope.reader.dialect))
        return Relation(catchall=inputs_of(call, scope, TRANSFORMATION)) if known is None else known
    parts = tuple(str(part.name) for part in (node.args.get("catalog"), node.args.get("db"), node.this) if part)
    if len(parts) == 1 and fold(parts[0]) in scope.ctes:
        return scope.ctes[fold(parts[0])]
    if len(parts) > 1 and fold(parts[0]) in scope.sources:
        return Relation(catchall=Inputs.of([scope.column(list(parts))], TRANSFORMATION))
    return tables.table(parts)


def _aliased(node: Tree, source: Source, scope: Scope) -> Source:
    """Apply PIVOT and UNPIVOT, and the names of ``as t (a, b)``."""
    for pivot in items(node, "pivots"):
        source = pivoted(pivot, source, scope)
    names = alias_columns(node)
    if not names:
        return source
    if isinstance(source, Relation):
        return source.renamed(names)
    columns = list(source.known().values())
    return Relation({fold(column.name or ""): column for column in columns}, source.influences).renamed(names)


def _join(join: Tree, scope: Scope, before: list[str]) -> Inputs:
    """Return what a join's condition uses; the columns of USING become one, and a semi join's table goes again."""
    influences = Inputs()
    added = [key for key in scope.sources if key not in before]
    if join.args.get("on") is not None:
        influences.add(inputs_of(join.args["on"], scope, JOIN))
    for name in _shared(join, scope, before, added):
        influences.add(_merge(name, join.side, scope, before, added), JOIN)
    if join.kind in {"SEMI", "ANTI"}:
        for key in added:
            del scope.sources[key]
    return influences


def _shared(join: Tree, scope: Scope, before: list[str], added: list[str]) -> list[str]:
    """Return the columns that both sides give as one: those of USING, or all of a NATURAL join."""
    if join.method == "NATURAL":
        right = {key: column for name in added for key, column in scope.sources[name].known().items()}
        left = {key for name in before for key in scope.sources[name].known()}
        return [column.name for key, column in right.items() if key in left and column.name]
    return [str(item.name) for item in items(join, "using")]


def _merge(name: str, side: str, scope: Scope, before: list[str], added: list[str]) -> Inputs:
    """Make one column of two, whose value is the left's, in a right join the right's, in a full join either's."""
    left = scope.merged[fold(name)] if fold(name) in scope.merged else _of(name, scope, before)
    right = _of(name, scope, added)
    value = {"RIGHT": Inputs.of([right]), "FULL": Inputs.of([left, right], TRANSFORMATION)}
    scope.merged[fold(name)] = value.get(side, left)
    return Inputs.of([left, right])


def _of(name: str, scope: Scope, keys: list[str]) -> Inputs:
    """Return a column of some of the tables: where it is certain, else where it may be."""
    sources = [scope.sources[key] for key in keys]
    known = [source.known()[fold(name)].inputs for source in sources if fold(name) in source.known()]
    found = known or [inputs for inputs in (source.find(name) for source in sources) if inputs is not None]
    return found[0] if found else Inputs()
