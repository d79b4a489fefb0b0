"""Builds OpenLineage events from dbt's manifest and results, whichever way dbt was run."""

from truewatch_lineage_dbt.lineage.builder import EventBuilder
from truewatch_lineage_dbt.lineage.facts import JobRun, Node, Outcome, Run

__all__ = ["EventBuilder", "JobRun", "Node", "Outcome", "Run"]
