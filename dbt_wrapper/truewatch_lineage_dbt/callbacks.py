"""Hears what dbt says of itself, in dbt's own threads: each event costs microseconds, and none can raise into dbt."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from truewatch_lineage_dbt.invocation import JOB_COMMANDS, RUN_COMMANDS
from truewatch_lineage_dbt.project import project_folder
from truewatch_lineage_dbt.reporter import Reporter
from truewatch_lineage_dbt.times import as_utc, now

_SHOWN: Final = frozenset(
    (
        *("account", "account_id", "database", "dataset", "host", "http_path", "location", "method", "path", "port"),
        *("project", "region", "region_name", "role_arn", "schema", "server", "service_name", "software_host", "type"),
    )
)
"""Fields of a profile that dataset namespaces are made of and that are no secrets, besides those dbt itself shows."""


class Listener:
    """Tells a `Reporter` what happens in one invocation of dbt.

    Give it as one of dbt's callbacks, together with the ``obj`` in which dbt keeps what it has resolved. A callback
    that raises hangs dbt, so whatever goes wrong in here is kept to itself.

    Args:
        obj: dbt's ``click.Context.obj``: ``flags``, ``runtime_config`` and ``manifest`` as they become known.
        arguments: dbt's.
        job_name: What ``--openlineage-dbt-job-name`` says.
        began: Called, in dbt's own thread, once there is a run to record.

    Attributes:
        reporter: Where it is told; None until a command begins that lineage comes from.
        error: What dbt said of the error that ended it.
        was_interrupted: Whether that was a Ctrl-C.
    """

    def __init__(
        self,
        obj: Mapping[str, Any],
        arguments: tuple[str, ...] = (),
        *,
        job_name: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> None:
        self.reporter: Reporter | None = None
        self.error: str | None = None
        self.was_interrupted = False
        self._obj = obj
        self._arguments = arguments
        self._job_name = job_name
        self._tell_began = began
        self._manifest_path: str | None = None
        self._resolving = threading.Lock()
        self._is_resolved = False
        self._handlers: dict[str, Callable[[Any], None]] = {
            "MainReportArgs": self._began,
            "NodeStart": self._node_started,
            "NodeFinished": self._node_finished,
            "GenericExceptionOnRun": self._node_failed,
            "ArtifactWritten": self._artifact_written,
            "MainEncounteredError": self._failed,
            "MainStackTrace": self._traced,
            "CommandCompleted": self._completed,
        }

    def __call__(self, message: Any) -> None:
        """Take one of dbt's events, a ``dbt_common.events.base_types.EventMsg``."""
        try:
            handler = self._handlers.get(message.info.name)
            if handler is not None:
                handler(message)
        except KeyboardInterrupt:
            if threading.current_thread() is threading.main_thread():
                raise  # the user's Ctrl-C, which would have hit dbt's own line beside this one
        except BaseException:  # noqa: BLE001 - see the class
            return

    def resolve(self) -> None:
        """Tell profile, target and manifest, once, as soon as dbt has them."""
        with self._resolving:
            if self._is_resolved or self.reporter is None or self._obj.get("manifest") is None:
                return
            self._is_resolved = True
            config = self._obj["runtime_config"]
            self.reporter.tell(
                "resolved",
                facts=_facts(config, self._obj["flags"]),
                target=_target(config),
                manifest=self._manifest(),
                deferred=_deferred(self._obj["manifest"]),
            )

    def begin(self, command: str, *, at: str | None = None, run_id: str | None = None, **facts: Any) -> None:
        """Begin to record a run.

        Args:
            command: dbt's subcommand.
            at: When it began, ISO 8601; now where dbt has not told.
            run_id: dbt's id of the invocation; a new one where dbt has none yet.
            facts: What else is known of the run.
        """
        flags = self._obj.get("flags")
        folder = getattr(flags, "PROJECT_DIR", None) or project_folder(self._arguments, os.environ)
        self.reporter = Reporter()
        self.reporter.tell(
            "begin",
            at=at or now(),
            run_id=run_id or str(uuid.uuid4()),
            command=command,
            project_dir=str(Path(folder).absolute()),
            arguments=self._arguments,
            job_name=self._job_name,
            **facts,
        )

    def begin_invocation(self, command: str, invocation_id: str, at: str | None = None) -> None:
        """Begin to record a run that dbt itself has begun, under dbt's own id of it."""
        self.begin(command, at=at, run_id=invocation_id, invocation_id=invocation_id, dbt_version=_version())

    def _began(self, message: Any) -> None:
        command = getattr(self._obj["flags"], "WHICH", None)
        if self.reporter is None and command in RUN_COMMANDS | JOB_COMMANDS:
            self.begin_invocation(command, message.info.invocation_id, _at(message))
            self._tell_began()

    def _completed(self, message: Any) -> None:
        """Do nothing: the process's exit code says more, and comes after it."""

    def _node_started(self, message: Any) -> None:
        self.resolve()
        if self.reporter is not None:
            node = message.data.node_info
            self.reporter.tell("node_started", id=node.unique_id, at=as_utc(node.node_started_at) or _at(message))

    def _node_finished(self, message: Any) -> None:
        if self.reporter is not None:
            node, result = message.data.node_info, message.data.run_result
            outcome = {
                "status": result.status,
                "ended": as_utc(node.node_finished_at) or _at(message),
                "message": result.message or None,
                "failures": result.num_failures,
                "adapter_response": dict(result.adapter_response),
            }
            self.reporter.tell("node_finished", id=node.unique_id, outcome=outcome, code=self._code(node.unique_id))

    def _node_failed(self, message: Any) -> None:
        if self.reporter is not None:
            outcome = {"status": "error", "ended": _at(message), "message": message.data.exc}
            self.reporter.tell("node_finished", id=message.data.node_info.unique_id, outcome=outcome)

    def _artifact_written(self, message: Any) -> None:
        kind, path = message.data.artifact_type, str(Path(message.data.artifact_path).absolute())
        if kind == "WritableManifest":
            self._manifest_path = path
        elif self.reporter is not None:
            self.reporter.tell("artefact", type=kind, path=path)

    def _failed(self, message: Any) -> None:
        self.error = message.data.exc or self.error

    def _traced(self, message: Any) -> None:
        last = message.data.stack_trace.rstrip().rpartition("\n")[2]
        self.was_interrupted = last.startswith("KeyboardInterrupt")

    def _manifest(self) -> str | Mapping[str, Any]:
        if self._manifest_path and Path(self._manifest_path).exists():
            return self._manifest_path
        from truewatch_lineage_dbt.lineage.datasets import SECTIONS  # noqa: PLC0415 - what builds events loads slowly

        tree: Mapping[str, Any] = self._obj["manifest"].writable_manifest().to_dict(omit_none=False)  # --no-write-json
        return {key: tree.get(key) for key in ("metadata", *SECTIONS)}

    def _code(self, unique_id: str) -> str | None:
        node = self._obj["manifest"].nodes.get(unique_id)
        return getattr(node, "compiled_code", None)


