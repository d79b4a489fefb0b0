"""The few words of JSON Schema that the receiver's description uses, checked without a library."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_KNOWN = {"$ref", "additionalProperties", "anyOf", "default", "enum", "items", "maximum", "minimum", "properties"}
_KNOWN |= {"required", "type"}


def faults(value: object, schema: dict[str, Any], document: dict[str, Any], path: str = "$") -> list[str]:
    """Return what is wrong with a value by a schema of an OpenAPI document; a word that is not known is a fault too."""
    if unknown := set(schema) - _KNOWN:
        return [f"{path}: the schema uses {sorted(unknown)}"]
    if "$ref" in schema:
        return faults(value, _resolve(schema["$ref"], document), document, path)
    if "anyOf" in schema:
        tried = [faults(value, one, document, path) for one in schema["anyOf"]]
        return [] if any(not found for found in tried) else [fault for found in tried for fault in found]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    if "type" in schema and not _is_of(value, schema["type"]):
        return [f"{path}: {value!r} is no {schema['type']}"]
    if isinstance(value, dict):
        return _of_object(value, schema, document, path)
    if isinstance(value, list):
        items = schema.get("items", {})
        return [
            fault for index, item in enumerate(value) for fault in faults(item, items, document, f"{path}[{index}]")
        ]
    return []


def _of_object(value: dict[str, Any], schema: dict[str, Any], document: dict[str, Any], path: str) -> list[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    found = [f"{path}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    for name, item in value.items():
        if name in properties:
            found += faults(item, properties[name], document, f"{path}.{name}")
        elif more is False:
            found.append(f"{path}: {name} is not described")
        elif isinstance(more, dict):
            found += faults(item, more, document, f"{path}.{name}")
    return found


def _is_of(value: object, kinds: str | list[str]) -> bool:
    named = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, bool):
        return "boolean" in named
    return any(isinstance(value, _TYPES[kind]) for kind in named)


def _resolve(reference: str, document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found
