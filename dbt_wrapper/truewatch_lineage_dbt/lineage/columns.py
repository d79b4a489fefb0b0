"""The column lineage of a node: from its compiled SQL, with the columns of what it reads."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from truewatch_lineage_dbt.lineage import fallback, snapshots
from truewatch_lineage_dbt.lineage.datasets import Project, name_of
from truewatch_lineage_dbt.lineage.facts import Node
from truewatch_lineage_dbt.lineage.shapes import Shapes, UnlearntError, declared
from truewatch_lineage_dbt.lineage.sql.errors import UnreadableSqlError
from truewatch_lineage_dbt.lineage.sql.model import Column, Inputs, Relation, Shape, Table, fold, keyed

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Where a table's columns come from.

    Attributes:
        columns: In order; those whose name the database makes up are left out.
        influences: What decides about the rows.
        others: Tables that the SQL names and dbt knows not.
    """

    columns: tuple[Column, ...] = ()
    influences: Inputs = field(default_factory=Inputs)
    others: tuple[str, ...] = ()

    def without(self, dataset: str) -> ColumnLineage:
        """Return the same without a table: an incremental model looks at what it made before, which is no input."""
        columns = tuple(Column(column.name, _without(column.inputs, dataset)) for column in self.columns)
        return ColumnLineage(columns, _without(self.influences, dataset), self.others)


def _without(inputs: Inputs, dataset: str) -> Inputs:
    return Inputs((leaf, usages) for leaf, usages in inputs.items() if leaf.dataset != dataset)


class ColumnReader:
    """Reads the SQL of nodes; what it learns of their columns serves those which read them.

    A parse is a few milliseconds, so it is for a thread of its own, not for dbt's.
    """

    def __init__(self) -> None:
        self._shapes = Shapes()

    def shape(self, project: Project, node: Node) -> Shape:
        """Return what is known of a table's columns by now."""
        return self._shapes.peek(project, node)

    def read(self, project: Project, node: Node) -> ColumnLineage | None:
        """Return a node's column lineage, None where there is no SQL or it can't be read.

        Nodes that it depends on and whose columns it needs are read first; one after the other, so that no chain of
        models is too long.
        """
        if not node.sql:
            return None
        waiting, found = [node], None
        while waiting:
            try:
                found = self._read(project, waiting[-1])
            except UnlearntError as missing:
                parent = project.node(missing.unique_id)
                if parent is not None and all(parent.unique_id != other.unique_id for other in waiting):
                    waiting.append(parent)
                    continue
                self._shapes.learn(missing.unique_id, Shape())
                continue
            waiting.pop()
        return found

    def _read(self, project: Project, node: Node) -> ColumnLineage | None:
        tables = _Tables(project, node, self._shapes)
        relation, is_whole = _relation(project, node, tables)
        columns = _columns(relation, declared(project, node).names if relation.open else ())
        if node.kind == "snapshot" and columns:
            columns = snapshots.with_history(node, columns)
        names = tuple(column.name for column in columns if column.name)
        self._shapes.learn(node.unique_id, Shape(names, is_whole) if names else declared(project, node))
        lineage = ColumnLineage(columns, relation.influences, tuple(tables.others))
        return lineage.without(name_of(node.parts)) if columns or relation.influences else None


def _relation(project: Project, node: Node, tables: _Tables) -> tuple[Relation, bool]:
    """Return what a node's SQL makes, and whether that is all it makes."""
    sql, adapter_type = project.sql(node) or "", project.run.adapter_type
    try:
        relation = _parsed(sql, adapter_type, tables)
    except (UnreadableSqlError, RecursionError) as error:
        _LOG.debug("The columns of %s are not known: its SQL %s", node.unique_id, error)
        return Relation(keyed(fallback.columns(sql, adapter_type, tables))), False
    return relation, not relation.open


def _columns(relation: Relation, declared_names: tuple[str, ...]) -> tuple[Column, ...]:
    """Return the columns with a name, with those declared ones that can only come by a star over an unknown table."""
    found = {key: column for key, column in relation.columns.items() if column.name is not None}
    for name in declared_names:
        inputs = relation.find(name)
        if inputs is not None:
            found.setdefault(fold(name), Column(name, inputs))
    return tuple(found.values())


class _Tables:
    """The tables that a node's SQL may name: what it reads, and itself.

    Attributes:
        others: Names of those that dbt knows not, in order.
    """

    def __init__(self, project: Project, node: Node, shapes: Shapes) -> None:
        self._project = project
        self._node = node
        self._shapes = shapes
        self._known = [*project.inputs(node), node]
        self.others: dict[str, None] = {}

    def table(self, parts: tuple[str, ...]) -> Table:
        """Return a table by its name in SQL."""
        found = self._project.find(parts, self._known)
        if found is None:
            name = self._project.table_name(parts)
            self.others[name] = None
            return Table(name, Shape)
        return self._of(found)

    def call(self, text: str) -> Table | None:
        """Return the source that stands for a function's rows."""
        found = self._project.find_text(text, self._known)
        return self._of(found[0]) if len(found) == 1 else None

    def _of(self, found: Node) -> Table:
        if found is self._node:
            return Table(name_of(found.parts), lambda: self._shapes.peek(self._project, found))
        return Table(
            name_of(found.parts),
            lambda: self._shapes.of(self._project, found),
            lambda: self._shapes.peek(self._project, found),
        )


def _parsed(sql: str, adapter_type: str | None, tables: _Tables) -> Relation:
    try:
        from truewatch_lineage_dbt.lineage.sql import queries, tree  # noqa: PLC0415 - sqlglot takes a while to load

        return queries.read(sql, tree.dialect_of(adapter_type), tables)
    except ImportError as error:
        raise UnreadableSqlError("needs sqlglot to be read.") from error
    except (UnlearntError, UnreadableSqlError, RecursionError):
        raise
    except Exception as error:  # a parser stumbles over odd SQL in ways of its own, and the node's end has to be told
        raise UnreadableSqlError(f"trips the parser: {type(error).__name__}.") from error
