"""The columns that dbt adds to a snapshot.

dbt's ``snapshot_staging_table`` macro fills them: ``updated_at`` becomes ``dbt_valid_from`` and ``dbt_updated_at``, a
later version's closes the one before it in ``dbt_valid_to``, and ``dbt_scd_id`` is a hash of the unique key and it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from truewatch_lineage_dbt.lineage.facts import Node
from truewatch_lineage_dbt.lineage.sql.model import IDENTITY, TRANSFORMATION, Column, Inputs, Usage, fold

_MASKED: Final = TRANSFORMATION._replace(masking=True)
_DELETED: Final = "dbt_is_deleted"


def with_history(node: Node, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return a snapshot's columns: those of its select, and those of its history.

    With the strategy ``check`` and no ``updated_at`` the times are the clock's, so they come from no column.
    """
    times, keys = _words(node.config.get("updated_at")), _words(node.config.get("unique_key"))
    made: dict[str, tuple[list[str], Usage]] = {
        "dbt_scd_id": ([*keys, *times], _MASKED),
        "dbt_updated_at": (times, IDENTITY),
        "dbt_valid_from": (times, IDENTITY),
        "dbt_valid_to": (times, TRANSFORMATION),
    }
    if node.config.get("hard_deletes") == "new_record":
        made[_DELETED] = ([], IDENTITY)
    sources = {fold(column.name or ""): column.inputs for column in columns}
    history = (Column(_named(node, name), _gathered(sources, names, usage)) for name, (names, usage) in made.items())
    return (*columns, *history)


def _words(expression: object) -> list[str]:
    """Return the names in a column, a list of columns or an expression."""
    return re.findall(r"\w+", " ".join(map(str, expression)) if isinstance(expression, list) else str(expression or ""))


def _gathered(sources: Mapping[str, Inputs], names: list[str], usage: Usage) -> Inputs:
    return Inputs.of((sources.get(fold(name), Inputs()) for name in names), usage)


def _named(node: Node, name: str) -> str:
    """Return what a project calls a column of the history, by ``snapshot_meta_column_names`` (dbt 1.9)."""
    names = node.config.get("snapshot_meta_column_names")
    return str(names.get(name) or name) if isinstance(names, Mapping) else name
