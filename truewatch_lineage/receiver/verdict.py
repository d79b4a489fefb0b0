"""What each destination would make of an event, by the same rules that the intake answers by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from truewatch_lineage.receiver.checks import Finding, check, kind_of
from truewatch_lineage.receiver.projection import MAX_RECORDS, SOURCES
from truewatch_lineage.receiver.projection.values import Tree, identity, items
from truewatch_lineage.receiver.rules import ALL_RULES, DATAKIT, DATAWAY, PORTAL, Rules


def verdicts(tree: dict[str, Any], size: int, counts: Mapping[str, int], *, strict: bool = False) -> dict[str, Any]:
    """Tell for each destination whether it takes an event, and what becomes of it there.

    Args:
        tree: The event.
        size: Its decoded bytes.
        counts: How many records of each type it was projected to.
        strict: Whether advice counts as a condition, as in the intake.

    Returns:
        By the destination's name ``{"accepted", "problems": [{"path", "message", "code"}], "warnings": [{"path",
        "message"}]}``, with ``records`` and ``source`` for TrueWatch's two, with ``nodes_upserted`` and
        ``edges_upserted`` for Portal.
    """
    return {rules.name: _verdict(tree, size, counts, rules, strict=strict) for rules in ALL_RULES}


def upserted(tree: Tree) -> tuple[int, int]:
    """Count the distinct nodes (the job and its datasets) and edges of an event, as Portal's answer does.

    Args:
        tree: An event that passed the checks of Portal's rules.

    Returns:
        ``nodesUpserted`` and ``edgesUpserted``.
    """
    sides = {side: _datasets(tree, side) for side in ("inputs", "outputs")}
    datasets = sides["inputs"] | sides["outputs"]
    return 1 + len(datasets), sum(len(found) for found in sides.values())


def _verdict(
    tree: dict[str, Any], size: int, counts: Mapping[str, int], rules: Rules, *, strict: bool
) -> dict[str, Any]:
    findings = check(tree, rules, strict=strict)
    problems = [finding for finding in findings if finding.error]
    if size > rules.max_decoded:
        problems.append(Finding("$", f"is larger than {rules.max_decoded} bytes", "eventTooLarge"))
    warnings = [finding for finding in findings if not finding.error]
    verdict: dict[str, Any] = {
        "accepted": not problems,
        "problems": [{"path": item.path, "message": item.message, "code": item.code} for item in problems],
        "warnings": [{"path": item.path, "message": item.message} for item in warnings],
    }
    if rules in (DATAWAY, DATAKIT):
        verdict |= _truewatch(tree, counts, accepted=not problems)
        verdict["warnings"] += _losses(tree, counts)
    elif rules is PORTAL:
        nodes, edges = upserted(tree) if not problems else (None, None)
        verdict |= {"nodes_upserted": nodes, "edges_upserted": edges}
    return verdict


def _truewatch(tree: Tree, counts: Mapping[str, int], *, accepted: bool) -> dict[str, Any]:
    if accepted:
        return {"source": SOURCES.get(str(kind_of(tree)), "unknown_event"), "records": dict(counts)}
    return {"source": "unknown_event", "records": {"ingest_error": 1}}


def _losses(tree: Tree, counts: Mapping[str, int]) -> Iterable[dict[str, str]]:
    """Name what is in the event but in no record."""
    for side in ("inputs", "outputs"):
        nameless = sum(1 for dataset in items(tree.get(side)) if identity(dataset) is None)
        if nameless:
            message = f"{nameless} without namespace or name: no record is made of them"
            yield {"path": f"$.{side}", "message": message}
    if sum(counts.values()) >= MAX_RECORDS:
        yield {"path": "$", "message": f"asks for more than {MAX_RECORDS} records: the rest is not projected"}


def _datasets(tree: Tree, side: str) -> set[bytes]:
    # As JSON, since a name may be anything: its absence is only advised against.
    return {orjson.dumps([item.get("namespace"), item.get("name")]) for item in items(tree.get(side))}
