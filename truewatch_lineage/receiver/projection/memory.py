"""Projection of many events: those of one job mostly repeat its schemas and column lineage, which are made once."""

from __future__ import annotations

from typing import Final

from truewatch_lineage.receiver.projection.records import Projection, Record, facet_records, project
from truewatch_lineage.receiver.projection.values import Tree

MAX_REMEMBERED: Final = 20_000
"""Records in memory, all events together; then all are forgotten."""

_MAX_OF_ONE: Final = 1000


class Projector:
    """Projects, and remembers what facets gave."""

    def __init__(self) -> None:
        self._records: dict[int, list[Record]] = {}
        self._count = 0

    def project(self, tree: Tree, event_id: str, shape: int) -> Projection:
        """Project an event.

        Args:
            tree: The event.
            event_id: Its id.
            shape: A number that two events share only if their datasets' schemas and column lineage are the same.
        """
        known = self._records.get(shape)
        projection = project(tree, event_id, known)
        if known is None and len(projection.records) <= _MAX_OF_ONE:
            self._remember(shape, tree)
        return projection

    def _remember(self, shape: int, tree: Tree) -> None:
        if self._count > MAX_REMEMBERED:
            self._records.clear()
            self._count = 0
        self._records[shape] = list(facet_records(tree))
        self._count += 1 + len(self._records[shape])
