"""Who started dbt: the run that Airflow or another scheduler names in the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage_dbt.lineage import JobRun

_CONTEXT: Final = "OPENLINEAGE_CONTEXT"
_PARENT: Final = "OPENLINEAGE_PARENT_ID"
_ROOT: Final = "OPENLINEAGE_ROOT_PARENT_ID"


def parents(environ: Mapping[str, str]) -> tuple[JobRun | None, JobRun | None]:
    """Return the parent and the root of all, as ``dbt-ol`` 1.54 reads them.

    ``OPENLINEAGE_CONTEXT`` is JSON and wins; ``OPENLINEAGE_PARENT_ID`` and ``OPENLINEAGE_ROOT_PARENT_ID`` are
    ``namespace/job/run id``. What can't be read counts as absent; where no root is named, the parent is the root.
    """
    from_context = _from_context(environ.get(_CONTEXT, ""))
    if from_context:
        return from_context
    parent = _from_id(environ.get(_PARENT, ""))
    if parent is None:
        return None, None
    return parent, _from_id(environ.get(_ROOT, "")) or parent


def _from_id(text: str) -> JobRun | None:
    rest, _, run_id = text.strip().rpartition("/")
    namespace, _, name = rest.rpartition("/")  # a namespace, such as airflow://prod, may hold slashes
    return JobRun(namespace, name, run_id) if namespace and name and run_id else None


def _from_context(text: str) -> tuple[JobRun, JobRun] | None:
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    parent = _from_tree(_part(tree, "parent"))
    if parent is None:
        return None
    return parent, _from_tree(_part(_part(tree, "parent"), "root")) or parent


def _from_tree(tree: Any) -> JobRun | None:
    job = _part(tree, "job")
    found = (_part(job, "namespace"), _part(job, "name"), _part(_part(tree, "run"), "runId"))
    return JobRun(*found) if all(isinstance(one, str) and one for one in found) else None


def _part(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, Mapping) else None
