"""PIVOT and UNPIVOT: columns that come from values, and the other way round."""

from __future__ import annotations

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.expressions import inputs_of
from truewatch_lineage_dbt.lineage.sql.model import (
    CONDITIONAL,
    TRANSFORMATION,
    Column,
    Inputs,
    Relation,
    Source,
    fold,
    keyed,
)
from truewatch_lineage_dbt.lineage.sql.scope import Scope
from truewatch_lineage_dbt.lineage.sql.tree import Tree, items


def pivoted(pivot: Tree, source: Source, scope: Scope) -> Relation:
    """Return what a table becomes.

    A column that PIVOT makes is an aggregate, and the values of the FOR column decide which rows go into it; the
    other columns stay as they are. UNPIVOT makes a column of values, and one of names, which comes from no column.
    """
    inside = Scope(scope.reader, {})
    inside.add("", source)
    make = _unpivot if pivot.args.get("unpivot") else _pivot
    used, made = make(pivot, inside)
    kept = [column for key, column in source.known().items() if key not in used]
    return Relation(keyed([*kept, *made]), source.influences, source.open, source.hidden | used)


def _pivot(pivot: Tree, inside: Scope) -> tuple[set[str], list[Column]]:
    inputs = Inputs.of(inputs_of(aggregate, inside) for aggregate in pivot.expressions)
    used = {name for aggregate in pivot.expressions for name in _names(aggregate)}
    for field in _fields(pivot):
        inputs.add(inputs_of(field.this, inside, CONDITIONAL))
        used |= _names(field.this)
    return used, [Column(str(column.name), inputs) for column in items(pivot, "columns")]


def _unpivot(pivot: Tree, inside: Scope) -> tuple[set[str], list[Column]]:
    used: set[str] = set()
    values, names = Inputs(), []
    for field in _fields(pivot):
        names.append(Column(str(field.this.name), Inputs()))
        for item in field.expressions:
            values.add(inputs_of(item, inside, TRANSFORMATION))
            used |= _names(item)
    return used, [*names, *(Column(str(value.name), values) for value in pivot.expressions)]


def _fields(pivot: Tree) -> list[Tree]:
    """Return the FOR … IN parts; versions before 26 had room for one."""
    single = pivot.args.get("field")
    return items(pivot, "fields") or ([single] if single is not None else [])


def _names(node: Tree) -> set[str]:
    return {fold(column.name) for column in node.find_all(exp.Column)}
