"""What two queries make together: UNION, INTERSECT, EXCEPT."""

from __future__ import annotations

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.model import FILTER, Column, Inputs, Relation, keyed
from truewatch_lineage_dbt.lineage.sql.tree import Tree


def unite(operation: Tree, left: Relation, right: Relation) -> Relation:
    """Return the result of a set operation; its columns have the left query's names.

    Rows of an INTERSECT and EXCEPT are the left's: the right decides which.
    """
    if isinstance(operation, (exp.Intersect, exp.Except)):
        filtered = Inputs.of((column.inputs for column in right.columns.values()), FILTER)
        return _with(left, left.columns, [left.influences, right.influences, filtered])
    by_name = bool(operation.args.get("by_name")) or bool(left.open) or bool(right.open)
    columns = _by_name(left, right) if by_name else _by_place(left, right)
    relation = _with(left, columns, [left.influences, right.influences])
    relation.open = _both(left, right)
    relation.hidden = left.hidden | right.hidden
    return relation


def _with(left: Relation, columns: dict[str, Column], influences: list[Inputs]) -> Relation:
    return Relation(columns, Inputs.of(influences), left.open, left.hidden, left.catchall)


def _by_place(left: Relation, right: Relation) -> dict[str, Column]:
    others = list(right.columns.values())
    return keyed(
        Column(
            column.name, Inputs.of([column.inputs, others[place].inputs] if place < len(others) else [column.inputs])
        )
        for place, column in enumerate(left.columns.values())
    )


def _by_name(left: Relation, right: Relation) -> dict[str, Column]:
    """Match by name: as asked for, or because a star over an unknown table leaves the places unknown."""
    columns = {}
    for key, column in {**right.columns, **left.columns}.items():
        name = column.name if column.name is not None else key
        parts = [part for part in (left.find(name), right.find(name)) if part is not None]
        columns[key] = Column(column.name, Inputs.of(parts or [column.inputs]))
    first = [key for key in left.columns if key in columns]
    return {key: columns[key] for key in [*first, *(key for key in columns if key not in left.columns)]}


def _both(left: Relation, right: Relation) -> tuple[tuple[str, ...], ...]:
    """Return the tables behind both: of a name, each gives a column."""
    if len(left.open) == 1 and len(right.open) == 1:
        return (tuple(dict.fromkeys(left.open[0] + right.open[0])),)
    return left.open + right.open
