"""The one seam to sqlglot: its versions from 20 on name some arguments and classes differently."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from truewatch_lineage_dbt.lineage.sql.errors import UnreadableSqlError

Tree: TypeAlias = Any
"""A node of sqlglot's tree; no one base class holds for all versions."""

_NODE: Final = getattr(exp, "Expr", exp.Expression)
SET_OPERATION: Final = getattr(exp, "SetOperation", exp.Union)
QUERY: Final = (exp.Select, SET_OPERATION, exp.Subquery)
COLUMNS: Final = getattr(exp, "Columns", exp.Star)

_MAX_CHARACTERS: Final = 300_000
"""What sqlglot reads in about a second; longer texts are data written as SQL."""

_EMPTY: Final = frozenset({"NoneType", "Semicolon"})
_DIALECTS: Final = {
    "athena": ("athena", "trino"),
    "fabric": ("fabric", "tsql"),
    "glue": ("spark",),
    "greenplum": ("postgres",),
    "impala": ("hive",),
    "materialize": ("materialize", "postgres"),
    "netezza": ("postgres",),
    "risingwave": ("risingwave", "postgres"),
    "singlestore": ("singlestore", "mysql"),
    "sqlserver": ("tsql",),
    "synapse": ("tsql",),
    "vertica": ("postgres",),
    "watsonx_presto": ("presto",),
    "watsonx_spark": ("spark",),
}

logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def dialect_of(adapter_type: str | None) -> str | None:
    """Return sqlglot's dialect for a dbt adapter; None, the general one, where this version has none for it."""
    for name in _DIALECTS.get(adapter_type or "", (adapter_type or "",)):
        if name and sqlglot.Dialect.get(name):
            return name
    return None


def parse(sql: str, dialect: str | None) -> Tree:
    """Parse one query.

    Raises:
        UnreadableSqlError: The text does not parse, is not one query, or is too long.
    """
    if len(sql) > _MAX_CHARACTERS:
        raise UnreadableSqlError(f"is longer than {_MAX_CHARACTERS} characters.")
    try:
        statements = [found for found in sqlglot.parse(sql, read=dialect) if type(found).__name__ not in _EMPTY]
    except (SqlglotError, RecursionError) as error:
        raise UnreadableSqlError(f"does not parse: {_first_line(error)}") from error
    if len(statements) != 1 or not isinstance(statements[0], QUERY):
        raise UnreadableSqlError("is not one query.")
    return statements[0]


def arg(node: Tree, name: str) -> Any:
    """Return an argument; those called as Python's keywords got an underscore in version 28."""
    found = node.args.get(name)
    return node.args.get(f"{name}_") if found is None else found


def items(node: Tree, name: str) -> list[Any]:
    """Return an argument that is a list; empty where there is no node or no such argument."""
    found = arg(node, name) if node is not None else None
    return found if isinstance(found, list) else []


def children(node: Tree) -> Iterator[Tree]:
    """Yield a node's own arguments that are expressions."""
    for value in node.args.values():
        if isinstance(value, _NODE):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, _NODE))


def alias_columns(node: Tree) -> list[str]:
    """Return the columns of an alias with columns: ``as t (a, b)``."""
    alias = node.args.get("alias")
    return [column.name for column in items(alias, "columns")] if isinstance(alias, exp.TableAlias) else []


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
