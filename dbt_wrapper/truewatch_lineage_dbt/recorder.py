"""Turns what is told of a run of dbt into events: one method a message, called in the order things happened."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.notices import Notices
from truewatch_lineage_dbt.artefacts import await_manifest, read_artefacts, read_json
from truewatch_lineage_dbt.identity import identify
from truewatch_lineage_dbt.invocation import JOB_COMMANDS, RUN_COMMANDS
from truewatch_lineage_dbt.lineage import EventBuilder, Outcome
from truewatch_lineage_dbt.lineage.artifacts import events
from truewatch_lineage_dbt.lineage.upstream import dataset_namespace
from truewatch_lineage_dbt.masking import Masking
from truewatch_lineage_dbt.project import read_project, read_target
from truewatch_lineage_dbt.sinks import Sink
from truewatch_lineage_dbt.times import now

log = logging.getLogger("truewatch_lineage.dbt")

_INTERRUPTED: Final = "dbt ended before this did."
_FRESHNESS: Final = {
    "max_loaded_at": "max_loaded_at",
    "snapshotted_at": "snapshotted_at",
    "age": "max_loaded_at_time_ago_in_s",
}


class Recorder:
    """Keeps the state of one run: what has begun and not ended.

    Args:
        sink: Takes the events.
        environ: The environment, which names the job, the parent and the namespace.

    Attributes:
        count: The events that were handed to the sink.
    """

    def __init__(self, sink: Sink, environ: Mapping[str, str]) -> None:
        self.count = 0
        self._sink = sink
        self._environ = environ
        self._masking = Masking(environ)
        self._notices = Notices(log)
        self._builder: EventBuilder | None = None
        self._arguments: tuple[str, ...] = ()
        self._open: dict[str, str] = {}
        self._held: dict[str, Outcome] = {}
        self._is_over = False
        self._handlers: dict[str, Callable[..., None]] = {
            "begin": self._begin,
            "resolved": self._resolved,
            "node_started": self._node_started,
            "node_finished": self._node_finished,
            "artefact": self._artefact,
            "artefacts": self._artefacts,
            "end": self._end,
        }

    def tell(self, message: Mapping[str, Any]) -> None:
        """Take a message of `Reporter`; never raises.

        Args:
            message: ``kind``, which names the message, and its fields.
        """
        fields = dict(message)
        try:
            self._handlers[fields.pop("kind")](**fields)
        except Exception as error:  # the outermost guard: what goes wrong with one node leaves the others
            log.debug("The message was %s.", message.get("kind"), exc_info=True)
            self._notices.warning("fault", "Some lineage could not be made: %s", _told(error))

    def close(self) -> None:
        """Close by an ABORT what is still open, where nobody said how it ended: dbt was killed."""
        if not self._is_over:
            self.tell({"kind": "end", "state": "ABORT", "at": now(), "message": "dbt was killed."})

    def _begin(
        self,
        *,
        at: str,
        run_id: str,
        command: str,
        project_dir: str,
        arguments: Iterable[str] = (),
        job_name: str | None = None,
        **facts: Any,
    ) -> None:
        """Begin a run; ``facts`` are fields of `Run` that are known already."""
        self._arguments = tuple(arguments)
        project = read_project(Path(project_dir))
        run = identify(run_id, command, project, self._arguments, self._environ, job_name=job_name)
        self._builder = EventBuilder(dataclasses.replace(run, **facts))
        if command in RUN_COMMANDS:
            self._emit(self._builder.run_started(at))

    def _resolved(
        self,
        *,
        facts: Mapping[str, Any],
        target: Mapping[str, Any],
        manifest: str | Mapping[str, Any] | None = None,
        deferred: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Take profile, target and manifest as dbt resolved them; the manifest as a path, or itself."""
        builder = self._known()
        adapter = facts.get("adapter_type")
        namespace = dataset_namespace(str(adapter), target) if adapter else builder.run.dataset_namespace
        folder = str(Path(manifest).parent) if isinstance(manifest, str) else builder.run.target_path
        known = {"dataset_namespace": namespace, "target_path": folder, **facts}
        builder.run = dataclasses.replace(builder.run, **known)
        builder.deferred = deferred or {}
        if isinstance(manifest, str):
            builder.manifest = await_manifest(Path(manifest))
            if not builder.manifest:
                self._notices.warning("manifest", "Nodes have no events: %s can't be read.", manifest)
        elif manifest is not None:
            builder.manifest = manifest

    def _node_started(self, *, id: str, at: str) -> None:  # noqa: A002 - the message's own word
        self._open[id] = at
        if self._is_run():
            self._emit(self._known().node_started(id, at))

    def _node_finished(self, *, id: str, outcome: Mapping[str, Any], code: str | None = None) -> None:  # noqa: A002 - as above
        builder = self._known()
        started = self._open.pop(id, None)
        if code is not None and isinstance(node := builder.manifest.get("nodes", {}).get(id), dict):
            node["compiled_code"] = code
        finished = Outcome(**{"started": started, **outcome})
        if builder.run.command == "freshness":  # what was measured is in the artefact that dbt writes at its end
            self._held[id] = finished
        elif self._is_run():
            self._emit(builder.node_finished(id, finished))

    def _artefact(self, *, type: str, path: str) -> None:  # noqa: A002 - dbt's own word
        if type == "CatalogArtifact":
            self._known().catalog = read_json(Path(path))
        elif type == "FreshnessResult":
            for result in read_json(Path(path)).get("results", ()):
                if result.get("unique_id") in self._held and "max_loaded_at" in result:
                    measured = {ours: result.get(theirs) for ours, theirs in _FRESHNESS.items()}
                    held = self._held[result["unique_id"]]
                    self._held[result["unique_id"]] = dataclasses.replace(held, freshness=measured)

    def _artefacts(self, *, folder: str, since: float) -> None:
        """Take what dbt left behind, where it ran as another program."""
        builder = self._known()
        found = read_artefacts(Path(folder), since)
        metadata, arguments = found.metadata, found.arguments
        project = read_project(Path(str(arguments.get("project_dir") or Path(folder).parent)))
        profile, target, fields = read_target(project, self._arguments, self._environ)
        facts = {
            "adapter_type": metadata.get("adapter_type") or fields.get("type"),
            "dbt_version": metadata.get("dbt_version"),
            "target_path": folder,
            "invocation_id": found.invocation_id,
            "profile_name": profile,
            "target": target,
            "database": fields.get("database") or fields.get("dbname") or fields.get("project"),
            "schema": fields.get("schema") or fields.get("dataset"),
        }
        self._resolved(facts=facts, target=fields, manifest=found.manifest)
        builder.catalog = found.catalog
        if self._is_run() and found.results:
            for event in events(builder, found.results):
                self._emit([event])

    def _end(self, *, state: str, at: str, message: str | None = None) -> None:
        """End the run: ``COMPLETE``, ``FAIL`` or ``ABORT``; what has begun and not ended is an ABORT."""
        self._is_over = True
        if self._builder is None:
            return
        for node, outcome in self._held.items():
            self._emit(self._builder.node_finished(node, outcome))
        if self._is_run():
            for node, started in self._open.items():
                outcome = Outcome("skipped", at, started=started, message=_INTERRUPTED)
                self._emit(self._builder.node_finished(node, outcome))
            self._emit(self._builder.run_finished(state, at, message))
        elif state == "COMPLETE" and self._builder.run.command in JOB_COMMANDS:
            self._emit(self._builder.job_events(at))

    def _known(self) -> EventBuilder:
        if self._builder is None:
            raise LookupError("nothing has begun")
        return self._builder

    def _is_run(self) -> bool:
        return self._builder is not None and self._builder.run.command in RUN_COMMANDS

    def _emit(self, made: Iterable[dict[str, Any]]) -> None:
        for event in made:
            self._sink.emit(self._masking.event(event))
            self.count += 1


def _told(error: Exception) -> str:
    # Its text may quote SQL or a profile, so only its class is told.
    return type(error).__name__
