"""What a run is called, whose child it is, and what of its ``meta`` and ``vars`` may be sent: by the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from truewatch_lineage.config.coerce import is_true
from truewatch_lineage_dbt.invocation import option, values
from truewatch_lineage_dbt.lineage import Run
from truewatch_lineage_dbt.parents import parents
from truewatch_lineage_dbt.project import Project

DEFAULT_NAMESPACE: Final = "dbt"
META_VARIABLE: Final = "TRUEWATCH_LINEAGE_DBT_META"
VARS_VARIABLE: Final = "TRUEWATCH_LINEAGE_DBT_VARS"
_NAMESPACE: Final = "OPENLINEAGE_NAMESPACE"
_JOB_NAME: Final = "OPENLINEAGE_DBT_JOB_NAME"
_EXTENDED: Final = "OPENLINEAGE_DBT_USE_EXTENDED_JOB_NAME"
_MODELS: Final = ("-m", "-s", "--model", "--models", "--select")


def identify(
    run_id: str,
    command: str,
    project: Project,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    job_name: str | None = None,
) -> Run:
    """Return a run as it is known before dbt has told anything.

    Args:
        run_id: Its UUID.
        command: dbt's subcommand.
        project: What dbt runs.
        arguments: dbt's.
        environ: The environment.
        job_name: What ``--openlineage-dbt-job-name`` says.
    """
    parent, root = parents(environ)
    return Run(
        run_id=run_id,
        command=command,
        job_namespace=environ.get(_NAMESPACE) or DEFAULT_NAMESPACE,
        job_name=job_name or environ.get(_JOB_NAME) or _default_name(project, arguments, environ),
        project_name=project.name,
        project_version=project.text("version"),
        profile_name=option(arguments, "--profile") or project.text("profile"),
        allowed_vars=_names(environ.get(VARS_VARIABLE, "")),
        allowed_meta=_names(environ.get(META_VARIABLE, "")),
        parent=parent,
        root=root,
    )


def _default_name(project: Project, arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Name the job as ``dbt-ol`` does (``DbtLocalArtifactProcessor.job_name``, 1.54), so that its history goes on."""
    parts = ["dbt-run", project.name]
    if is_true(environ.get(_EXTENDED, "")):
        profile = option(arguments, "--profile") or project.text("profile")
        selector = option(arguments, "--selector")
        chosen = values(arguments, *_MODELS) or ([selector] if selector else [])
        parts += ([profile] if profile else []) + [re.sub(r"[^a-zA-Z0-9_\-]", "_", one) for one in chosen]
    return "-".join(parts)


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())
