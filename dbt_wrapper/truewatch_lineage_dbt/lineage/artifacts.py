"""Reads what dbt left in its target folder and tells it to the builder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truewatch_lineage_dbt.lineage.builder import EventBuilder
from truewatch_lineage_dbt.lineage.facts import Outcome


def events(builder: EventBuilder, results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each node's START and terminal event by a ``run_results.json`` or ``sources.json``.

    Args:
        builder: With the manifest of the same invocation.
        results: The file's content.
    """
    metadata = results.get("metadata")
    written = str(metadata.get("generated_at", "")) if isinstance(metadata, Mapping) else ""
    for result in results.get("results") or ():
        outcome = outcome_of(result, written)
        unique_id = str(result.get("unique_id"))
        yield from builder.node_started(unique_id, outcome.started or outcome.ended)
        yield from builder.node_finished(unique_id, outcome)


def outcome_of(result: Mapping[str, Any], written: str) -> Outcome:
    """Return how a node ended.

    Args:
        result: One of the ``results`` of ``run_results.json`` or ``sources.json``.
        written: When the file was written, for a node that was skipped and has no times.
    """
    times = [(str(part.get("started_at")), str(part.get("completed_at"))) for part in timings(result)]
    is_freshness = "max_loaded_at" in result or "criteria" in result
    return Outcome(
        status=str(result.get("status") or "error").lower(),
        started=times[0][0] if times else None,
        ended=times[-1][1] if times else written,
        message=result.get("message") or result.get("error") or None,
        failures=result.get("failures"),
        adapter_response=result.get("adapter_response") or {},
        freshness=_freshness(result) if is_freshness else None,
    )


def timings(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a result's steps that ran to their end; a step that broke off has no times."""
    parts = result.get("timing")
    found = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    return [part for part in found if part.get("started_at") and part.get("completed_at")]


def _freshness(result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_loaded_at": result.get("max_loaded_at"),
        "snapshotted_at": result.get("snapshotted_at"),
        "age": result.get("max_loaded_at_time_ago_in_s"),
    }
