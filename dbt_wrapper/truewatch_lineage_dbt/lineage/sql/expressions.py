"""What an expression is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from truewatch_lineage_dbt.lineage.sql.model import (
    AGGREGATION,
    CONDITIONAL,
    IDENTITY,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Inputs,
    Usage,
    combine,
)
from truewatch_lineage_dbt.lineage.sql.scope import Scope
from truewatch_lineage_dbt.lineage.sql.tree import QUERY, Tree, arg, children, items

_MASKS: Final = frozenset({"Count", "CountIf", "ApproxDistinct", "MD5", "MD5Digest", "SHA", "SHA1Digest"})
_MASKS_TOO: Final = frozenset({"SHA2", "SHA2Digest", "FarmFingerprint", "MD5NumberLower64", "MD5NumberUpper64"})
_HASHES: Final = frozenset({"hash", "sha1", "sha256", "sha512", "xxhash64", "murmur3_hash", "hashbytes", "crc32"})
_ROW_VALUES: Final = frozenset({"Lag", "Lead", "FirstValue", "LastValue", "NthValue"})
"""Window functions that sqlglot counts among the aggregates, though they give one row's value."""

_AGGREGATES: Final = frozenset({"listagg", "string_agg", "median", "mode", "bool_and", "bool_or", "every", "product"})
_TRANSPARENT: Final = (exp.Alias, exp.Paren)
_VALUE_ORDERED: Final = ("PercentileCont", "PercentileDisc", "Mode")


def inputs_of(node: Tree, scope: Scope, usage: Usage = IDENTITY, *, aliases_first: bool = False) -> Inputs:
    """Return the columns that an expression is made of, as seen through a usage."""
    found = Inputs()
    _Walk(scope, found, aliases_first).visit(node, usage)
    return found


def is_aggregated(node: Tree) -> bool:
    """Tell whether an expression aggregates, other than over a window."""
    if isinstance(node, exp.Window):
        return any(is_aggregated(child) for child in children(node.this)) if node.this is not None else False
    if isinstance(node, QUERY):
        return False
    return _usage(node).subtype == AGGREGATION.subtype or any(is_aggregated(child) for child in children(node))


class _Walk:
    def __init__(self, scope: Scope, found: Inputs, aliases_first: bool) -> None:
        self.scope = scope
        self.found = found
        self.aliases_first = aliases_first

    def visit(self, node: Tree, usage: Usage) -> None:
        """Take in what a part of the expression uses."""
        if isinstance(node, exp.Column):
            self._column(node, usage)
        elif isinstance(node, QUERY):
            self._query(node, usage)
        elif isinstance(node, _TRANSPARENT):
            self.visit(node.this, usage)
        elif isinstance(node, exp.Exists) and isinstance(node.this, QUERY):
            self.found.add(self.scope.reader.relation(node.this, self.scope).influences, combine(TRANSFORMATION, usage))
        elif isinstance(node, exp.Window) and node.alias in self.scope.windows:
            self.visit(self.scope.windows[node.alias], combine(WINDOW, usage))
            self.visit(node.this, usage)
        else:
            for child, seen in _uses(node):
                self.visit(child, combine(seen, usage))

    def _column(self, node: Tree, usage: Usage) -> None:
        if isinstance(node.this, exp.Star):
            return
        path = [part.name for part in (arg(node, key) for key in ("catalog", "db", "table", "this")) if part]
        self.found.add(self.scope.column(path, aliases_first=self.aliases_first), usage)

    def _query(self, node: Tree, usage: Usage) -> None:
        """Take in a subquery: its columns are the value; what decides about its rows decides about the value."""
        relation = self.scope.reader.relation(node, self.scope)
        for column in relation.columns.values():
            self.found.add(column.inputs, usage)
        self.found.add(relation.influences, usage)


def _uses(node: Tree) -> Iterator[tuple[Tree, Usage]]:
    """Yield the parts of an expression and how each is used in it."""
    if isinstance(node, exp.Case):
        yield from _case(node)
    elif isinstance(node, exp.If):
        yield from ((part, CONDITIONAL if part is node.this else TRANSFORMATION) for part in children(node))
    elif isinstance(node, exp.Window):
        yield from ((part, IDENTITY if part is node.this else WINDOW) for part in children(node))
    elif isinstance(node, exp.Filter):
        yield from ((part, IDENTITY if part is node.this else CONDITIONAL) for part in children(node))
    elif isinstance(node, exp.WithinGroup):
        yield from _within_group(node)
    elif isinstance(node, exp.Order):
        yield from ((part, IDENTITY if part is node.this else SORT) for part in children(node))
    else:
        usage = _usage(node)
        yield from ((part, usage) for part in children(node))


def _case(node: Tree) -> Iterator[tuple[Tree, Usage]]:
    if node.this is not None:
        yield node.this, CONDITIONAL
    for branch in items(node, "ifs"):
        yield branch.this, CONDITIONAL
        yield branch.args["true"], TRANSFORMATION
    if node.args.get("default") is not None:
        yield node.args["default"], TRANSFORMATION


def _within_group(node: Tree) -> Iterator[tuple[Tree, Usage]]:
    """Yield the parts of ``percentile_cont(0.5) within group (order by x)``, whose value is x, or of a listagg's."""
    is_value = type(node.this).__name__ in _VALUE_ORDERED
    yield node.this, IDENTITY
    yield from ((part, AGGREGATION if is_value else SORT) for part in items(node.expression, "expressions"))


def _usage(node: Tree) -> Usage:
    kind = type(node).__name__
    masking = kind in _MASKS or kind in _MASKS_TOO or (kind == "Anonymous" and node.name.lower() in _HASHES)
    is_aggregate = isinstance(node, exp.AggFunc) or (kind == "Anonymous" and node.name.lower() in _AGGREGATES)
    usage = AGGREGATION if is_aggregate and kind not in _ROW_VALUES else TRANSFORMATION
    return usage._replace(masking=True) if masking else usage
