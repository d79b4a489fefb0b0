"""Which columns a table has: by its own SQL, its CSV file, the catalog, or its documentation."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from truewatch_lineage_dbt.lineage.datasets import Project
from truewatch_lineage_dbt.lineage.facts import Node
from truewatch_lineage_dbt.lineage.sql.model import Shape


class UnlearntError(Exception):
    """A table's columns follow from SQL that has not been read yet.

    Args:
        unique_id: Of the node whose SQL to read first.
    """

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self.unique_id = unique_id


class Shapes:
    """Remembers the columns of each node; names only, so that a thousand models need little memory."""

    def __init__(self) -> None:
        self._learnt: dict[str, Shape] = {}

    def learn(self, unique_id: str, shape: Shape) -> None:
        """Remember what a node's SQL makes."""
        self._learnt[unique_id] = shape

    def peek(self, project: Project, node: Node) -> Shape:
        """Return what can be known without reading more SQL."""
        learnt = self._learnt.get(node.unique_id)
        return declared(project, node) if learnt is None else learnt

    def of(self, project: Project, node: Node) -> Shape:
        """Return a table's columns.

        Raises:
            UnlearntError: They follow from the node's SQL, which has to be read first.
        """
        learnt = self._learnt.get(node.unique_id)
        if learnt is not None:
            return learnt
        if node.kind in {"model", "snapshot"} and project.sql(node):
            raise UnlearntError(node.unique_id)
        shape = declared(project, node)
        self._learnt[node.unique_id] = shape
        return shape


def declared(project: Project, node: Node) -> Shape:
    """Return the columns that are written down: in the catalog, in a seed's file, or in the documentation.

    Only a seed's file is sure to name them all.
    """
    for read in _READERS:
        names = read(project, node)
        if names:
            return Shape(names, closed=read is _seed_columns)
    return Shape()


def _catalog_columns(project: Project, node: Node) -> tuple[str, ...]:
    return tuple(project.catalog_columns(node))


def _documented_columns(_: Project, node: Node) -> tuple[str, ...]:
    return tuple(str(column.get("name", name)) for name, column in node.columns.items())


def _seed_columns(_: Project, node: Node) -> tuple[str, ...]:
    """Return the header of a seed's file; nothing where it is not at hand."""
    root, path = node.raw.get("root_path"), node.raw.get("original_file_path")
    if node.kind != "seed" or not root or not path:
        return ()
    try:
        with (Path(str(root)) / str(path)).open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines, delimiter=str(node.config.get("delimiter") or ",")), [])
    except (OSError, ValueError, csv.Error, TypeError):
        return ()
    return tuple(name.strip() for name in header)


_READERS: tuple[Callable[[Project, Node], tuple[str, ...]], ...] = (
    _seed_columns,
    _catalog_columns,
    _documented_columns,
)
