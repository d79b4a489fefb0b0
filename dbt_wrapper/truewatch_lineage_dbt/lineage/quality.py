"""What tests and freshness say of the data: facets on the dataset that was looked at, and on the run that looked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage_dbt.lineage.facets import facet
from truewatch_lineage_dbt.lineage.facts import Node, Outcome

_ANSWERED: Final = frozenset({"pass", "warn", "fail"})
"""A test that ended otherwise said nothing of the data."""

_DEFAULT_THRESHOLD: Final = "!=0"


def assertions(node: Node, outcome: Outcome) -> dict[str, Any]:
    """Return the dataQualityAssertions of a test for the tested dataset's ``inputFacets``; empty without an answer."""
    if outcome.status not in _ANSWERED:
        return {}
    found = {
        "assertion": _type(node) or node.name,
        "name": node.name,
        "success": outcome.status == "pass",
        "column": _column(node),
        "severity": _severity(node),
        "description": node.raw.get("description") or None,
        **_counted(node, outcome),
    }
    return {"dataQualityAssertions": facet("dataQualityAssertions", assertions=[_given(found)])}


def test_facet(node: Node, outcome: Outcome) -> dict[str, Any]:
    """Return the ``test`` facet of the run of a data or unit test."""
    status = {"pass": "pass", "skipped": "skip"}.get(outcome.status, "fail")
    found = {
        "name": node.unique_id,
        "status": status,
        "severity": _severity(node),
        "type": "unit" if node.kind == "unit_test" else _type(node) or "singular",
        "description": node.raw.get("description") or None,
        **_counted(node, outcome),
    }
    return {"test": facet("test", tests=[_given(found)])}


def freshness(node: Node, outcome: Outcome) -> dict[str, Any]:
    """Return what ``source freshness`` found, for the source's ``inputFacets``; empty where it found nothing out."""
    if outcome.freshness is None:
        return {}
    limits = node.raw.get("freshness")
    age = outcome.freshness.get("age")
    found = {
        "assertion": "freshness",
        "success": outcome.status == "pass",
        "column": node.raw.get("loaded_at_field") or None,
        "severity": "warn" if outcome.status == "warn" else "error",
        "expected": _limits(limits if isinstance(limits, Mapping) else {}) or None,
        "actual": None if age is None else f"{age:.0f} s",
    }
    facets = {"dataQualityAssertions": facet("dataQualityAssertions", assertions=[_given(found)])}
    loaded = outcome.freshness.get("max_loaded_at")
    if loaded:
        facets["dataQualityMetrics"] = facet("dataQualityMetrics", columnMetrics={}, lastUpdated=str(loaded))
    return facets


def tested(node: Node) -> str | None:
    """Return the unique id of the node that a generic test was written at; None for a singular test."""
    attached = node.raw.get("attached_node")
    if attached:
        return str(attached)
    return node.parents[-1] if _metadata(node) and node.parents else None


def _metadata(node: Node) -> Mapping[str, Any]:
    found = node.raw.get("test_metadata")
    return found if isinstance(found, Mapping) else {}


def _type(node: Node) -> str | None:
    name, package = _metadata(node).get("name"), _metadata(node).get("namespace")
    return f"{package}.{name}" if package and name else name


def _column(node: Node) -> str | None:
    arguments = _metadata(node).get("kwargs")
    named = arguments.get("column_name") if isinstance(arguments, Mapping) else None
    return named or node.raw.get("column_name") or None


def _severity(node: Node) -> str:
    return str(node.config.get("severity") or "error").lower()


def _counted(node: Node, outcome: Outcome) -> dict[str, str]:
    """Return the rows that failed, and how many may: dbt's default ``!= 0`` lets none."""
    if outcome.failures is None or outcome.status not in _ANSWERED:
        return {}
    threshold = str(node.config.get("warn_if" if _severity(node) == "warn" else "error_if") or _DEFAULT_THRESHOLD)
    is_default = "".join(threshold.split()) == _DEFAULT_THRESHOLD
    return {"actual": str(outcome.failures), "expected": "0" if is_default else f"not {threshold}"}


def _limits(limits: Mapping[str, Any]) -> str:
    named = (("warn_after", "warn"), ("error_after", "error"))
    parts = []
    for key, word in named:
        limit = limits.get(key)
        if isinstance(limit, Mapping) and limit.get("count") is not None:
            parts.append(f"{word} after {limit['count']} {limit.get('period', 'hour')}s")
    return ", ".join(parts)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
