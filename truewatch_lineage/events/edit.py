"""Changing a plain tree in a few places without touching the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

EACH: Final = "*"
"""In a place: every item of an array, or every value of an object."""


def edit(node: Any, place: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    """Change the objects at a place, copying only what leads there.

    Args:
        node: A plain tree; never changed itself.
        place: Member names and :data:`EACH` from there on; where the tree has another shape nothing happens.
        change: Gets the object there and returns another, or the very same one.

    Returns:
        The same tree if nothing changed, else a copy that shares the rest.
    """
    if not place:
        return change(node) if isinstance(node, dict) else node
    step, rest = place[0], place[1:]
    if step != EACH:
        keys = [step] if isinstance(node, dict) and step in node else []
    elif isinstance(node, dict):
        keys = list(node)
    else:
        return _edit_items(node, rest, change) if isinstance(node, list) else node
    changes = {key: new for key in keys if (new := edit(node[key], rest, change)) is not node[key]}
    return {**node, **changes} if changes else node


def _edit_items(items: list[Any], place: tuple[str, ...], change: Callable[[Any], Any]) -> list[Any]:
    new = [edit(item, place, change) for item in items]
    return items if all(after is before for after, before in zip(new, items, strict=True)) else new
