"""Forms that are a tree: extend one that is there, and write it as JSON or YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.escape import yaml_text
from truewatch_lineage_spark.merge import cleaned, is_old_transport
from truewatch_lineage_spark.plan import Plan

_STEP: Final = "  "
_PLAIN: Final = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][\w.-]*", re.IGNORECASE | re.ASCII)
"""Keys that YAML takes for themselves without quotes."""


def started(base: object, otherwise: Any) -> Any:
    """Return a copy of the file that is extended, or ``otherwise``; without parts of other transports.

    Raises:
        ConfigError: Its outermost value is of another kind than that of ``otherwise``.
    """
    if base is None:
        return otherwise
    if not isinstance(base, type(otherwise)):
        kind = "a list" if isinstance(otherwise, list) else "an object"
        raise ConfigError(f"The file of --base is not what this form has: {kind}.", key="base")
    return _scrubbed(deepcopy(base))


def branch(tree: dict[str, Any], *path: str) -> dict[str, Any]:
    """Return the mapping at a path, made where it is absent.

    Raises:
        ConfigError: Something else is there.
    """
    for name in path:
        found = tree.setdefault(name, {})
        if not isinstance(found, dict):
            raise ConfigError(f"In the file of --base, {name} is no mapping.", key="base")
        tree = found
    return tree


def extend(conf: dict[str, Any], properties: Mapping[str, str], plan: Plan, base: object) -> None:
    """Put properties at the end of a mapping of them.

    Args:
        conf: The mapping.
        properties: What is to be put there.
        plan: The plan, which knows what a ``spark-defaults.conf`` that is extended sets besides.
        base: The tree that is extended, which holds ``conf``; None where there is none.
    """
    given = dict(plan.kept) if base is None else dict(conf)
    conf.clear()
    conf |= {key: value for key, value in given.items() if key not in properties} | dict(properties)


def as_json(tree: object) -> str:
    """Write a tree as JSON, its letters as they are."""
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def as_yaml(tree: Mapping[str, Any], reasons: Mapping[str, str]) -> list[str]:
    """Return the lines of a tree as YAML.

    Args:
        tree: It.
        reasons: Comments, by the keys above which they stand.
    """
    return list(_mapping(tree, reasons, ""))


def _mapping(tree: Mapping[Any, Any], reasons: Mapping[str, str], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if key in reasons:
            yield f"{indent}# {reasons[key]}"
        name = key if isinstance(key, str) and _PLAIN.fullmatch(key) else _scalar(key)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}:"
            yield from _mapping(value, reasons, indent + _STEP)
        elif isinstance(value, list) and value:
            yield f"{indent}{name}:"
            yield from _items(value, reasons, indent + _STEP)
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _items(values: list[Any], reasons: Mapping[str, str], indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping) and value:
            first, *others = _mapping(value, reasons, indent + _STEP)
            yield f"{indent}- {first.lstrip()}"
            yield from others
        else:
            yield f"{indent}- {_scalar(value)}"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return yaml_text(value)
    import yaml  # noqa: PLC0415 - 20 ms that few need

    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"))
    return text.removesuffix("...\n").strip()


def _scrubbed(tree: Any) -> Any:
    if isinstance(tree, dict):
        stay = {key: cleaned(str(key), value) for key, value in tree.items()}
        return {key: _scrubbed(value) for key, value in stay.items() if value is not None or tree[key] is None}
    if isinstance(tree, list):
        return [_scrubbed(value) for value in tree if not _is_old_variable(value)]
    return tree


def _is_old_variable(value: Any) -> bool:
    """Tell whether a value is an entry of a pod's environment, as Kubernetes has it, that belongs to a transport."""
    return isinstance(value, dict) and is_old_transport(str(value.get("name", "")))
