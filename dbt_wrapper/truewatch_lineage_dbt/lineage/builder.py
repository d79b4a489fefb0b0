"""Builds the events of one run of dbt: the way in for all who know what dbt does."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage_dbt.lineage import facets, quality
from truewatch_lineage_dbt.lineage.columns import ColumnReader
from truewatch_lineage_dbt.lineage.datasets import Project, job_name
from truewatch_lineage_dbt.lineage.event_datasets import EventDatasets
from truewatch_lineage_dbt.lineage.facts import JobRun, Node, Outcome, Run

_STATES: Final = {
    "fail": "FAIL",
    "error": "FAIL",
    "runtime error": "FAIL",
    "partial success": "FAIL",
    "skipped": "ABORT",
}
"""The eventType of dbt's words for how a node ended; all others are COMPLETE, as no run may stay open."""

_RUNNABLE: Final = frozenset({"model", "seed", "snapshot", "source", "test", "unit_test", "operation"})
_OFFSET: Final = re.compile(r"(Z|[+-]\d\d:?\d\d)$")


class EventBuilder:
    """Makes OpenLineage events, as plain dicts, of what happened in one invocation of dbt.

    The ends of nodes cost milliseconds, since their SQL is parsed: that is for a thread of its own.

    Attributes:
        run: What is known of the invocation; may be replaced as dbt tells more.
        manifest: dbt's manifest, ``{"nodes", "sources", "exposures", "unit_tests"}`` at least; may be set later.
        catalog: dbt's ``catalog.json``, or an empty mapping.
        deferred: Where nodes stand in the state of ``--defer`` and ``clone``, as `Project` has it.
    """

    def __init__(
        self, run: Run, manifest: Mapping[str, Any] | None = None, catalog: Mapping[str, Any] | None = None
    ) -> None:
        self.run = run
        self.manifest: Mapping[str, Any] = manifest or {}
        self.catalog: Mapping[str, Any] = catalog or {}
        self.deferred: Mapping[str, Mapping[str, Any]] = {}
        self._reader = ColumnReader()
        self._built: set[str] = set()

    def run_started(self, at: str) -> list[dict[str, Any]]:
        """Return the START of the invocation's own run; needs no manifest."""
        return [self._run_event("START", at, {})]

    def run_finished(self, state: str, at: str, message: str | None = None) -> list[dict[str, Any]]:
        """Return the terminal event of the invocation's own run, and JobEvents of the exposures of what was built.

        Args:
            state: ``COMPLETE``, ``FAIL`` or ``ABORT``.
            at: When, ISO 8601; without an offset it is taken for UTC.
            message: Why it failed.
        """
        project = self._project()
        exposures = [
            self._job_event(project, node, at)
            for node in map(project.node, project.ids("exposures"))
            if node is not None and any(parent.unique_id in self._built for parent in project.inputs(node))
        ]
        return [*exposures, self._run_event(state, at, {"errorMessage": facets.error(message)} if message else {})]

    def node_started(self, unique_id: str, at: str) -> list[dict[str, Any]]:
        """Return a node's START; nothing for what does not run, or an id that the manifest does not know."""
        project = self._project()
        node = self._runnable(project, unique_id)
        if node is None:
            return []
        datasets = EventDatasets(project)
        event = self._node_event("START", at, node, {})
        event["inputs"] = [datasets.named(parent) for parent in _read(project, node)]
        event["outputs"] = [datasets.named(node)] if _is_written(node) else []
        return [event]

    def node_finished(self, unique_id: str, outcome: Outcome) -> list[dict[str, Any]]:
        """Return a node's terminal event: COMPLETE, FAIL, or ABORT where it was skipped."""
        project = self._project()
        node = self._runnable(project, unique_id)
        if node is None:
            return []
        state = _STATES.get(outcome.status, "COMPLETE")
        more = facets.outcome_facets(self.run, outcome, state)
        if node.kind in {"test", "unit_test"}:
            more |= quality.test_facet(node, outcome)
        event = self._node_event(state, outcome.ended, node, more)
        datasets = EventDatasets(project)
        if state == "COMPLETE" and _is_written(node):
            self._built.add(unique_id)
            event |= datasets.written(node, self._reader, facets.statistics(outcome))
        else:
            event["inputs"] = _looked_at(project, datasets, node, outcome)
            event["outputs"] = [datasets.named(node)] if _is_written(node) else []
        return [event]

    def job_events(self, at: str) -> list[dict[str, Any]]:
        """Return JobEvents for every model, seed, snapshot and exposure: lineage without a run, for ``compile``."""
        project = self._project()
        nodes = (project.node(unique_id) for unique_id in project.ids("nodes", "exposures"))
        return [
            self._job_event(project, node, at)
            for node in nodes
            if node is not None and (_is_written(node) or node.kind == "exposure")
        ]

    def _project(self) -> Project:
        return Project(self.run, self.manifest, self.catalog, self.deferred)

    def _runnable(self, project: Project, unique_id: str) -> Node | None:
        node = project.node(unique_id)
        return node if node is not None and node.kind in _RUNNABLE and not node.is_ephemeral else None

    def _run_event(self, state: str, at: str, more: Mapping[str, Any]) -> dict[str, Any]:
        found = facets.run_facets(self.run, self.run.parent, self.run.root)
        job = {"namespace": self.run.job_namespace, "name": self.run.job_name, "facets": facets.job_facets(self.run)}
        return _run_event(state, at, {"runId": self.run.run_id, "facets": {**found, **more}}, job)

    def _node_event(self, state: str, at: str, node: Node, more: Mapping[str, Any]) -> dict[str, Any]:
        own = JobRun(self.run.job_namespace, self.run.job_name, self.run.run_id)
        found = facets.run_facets(self.run, own, self.run.root or self.run.parent)
        run_id = str(uuid.uuid5(uuid.UUID(self.run.run_id), node.unique_id))
        return _run_event(state, at, {"runId": run_id, "facets": {**found, **more}}, self._job(node))

    def _job_event(self, project: Project, node: Node, at: str) -> dict[str, Any]:
        datasets = EventDatasets(project)
        event = {
            "eventTime": _time(at),
            "producer": facets.PRODUCER,
            "schemaURL": f"{facets.SPEC}#/$defs/JobEvent",
            "job": self._job(node),
            "inputs": [datasets.described(parent, self._reader) for parent in project.inputs(node)],
            "outputs": [],
        }
        return event | datasets.written(node, self._reader, {}) if _is_written(node) else event

    def _job(self, node: Node) -> dict[str, Any]:
        return {
            "namespace": self.run.job_namespace,
            "name": job_name(node),
            "facets": facets.job_facets(self.run, node),
        }


