"""Builds the events of one run of dbt: the way in for all who know what dbt does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truewatch_lineage_dbt.lineage.facts import Outcome, Run


class EventBuilder:
    """Makes OpenLineage events, as plain dicts, of what happened in one invocation of dbt.

    Attributes:
        run: What is known of the invocation; may be replaced as dbt tells more.
        manifest: dbt's manifest, ``{"nodes", "sources", "exposures", "unit_tests"}`` at least; may be set later.
        catalog: dbt's ``catalog.json``, or an empty mapping.
    """

    def __init__(
        self, run: Run, manifest: Mapping[str, Any] | None = None, catalog: Mapping[str, Any] | None = None
    ) -> None:
        self.run = run
        self.manifest: Mapping[str, Any] = manifest or {}
        self.catalog: Mapping[str, Any] = catalog or {}

    def run_started(self, at: str) -> list[dict[str, Any]]:
        """Return the START of the invocation's own run; needs no manifest."""
        return []

    def node_started(self, unique_id: str, at: str) -> list[dict[str, Any]]:
        """Return a node's START; nothing for an id the manifest does not know."""
        return []

    def node_finished(self, unique_id: str, outcome: Outcome) -> list[dict[str, Any]]:
        """Return a node's terminal event: COMPLETE, FAIL, or ABORT where it was skipped."""
        return []

    def run_finished(self, state: str, at: str, message: str | None = None) -> list[dict[str, Any]]:
        """Return the terminal event of the invocation's own run, and the exposures' JobEvents after a COMPLETE.

        Args:
            state: ``COMPLETE``, ``FAIL`` or ``ABORT``.
            at: When, ISO 8601 with offset.
            message: Why it failed.
        """
        return []

    def job_events(self, at: str) -> list[dict[str, Any]]:
        """Return JobEvents for every node and exposure: lineage without a run, for ``compile``."""
        return []
