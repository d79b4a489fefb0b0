"""Where nodes and edges are drawn, in layers from left to right; the layout's library is used in this module only."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import graphlay

MAX_NODES: Final = 1000
"""More are not laid out: the library holds the interpreter meanwhile, 0.2 s for so many."""

HEIGHT: Final = 44
ROW: Final = 24
"""Height of a node, and of a column within its dataset."""

_PADDING: Final = 6
_LEAST, _MOST, _PER_CHARACTER, _FRAME = 160, 320, 8.5, 84
_CAREFUL_NODES: Final = 150
_CURVE: Final = 40

Node = dict[str, Any]
Edge = dict[str, Any]


def place(nodes: list[Node], edges: list[Edge]) -> dict[str, float]:
    """Give each node ``x``, ``y``, ``width`` and ``height``, and each edge ``points``, in pixels.

    Columns stand within the box of their dataset, in the order given; field edges go from a column's right side to
    another's left side.

    Args:
        nodes: As `graph` returns them; changed.
        edges: As `graph` returns them; changed.

    Returns:
        ``{"width", "height"}`` of the whole drawing.
    """
    rows: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if node["type"] == "column":
            rows[node["parent"]].append(node)
    boxes = [node for node in nodes if node["type"] != "column"]
    for node in boxes:
        node.update(_size(node, rows[node["id"]]))
    drawing = _lay_out(boxes, edges, {row["id"]: row["parent"] for own in rows.values() for row in own})
    for node in boxes:
        for index, row in enumerate(rows[node["id"]]):
            row.update(x=node["x"], y=node["y"] + HEIGHT + index * ROW, width=node["width"], height=ROW)
    _draw_field_edges({node["id"]: node for node in nodes}, edges)
    return drawing


def _size(node: Node, rows: list[Node]) -> dict[str, float]:
    longest = max(len(text) for text in (node["label"], *(row["label"] for row in rows)))
    width = min(_MOST, max(_LEAST, round(longest * _PER_CHARACTER) + _FRAME))
    return {"width": width, "height": HEIGHT + (len(rows) * ROW + _PADDING if rows else 0)}


def _lay_out(boxes: list[Node], edges: list[Edge], parents: dict[str, str]) -> dict[str, float]:
    graph = graphlay.Graph()
    for node in boxes:
        graph.node(node["id"], width=node["width"], height=node["height"])
    drawn = [edge for edge in edges if edge["type"] != "field"]
    for edge in drawn:
        graph.edge(edge["source"], edge["target"])
    for source, target in _between_boxes(edges, parents):
        graph.edge(source, target)
    effort = "balanced" if len(boxes) <= _CAREFUL_NODES else "fast"
    drawing = graphlay.layout(graph, options={"direction": "leftright", "effort": effort})
    left, top = drawing.bounds["min"]["x"], drawing.bounds["min"]["y"]
    for node, placed in zip(boxes, drawing.nodes, strict=True):
        centre = placed["center"]
        node.update(x=centre["x"] - left - node["width"] / 2, y=centre["y"] - top - node["height"] / 2)
    for edge, placed in zip(drawn, drawing.edges, strict=False):
        edge["points"] = [[point["x"] - left, point["y"] - top] for point in placed["points"]]
    return {"width": drawing.bounds["max"]["x"] - left, "height": drawing.bounds["max"]["y"] - top}


def _between_boxes(edges: list[Edge], parents: dict[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of datasets that field edges connect, where no job stands between them."""
    if any(edge["type"] != "field" for edge in edges):
        return []
    pairs: dict[tuple[str, str], None] = {}
    for edge in edges:
        source, target = str(edge["source"]), str(edge["target"])
        pairs[parents.get(source, source), parents.get(target, target)] = None
    return [(source, target) for source, target in pairs if source != target]


def _draw_field_edges(shown: dict[str, Node], edges: list[Edge]) -> None:
    for edge in edges:
        if edge["type"] == "field":
            source, target = shown[edge["source"]], shown[edge["target"]]
            start = [source["x"] + source["width"], source["y"] + source["height"] / 2]
            end = [target["x"], target["y"] + min(target["height"], HEIGHT) / 2]
            edge["points"] = [start, [start[0] + _CURVE, start[1]], [end[0] - _CURVE, end[1]], end]
