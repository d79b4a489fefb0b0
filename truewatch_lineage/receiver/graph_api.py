"""One answer of ``/api/graph``; runs in the store's reading thread, its layout too."""

from __future__ import annotations

import sqlite3
from typing import Any

from truewatch_lineage.receiver import graph, nodes
from truewatch_lineage.receiver.ids import node_id
from truewatch_lineage.receiver.layout import MAX_NODES, place
from truewatch_lineage.serving.answers import Refusal


def answer(
    connection: sqlite3.Connection, node: str | None, question: graph.Question, *, layout: bool = False
) -> dict[str, Any]:
    """Find the graph around a node, with positions if they are asked for.

    Args:
        connection: For reading.
        node: A node's id, or None for the newest nodes of all.
        question: What is asked.
        layout: Whether each node gets its place and each edge its points.

    Returns:
        ``{"node", "depth", "direction", "granularity", "nodes", "edges", "truncated"}``, and ``layout`` with the
        drawing's width and height.

    Raises:
        Refusal: 404 for an unknown node, 400 for more nodes than are laid out.
    """
    found, of = _find(connection, node, question)
    shown = {
        "node": of,
        "depth": question.depth,
        "direction": question.direction,
        "granularity": question.granularity,
        **found,
    }
    return {**shown, "layout": _place(found)} if layout else shown


def _find(
    connection: sqlite3.Connection, node: str | None, question: graph.Question
) -> tuple[dict[str, Any], str | None]:
    if node is None:
        return graph.newest(connection, question), None
    row = nodes.resolve(connection, node)
    if row is None:
        raise Refusal(404, "unknownNode", "No job, dataset or column has this id.")
    return graph.around(connection, row, question), node_id(nodes.key_of(row))


def _place(found: dict[str, Any]) -> dict[str, float]:
    count = sum(node["type"] != "column" for node in found["nodes"])
    if count > MAX_NODES:
        message = f"layout: {count} nodes are more than {MAX_NODES}; ask for a smaller limit or depth."
        raise Refusal(400, "tooManyNodes", message)
    return place(found["nodes"], found["edges"])