def _deferred(manifest: Any) -> dict[str, dict[str, Any]]:
    """Return where nodes stand in the state of ``--defer`` and ``clone``, which dbt's artefacts do not tell."""
    stands = {key: getattr(node, "defer_relation", None) for key, node in getattr(manifest, "nodes", {}).items()}
    return {
        key: {name: getattr(stand, name, None) for name in ("database", "schema", "alias", "relation_name")}
        for key, stand in stands.items()
        if stand is not None
    }


def _facts(config: Any, flags: Any) -> dict[str, Any]:
    """Return fields of `Run` by dbt's ``RuntimeConfig`` and flags."""
    return {
        "adapter_type": config.credentials.type,
        "project_name": config.project_name,
        "project_version": config.version and str(config.version),
        "profile_name": config.profile_name,
        "target": config.target_name,
        "database": config.credentials.database,
        "schema": config.credentials.schema,
        "full_refresh": getattr(flags, "FULL_REFRESH", None),
        "vars": dict(getattr(flags, "VARS", None) or {}),
    }


def _target(config: Any) -> dict[str, Any]:
    """Return the fields of the profile's target that dbt shows, and those a namespace is made of: no secrets."""
    fields = config.credentials.to_dict(omit_none=True)
    shown = {"type": config.credentials.type, **dict(config.credentials.connection_info())}
    return shown | {name: fields[name] for name in _SHOWN if name in fields}


def _version() -> str:
    from dbt.version import __version__  # noqa: PLC0415 - dbt is the user's, and here it is loaded already

    return str(__version__)


def _at(message: Any) -> str:
    return str(message.info.ts.ToJsonString())
