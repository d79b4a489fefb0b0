"""The graph's tables, written so that an event which says nothing new costs nothing."""

from __future__ import annotations

import sqlite3
from typing import Final

from truewatch_lineage.receiver.ids import NodeKey
from truewatch_lineage.receiver.lineage import Delta, Edge, Node, delta
from truewatch_lineage.receiver.projection import Projection
from truewatch_lineage.receiver.projection.values import Tree

TOUCH_EVERY: Final = 10_000
"""An event's nodes and edges are marked as seen at least once in so many events; retention allows for that lag."""

_MOST_SHAPES: Final = 20_000
_MOST_NODES: Final = 50_000
_FIND: Final = "SELECT node FROM nodes WHERE type = ? AND namespace = ? AND name = ? AND field = ?"
_ADD: Final = (
    "INSERT INTO nodes (type, namespace, name, field, ref, parent, info, touched) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
# A dataset's info is {} once its columns are known, else {"reason": …}: the greater text knows more.
_TOUCH: Final = (
    "UPDATE nodes SET touched = ?1, info = CASE WHEN type = 'dataset' THEN MAX(info, ?2) "
    "WHEN ?2 = '{}' THEN info ELSE ?2 END WHERE node = ?3"
)
_ADD_EDGE: Final = (
    "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET info = excluded.info, touched = excluded.touched"
)


class GraphWriter:
    """Adds events to the graph.

    Args:
        connection: For writing, within whose transaction `add` is called.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._shapes: dict[int, int] = {}
        self._nodes: dict[NodeKey, int] = {}

    def forget(self) -> None:
        """Drop what is remembered of the tables: they were emptied, or a transaction was undone."""
        self._shapes.clear()
        self._nodes.clear()

    def node(self, key: NodeKey) -> int:
        """Return the number of a node that was added."""
        number = self._nodes.get(key) or self._find(key)
        if number is None:
            raise KeyError(key)
        return number

    def add(self, tree: Tree, projection: Projection, known: int, seq: int) -> None:
        """Add what one event says.

        Args:
            tree: The event.
            projection: Its records.
            known: Its `lineage.shape`.
            seq: Its place.
        """
        if seq - self._shapes.get(known, -TOUCH_EVERY) >= TOUCH_EVERY:
            self._remember(known, self._write(delta(tree, projection), seq), seq)

    def _write(self, found: Delta, seq: int) -> dict[NodeKey, int]:
        numbers: dict[NodeKey, int] = {}
        for node in sorted(found.nodes, key=lambda one: one.key.type == "column"):
            numbers[node.key] = self._put(node, numbers, seq)
        job = numbers[found.job] if found.job is not None else 0
        self._connection.executemany(_ADD_EDGE, [_row(edge, numbers, job, seq) for edge in found.edges])
        return numbers

    def _put(self, node: Node, numbers: dict[NodeKey, int], seq: int) -> int:
        number = self._nodes.get(node.key) or self._find(node.key)
        if number is not None:
            self._connection.execute(_TOUCH, (seq, node.info, number))
            return number
        key = node.key
        parent = numbers[NodeKey("dataset", key.namespace, key.name)] if key.type == "column" else None
        cursor = self._connection.execute(_ADD, (*key, node.ref, parent, node.info, seq))
        return int(cursor.lastrowid or 0)

    def _find(self, key: NodeKey) -> int | None:
        row = self._connection.execute(_FIND, key).fetchone()
        return None if row is None else int(row[0])

    def _remember(self, known: int, numbers: dict[NodeKey, int], seq: int) -> None:
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes.clear()
        if len(self._nodes) + len(numbers) > _MOST_NODES:
            self._nodes.clear()
        self._shapes[known] = seq
        self._nodes.update(numbers)


def _row(edge: Edge, numbers: dict[NodeKey, int], job: int, seq: int) -> tuple[object, ...]:
    by = job if edge.type == "field" else 0
    return (numbers[edge.source], numbers[edge.target], by, edge.type, edge.info, seq)
