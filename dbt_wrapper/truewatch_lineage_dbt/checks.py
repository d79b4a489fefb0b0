"""The steps of ``check`` that concern dbt, each with its fix; they read files and variables, and send nothing."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from truewatch_lineage.cli.steps import Step
from truewatch_lineage_dbt.identity import DEFAULT_NAMESPACE
from truewatch_lineage_dbt.lineage.upstream import dataset_namespace
from truewatch_lineage_dbt.parents import parents
from truewatch_lineage_dbt.project import Project, project_folder, read_project, read_target

NAME: Final = "dbt"
"""What these steps are called."""

_LOWEST: Final = (1, 8)
_NEWEST: Final = (1, 11)
"""The releases of dbt-core that are tested."""

_PARSERS: Final = ("sqlglot", "openlineage-integration-common")
_PARENT: Final = "OPENLINEAGE_PARENT_ID"
_NAMESPACE: Final = "OPENLINEAGE_NAMESPACE"


def steps(environ: Mapping[str, str] = os.environ) -> Iterator[Step]:
    """Look at the dbt project here and at the dbt that would run it; nothing where there is no project.

    Args:
        environ: The environment, which may name the project's folder by ``DBT_PROJECT_DIR``.
    """
    project = read_project(project_folder((), environ))
    if not project.values:
        return
    yield _dbt()
    yield from _parsers()
    yield _target(project, environ)
    yield from _names(environ)


def _dbt() -> Step:
    """Say which dbt would run: that of this Python, else a program beside it or on PATH."""
    version = _version("dbt-core")
    if version is not None:
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if _LOWEST <= numbers <= _NEWEST:
            return Step(NAME, "ok", f"dbt-core {version} runs in the process of truewatch-dbt")
        tested = " to ".join(".".join(map(str, release)) for release in (_LOWEST, _NEWEST))
        fix = "See in docs/dbt.md what is tested, and look whether its lineage is whole."
        return Step(NAME, "WARN", f"dbt-core {version} is not among the releases that are tested, {tested}.", fix)
    beside = Path(sys.executable).parent
    program = shutil.which("dbt", path=str(beside)) or shutil.which("dbt")
    if program is None:
        fix = "Install truewatch-lineage[dbt] where dbt is, or put dbt on PATH."
        return Step(NAME, "WARN", "There is a dbt project here, but no dbt.", fix)
    fix = "Install truewatch-lineage[dbt] where dbt is, for events as nodes start and end."
    return Step(NAME, "WARN", f"{program} runs as another program: its nodes' events come when it has ended.", fix)


def _parsers() -> Iterator[Step]:
    missing = [name for name in _PARSERS if _version(name) is None]
    if missing:
        detail = f"{' and '.join(missing)} missing: column lineage and namespaces are not whole."
        yield Step(NAME, "WARN", detail, "pip install 'truewatch-lineage[dbt]' where truewatch-dbt runs.")


def _target(project: Project, environ: Mapping[str, str]) -> Step:
    """Say what the datasets' namespace will be, as far as the files tell; no field of the profile but its type."""
    profile, target, fields = read_target(project, (), environ)
    if not fields:
        fix = "Set DBT_PROFILES_DIR or DBT_TARGET as dbt is run with; `dbt debug` says what it finds."
        where = f"profile {profile}, target {target}" if profile else "no profile"
        return Step(NAME, "WARN", f"project {project.name}: {where} is not found here.", fix)
    adapter = str(fields.get("type") or "unknown")
    namespace = dataset_namespace(adapter, fields)
    found = f"project {project.name}, profile {profile}, target {target}: datasets are in the namespace {namespace}"
    if namespace == adapter:
        fix = "Give what OpenLineage makes the namespace of, or map it: map_namespaces (docs/dbt.md, Names)."
        return Step(NAME, "WARN", f"{found}, which is the adapter's name only.", fix)
    return Step(NAME, "ok", found)


def _names(environ: Mapping[str, str]) -> Iterator[Step]:
    namespace = environ.get(_NAMESPACE)
    if namespace:
        yield Step(NAME, "ok", f"jobs are in the namespace {namespace} (from {_NAMESPACE})")
    else:
        fix = f"Set {_NAMESPACE}, such as to production-dbt: two places that run dbt should not share one."
        yield Step(NAME, "WARN", f"jobs are in the namespace {DEFAULT_NAMESPACE}, since {_NAMESPACE} is not set.", fix)
    if environ.get(_PARENT) and parents(environ)[0] is None:
        fix = "Give it the form NAMESPACE/JOB/RUN_ID, as Airflow's lineage_parent_id does."
        yield Step(NAME, "WARN", f"{_PARENT} can't be read, so that runs get no parent.", fix)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
