"""What a select's columns are: expressions with names, and stars."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.expressions import inputs_of
from truewatch_lineage_dbt.lineage.sql.model import Column, Relation, fold, keyed
from truewatch_lineage_dbt.lineage.sql.scope import Scope
from truewatch_lineage_dbt.lineage.sql.tree import COLUMNS, Tree, items

_NAMED_CASTS: Final = frozenset({"databricks", "hive", "postgres", "redshift", "spark"})
"""Dialects in which ``x::int`` is still called x."""


def project(query: Tree, scope: Scope) -> Relation:
    """Return the columns of a select; where the dialect allows it, each sees the names of those before it."""
    columns: list[Column] = []
    groups: list[tuple[str, ...]] = []
    hidden: frozenset[str] = frozenset()
    for node in query.expressions:
        made = _made(node, scope)
        columns += made.columns.values()
        groups += made.open
        hidden |= made.hidden
        if scope.reader.aliases_everywhere:
            scope.name(made)
    return Relation(keyed(columns), open=tuple(groups), hidden=hidden)


def _made(node: Tree, scope: Scope) -> Relation:
    """Return what one item of the list makes: a column, or several."""
    if isinstance(node, exp.Star):
        return _star(node, scope.star(), scope)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return _star(node.this, scope.star(node.table), scope)
    if isinstance(node, exp.Aliases):
        inputs = inputs_of(node.this, scope)
        return Relation(keyed(Column(alias.name, inputs) for alias in node.expressions))
    pattern = next(iter(node.find_all(COLUMNS)), None) if COLUMNS is not exp.Star else None
    if pattern is not None:
        return _matching(node, pattern, scope)
    return Relation(keyed([Column(_name(node, scope.reader.dialect), inputs_of(node, scope))]))


def _name(node: Tree, dialect: str | None) -> str | None:
    """Return the column's name: its alias, its own, or a field's; None where the database makes one up."""
    if isinstance(node, exp.Cast) and dialect in _NAMED_CASTS:
        return _name(node.this, dialect)
    if isinstance(node, exp.Dot):
        return str(node.expression.name) or None
    return str(node.alias_or_name) or None if isinstance(node, (exp.Alias, exp.Column, exp.Identifier)) else None


def _star(star: Tree, relation: Relation, scope: Scope) -> Relation:
    """Apply EXCLUDE (or EXCEPT), REPLACE and RENAME."""
    hidden = {fold(item.name) for item in items(star, "except")}
    replaced = {fold(item.alias): inputs_of(item, scope) for item in items(star, "replace")}
    renamed = {fold(item.this.name): str(item.alias) for item in items(star, "rename")}
    columns = {}
    for key, column in relation.columns.items():
        if key not in hidden:
            name = renamed.get(key, column.name)
            columns[key if name is None else fold(name)] = Column(name, replaced.get(key, column.inputs))
    for old, new in renamed.items():
        inputs = relation.find(old)
        if fold(new) not in columns and inputs is not None:
            columns[fold(new)] = Column(new, inputs)
    return Relation(columns, open=relation.open, hidden=relation.hidden | hidden | set(renamed))


def _matching(node: Tree, pattern: Tree, scope: Scope) -> Relation:
    """Return the columns of DuckDB's ``columns('pattern')`` and ``f(columns(*))``: the item, with each in its place."""
    matcher = re.compile(pattern.this.name if isinstance(pattern.this, exp.Literal) else "", re.IGNORECASE)
    names = [column.name for column in scope.star().columns.values() if column.name and matcher.search(column.name)]
    return Relation(keyed(Column(name, inputs_of(_with(node, name), scope)) for name in names))


def _with(node: Tree, name: str) -> Tree:
    """Return an item of the list with a column instead of its pattern."""
    column = exp.column(name)
    return node.transform(lambda part: column if isinstance(part, COLUMNS) else part)
