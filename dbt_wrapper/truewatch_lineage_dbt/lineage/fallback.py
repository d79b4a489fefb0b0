"""Column lineage by ``openlineage_sql``, as ``dbt-ol`` has it: where sqlglot is missing or can't read the SQL."""

from __future__ import annotations

from typing import Any, Protocol

from truewatch_lineage_dbt.lineage.sql.model import Column, Inputs, Leaf, Table


class _Tables(Protocol):
    def table(self, parts: tuple[str, ...]) -> Table: ...


def columns(sql: str, adapter_type: str | None, tables: _Tables) -> tuple[Column, ...]:
    """Return the columns that a query makes; none where this parser is missing or can't read it either.

    It knows no stars, no usages (so there are none), and nothing of what decides about the rows.
    """
    try:
        from openlineage_sql import parse  # noqa: PLC0415 - seldom needed, and not always there
    except ImportError:
        return ()
    parsed = parse([sql], dialect=adapter_type)
    if parsed is None or parsed.errors:
        return ()
    return tuple(
        Column(item.descendant.name, _inputs(item, tables)) for item in parsed.column_lineage if item.descendant.name
    )


def _inputs(item: Any, tables: _Tables) -> Inputs:
    found = Inputs()
    for column in item.lineage:
        if column.origin is not None:
            origin = column.origin
            parts = tuple(part for part in (origin.database, origin.schema, origin.name) if part)
            found[Leaf(tables.table(parts).dataset, column.name)] = frozenset()
    return found
