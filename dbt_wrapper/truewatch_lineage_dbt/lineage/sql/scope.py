"""Which column a name means, at a place in a query."""

from __future__ import annotations

from typing import Protocol

from truewatch_lineage_dbt.lineage.sql.model import (
    NOTHING,
    TRANSFORMATION,
    Column,
    Inputs,
    Relation,
    Source,
    fold,
)
from truewatch_lineage_dbt.lineage.sql.tree import Tree


class Reader(Protocol):
    """Reads queries within queries."""

    dialect: str | None
    """sqlglot's name of the dialect; None is the general one."""

    aliases_everywhere: bool
    """Whether the dialect lets a select's own aliases be used in its other columns and in WHERE."""

    def relation(self, query: Tree, scope: Scope) -> Relation:
        """Return what a query makes."""


class Scope:
    """The tables and aliases that a select sees.

    Attributes:
        reader: For the queries within.
        ctes: The common table expressions in sight, by folded name.
        outer: The scope that a subquery stands in, or None.
        sources: What is selected from, by folded alias, in order.
        merged: Columns that USING or NATURAL made one of, by folded name.
        aliases: The select's own columns so far, by folded name.
        windows: The select's named windows.
    """

    def __init__(self, reader: Reader, ctes: dict[str, Source], outer: Scope | None = None) -> None:
        self.reader = reader
        self.ctes = ctes
        self.outer = outer
        self.sources: dict[str, Source] = {}
        self.merged: dict[str, Inputs] = {}
        self.aliases: dict[str, Inputs] = {}
        self.windows: dict[str, Tree] = {}
        self._taken: set[str] = set()  # a table has these: they were used before any alias had the name

    def inner(self) -> Scope:
        """Return the scope of a query that stands in this one."""
        return Scope(self.reader, dict(self.ctes), self)

    def add(self, alias: str, source: Source) -> None:
        """Put a table into sight; one without a name can still be selected from."""
        self.sources[fold(alias) if alias else f"\0{len(self.sources)}"] = source

    def name(self, made: Relation) -> None:
        """Let a select's own columns be used by name."""
        self.aliases.update((key, column.inputs) for key, column in made.columns.items())

    def column(self, path: list[str], *, aliases_first: bool = False) -> Inputs:
        """Return what a column is made of; nothing where that can't be told.

        Args:
            path: Its name, with what stands before it: ``["t", "a"]`` for ``t.a``.
            aliases_first: As in ORDER BY.
        """
        if len(path) > 1:
            found = self.qualified(path)
            return self._field(path) if found is None else found
        found = self.plain(path[0], aliases_first)
        return self._hidden(path[0]) if found is None else found

    def qualified(self, path: list[str]) -> Inputs | None:
        """Find ``t.a`` and ``schema.t.a``, here or around; ``t.a.field`` is made of ``t.a``."""
        is_named = False
        for place in range(len(path) - 2, -1, -1):
            source = self.sources.get(fold(path[place]))
            is_named |= source is not None
            found = None if source is None else source.find(path[place + 1])
            if found is not None:
                return Inputs.of([found], TRANSFORMATION) if place + 2 < len(path) else found
        if is_named:
            return NOTHING
        return None if self.outer is None else self.outer.qualified(path)

    def _field(self, path: list[str]) -> Inputs:
        """Find a field of a structured column: ``a.field``."""
        return Inputs.of([self.column(path[:1])], TRANSFORMATION)

    def plain(self, name: str, aliases_first: bool = False) -> Inputs | None:
        """Find a column by its name alone, here or around."""
        key = fold(name)
        if aliases_first and key in self.aliases:
            return self.aliases[key]
        if key in self.merged:
            return self.merged[key]
        for source in self.sources.values():
            if key in source.known():
                return source.known()[key].inputs
        if key in self.aliases and key not in self._taken:
            return self.aliases[key]
        found = self._uncertain(name)
        if found is not None:
            self._taken.add(key)
        found = self._row(key) if found is None else found
        return self.outer.plain(name) if found is None and self.outer is not None else found

    def _uncertain(self, name: str) -> Inputs | None:
        """Find a column that only one source can have: one of unknown columns, or else a function that makes rows."""
        closed = [source for source in self.sources.values() if isinstance(source, Relation) and not source.open]
        for some in ([source for source in self.sources.values() if source.open], closed):
            found = [inputs for inputs in (source.find(name) for source in some) if inputs is not None]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _hidden(self, name: str) -> Inputs:
        """Find a column that a table has beside those it shows, such as BigQuery's ``_PARTITIONTIME``."""
        found = [source.find(name) for source in self.sources.values()]
        return found[0] if len(found) == 1 and found[0] is not None else NOTHING

    def _row(self, key: str) -> Inputs | None:
        """Find a whole row: ``to_json(t)``."""
        source = self.sources.get(key)
        if source is None:
            return None
        return Inputs.of((column.inputs for column in source.known().values()), TRANSFORMATION)

    def star(self, alias: str | None = None) -> Relation:
        """Return the columns of ``*``, or of ``t.*``, in order."""
        if alias is not None:
            source = self.sources.get(fold(alias))
            return Relation() if source is None else _opened([source], dict(source.known()))
        columns: dict[str, Column] = {}
        for source in self.sources.values():
            for key, column in source.known().items():
                if key in columns and key in self.merged:
                    continue
                inputs = self.merged.get(key, column.inputs)
                if key in columns:
                    columns[f"\0{len(columns)}"] = Column(None, inputs)
                else:
                    columns[key] = Column(column.name, inputs)
        return _opened(list(self.sources.values()), columns)


def _opened(sources: list[Source], columns: dict[str, Column]) -> Relation:
    groups = tuple(group for source in sources for group in source.open)
    hidden = frozenset().union(*(source.hidden for source in sources))
    return Relation(columns, open=groups, hidden=hidden)
