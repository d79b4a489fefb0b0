"""What is known of a run of dbt, of a node of its manifest, and of how a node ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_SEVERAL: Final = (list, tuple)


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run of a job elsewhere: a parent's, as ``OPENLINEAGE_PARENT_ID`` names it.

    Attributes:
        namespace: The job's namespace.
        name: The job's name.
        run_id: The run's UUID.
    """

    namespace: str
    name: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation of dbt; what is not known yet, or not to be had, is None.

    Attributes:
        run_id: The UUID of the invocation's own run; the nodes' run ids are derived from it.
        command: dbt's subcommand, such as ``build``.
        job_namespace: Where the jobs of the invocation live.
        job_name: The job of the invocation itself, such as ``dbt-run-jaffle_shop``.
        invocation_id: dbt's own id of the invocation.
        dbt_version: Such as ``1.11.16``.
        adapter_type: Such as ``duckdb``; the SQL dialect follows from it.
        dataset_namespace: Where the datasets live (``upstream.dataset_namespace`` of the target).
        project_name: The root project's name.
        project_version: The root project's version.
        profile_name: The profile.
        target: The target of the profile.
        database: The database of the target, for tables that SQL names without one.
        schema: The schema of the target, likewise.
        target_path: The folder that dbt compiles into; there may be SQL of models that an earlier invocation compiled.
        full_refresh: Whether the invocation had ``--full-refresh``.
        vars: The invocation's ``--vars``.
        allowed_vars: Names of the vars that may be sent; none by default, as they may hold secrets.
        allowed_meta: Names of the keys of ``meta`` that may be sent; none by default, likewise.
        parent: The run that started dbt.
        root: The run at the root of all; the parent where there is no other.
    """

    run_id: str
    command: str
    job_namespace: str
    job_name: str
    invocation_id: str | None = None
    dbt_version: str | None = None
    adapter_type: str | None = None
    dataset_namespace: str = "dbt"
    project_name: str | None = None
    project_version: str | None = None
    profile_name: str | None = None
    target: str | None = None
    database: str | None = None
    schema: str | None = None
    target_path: str | None = None
    full_refresh: bool | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    allowed_vars: frozenset[str] = frozenset()
    allowed_meta: frozenset[str] = frozenset()
    parent: JobRun | None = None
    root: JobRun | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a node ended.

    Attributes:
        status: dbt's word: ``success``, ``pass``, ``warn``, ``fail``, ``error``, ``runtime error``, ``skipped``,
            ``partial success``, ``no-op``.
        ended: When it ended, ISO 8601.
        started: When it started, ISO 8601, or None.
        message: dbt's message, or None.
        failures: The rows that failed a test, or None.
        adapter_response: What the adapter said: ``rows_affected``, ``query_id``, ``bytes_processed``.
        freshness: Of ``source freshness``: ``max_loaded_at``, ``snapshotted_at``, ``age`` in seconds, or None.
    """

    status: str
    ended: str
    started: str | None = None
    message: str | None = None
    failures: int | None = None
    adapter_response: Mapping[str, Any] = field(default_factory=dict)
    freshness: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A view over a node, source, exposure or unit test of a manifest, schema v2 (dbt 0.21) to v12 (1.8 and later).

    Attributes:
        raw: The manifest's own mapping.
    """

    raw: Mapping[str, Any]

    @property
    def unique_id(self) -> str:
        """Such as ``model.jaffle_shop.orders``."""
        return str(self.raw["unique_id"])

    @property
    def kind(self) -> str:
        """The ``resource_type``: ``model``, ``seed``, ``snapshot``, ``source``, ``test``, ``exposure`` and others."""
        return str(self.raw.get("resource_type") or self.unique_id.partition(".")[0])

    @property
    def name(self) -> str:
        """The node's own name, such as ``orders``."""
        return str(self.raw.get("name") or self.unique_id.rpartition(".")[2])

    @property
    def table(self) -> str:
        """The table's name in the database: a source's ``identifier``, otherwise the ``alias``."""
        return str(self.raw.get("identifier") or self.raw.get("alias") or self.name)

    @property
    def parts(self) -> tuple[str, ...]:
        """Database, schema and table, without those the adapter has not."""
        return tuple(str(part) for part in (self.raw.get("database"), self.raw.get("schema"), self.table) if part)

    @property
    def config(self) -> Mapping[str, Any]:
        """The resolved configuration."""
        return _mapping(self.raw.get("config"))

    @property
    def columns(self) -> Mapping[str, Mapping[str, Any]]:
        """The documented columns by name: ``{"name", "description", "data_type"}``."""
        return _mapping(self.raw.get("columns"))

    @property
    def parents(self) -> Sequence[str]:
        """The unique ids of the nodes and sources this one depends on."""
        found = _mapping(self.raw.get("depends_on")).get("nodes")
        return found if isinstance(found, _SEVERAL) else ()

    @property
    def sql(self) -> str | None:
        """The compiled SQL, or None where nothing was compiled or the node is written in Python."""
        return None if self.language == "python" else self.code

    @property
    def code(self) -> str | None:
        """The compiled code in any language, or None."""
        return self.raw.get("compiled_code") or self.raw.get("compiled_sql") or None

    @property
    def language(self) -> str:
        """``sql`` or ``python``."""
        return str(self.raw.get("language") or "sql")

    @property
    def is_ephemeral(self) -> bool:
        """Whether dbt inlines the node into what selects from it, so that there is no table."""
        return self.config.get("materialized") == "ephemeral"

    @property
    def is_table(self) -> bool:
        """Whether the node is a dataset of its own: a model, seed, snapshot or source."""
        return self.kind in {"model", "seed", "snapshot", "source"} and not self.is_ephemeral


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