def _run_event(state: str, at: str, run: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "eventType": state,
        "eventTime": _time(at),
        "producer": facets.PRODUCER,
        "schemaURL": f"{facets.SPEC}#/$defs/RunEvent",
        "run": run,
        "job": job,
        "inputs": [],
        "outputs": [],
    }


def _is_written(node: Node) -> bool:
    """Tell whether a node makes a table: a source is one, and is only looked at."""
    return node.is_table and node.kind != "source"


def _read(project: Project, node: Node) -> list[Node]:
    """Return the datasets that a node reads, a test's own first; a unit test reads its own rows."""
    if node.kind == "unit_test":
        return []
    if node.kind == "source":
        return [node]
    found = project.inputs(node)
    attached = quality.tested(node) if node.kind == "test" else None
    return sorted(found, key=lambda parent: parent.unique_id != attached) if attached else found


def _looked_at(project: Project, datasets: EventDatasets, node: Node, outcome: Outcome) -> list[dict[str, Any]]:
    """Return what a test or a look at freshness read, with what it found out of the data."""
    found = quality.freshness(node, outcome) if node.kind == "source" else {}
    if node.kind == "test":
        found = quality.assertions(node, outcome)
    attached = quality.tested(node) if node.kind == "test" else None
    inputs = []
    for parent in _read(project, node):
        dataset = datasets.named(parent)
        if found and attached in {None, parent.unique_id}:
            dataset["inputFacets"] = found
        inputs.append(dataset)
    return inputs


def _time(at: str) -> str:
    """Return a time with an offset; dbt's log events have UTC without saying so."""
    return at if _OFFSET.search(at) else f"{at}Z"
