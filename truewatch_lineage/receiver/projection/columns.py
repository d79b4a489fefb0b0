"""Schema summaries and column-level lineage, from the facets ``schema`` and ``columnLineage``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from truewatch_lineage.receiver.ids import dataset_id, digest
from truewatch_lineage.receiver.projection.values import Tree, flat, identity, items, mapping, text


def schema_version(found: Tree) -> dict[str, Any] | None:
    """Summarise a dataset's schema facet; None where it has no field.

    T: "schema_version holds a schema summary; the complete schema remains in the original facet inside
    lineage_message."

    Args:
        found: The dataset's facets.
    """
    shape = [[name, text(field.get("type")) or ""] for name, field in columns(found)]
    if not shape:
        return None
    return {
        "lineage_record_type": "schema_version",
        "schema_version_id": digest(*shape),
        "schema_field_count": len(shape),
        "schema_fields": flat([f"{name}:{kind}" if kind else name for name, kind in shape]),
    }


def columns(found: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield (name, field) of a schema facet's fields at the top level that have a name."""
    for field in items(mapping(found.get("schema")).get("fields")):
        if name := text(field.get("name")):
            yield name, field


def field_edges(found: Tree) -> Iterator[dict[str, Any]]:
    """Yield a field edge for each input field of a columnLineage facet.

    Its ``dataset`` member (filters, joins: fields that influence the whole dataset) gives edges without ``field_name``.

    Args:
        found: The dataset's facets.
    """
    facet = mapping(found.get("columnLineage"))
    for name, field in mapping(facet.get("fields")).items():
        for origin in items(mapping(field).get("inputFields")):
            if edge := _edge(origin, mapping(field)):
                yield {"lineage_record_type": "field_edge", "field_name": name, **edge}
    for origin in items(facet.get("dataset")):
        if edge := _edge(origin, {}):
            yield {"lineage_record_type": "field_edge", **edge}


def _edge(origin: Tree, field: Tree) -> dict[str, Any] | None:
    known, name = identity(origin), text(origin.get("field"))
    if known is None or name is None:
        return None
    edge: dict[str, Any] = {
        "input_dataset_id": dataset_id(*known),
        "input_dataset_namespace": known[0],
        "input_dataset_name": known[1],
        "input_field_name": name,
    }
    steps = list(items(origin.get("transformations")))
    if steps or "transformationType" in field or "transformationDescription" in field:
        edge.update(_transformation(steps, field))
    return edge


def _transformation(steps: list[Tree], field: Tree) -> Iterator[tuple[str, Any]]:
    first = steps[0] if steps else {}
    found = {
        "transformation_type": text(first.get("type")) or text(field.get("transformationType")),
        "transformation_subtype": text(first.get("subtype")),
        "transformation_description": text(first.get("description")) or text(field.get("transformationDescription")),
        "transformation_masking": any(step.get("masking") is True for step in steps) or None,
        "transformations": orjson.dumps(steps).decode() if len(steps) > 1 else None,
    }
    return ((name, value) for name, value in found.items() if value is not None)
