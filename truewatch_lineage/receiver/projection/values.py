"""Reading trees that may have any shape: nothing here raises on an event that is odd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

Tree = Mapping[str, Any]
Value = str | int | float | bool

MAX_TEXT: Final = 32_768
"""Characters of one field; a longer text is cut and ends with `CUT`, and the whole stays in lineage_message."""

CUT: Final = "… [cut]"


def mapping(value: object) -> Tree:
    """Return ``value`` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str | None:
    """Return ``value`` if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def items(value: object) -> Iterator[Tree]:
    """Yield the objects of an array; nothing if it is no array."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def facets(owner: object, key: str = "facets") -> Tree:
    """Return an object's facets, without null ones, odd ones and those that say ``_deleted``."""
    found = mapping(mapping(owner).get(key))
    return {
        name: facet for name, facet in found.items() if isinstance(facet, dict) and facet.get("_deleted") is not True
    }


def at(tree: Tree, path: tuple[str, ...]) -> Any:
    """Return what is at a path of keys, or None."""
    value: Any = tree
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def flat(value: Any) -> Value | None:
    """Return a field's value: text, number or boolean as it is, arrays and objects as JSON text, null as None."""
    if value is None or value in ([], {}, ""):
        return None
    if isinstance(value, (dict, list)):
        value = orjson.dumps(value).decode()
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return value[:MAX_TEXT] + CUT
    result: Value = value
    return result


def identity(dataset: object) -> tuple[str, str] | None:
    """Return a dataset's or job's (namespace, name), or None where one is no text or empty."""
    tree = mapping(dataset)
    namespace, name = text(tree.get("namespace")), text(tree.get("name"))
    return (namespace, name) if namespace and name else None
