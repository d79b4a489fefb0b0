"""What a run is called, whose child it is, and what of it may be sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from truewatch_lineage_dbt.identity import identify
from truewatch_lineage_dbt.lineage import JobRun
from truewatch_lineage_dbt.parents import parents
from truewatch_lineage_dbt.project import Project

RUN = "0192aaaa-0000-7000-8000-000000000001"
ROOT_RUN = "0192aaaa-0000-7000-8000-000000000002"
PROJECT = Project(Path("/opt/harbour"), {"name": "harbour", "profile": "port", "version": 1.0})
PARENT = {"run": {"runId": RUN}, "job": {"namespace": "airflow", "name": "dag.task"}}
ROOT = {"run": {"runId": ROOT_RUN}, "job": {"namespace": "airflow", "name": "dag"}}

PARENTS = {
    "nothing": ({}, None, None),
    "a parent is its own root": ({"PARENT_ID": f"airflow/dag.task/{RUN}"}, ("airflow", "dag.task", RUN), None),
    "a namespace with slashes": (
        {"PARENT_ID": f"airflow://prod/eu/dag.task/{RUN}"}, ("airflow://prod/eu", "dag.task", RUN), None
    ),
    "a parent and a root": (
        {"PARENT_ID": f"airflow/dag.task/{RUN}", "ROOT_PARENT_ID": f"airflow/dag/{ROOT_RUN}"},
        ("airflow", "dag.task", RUN), ("airflow", "dag", ROOT_RUN),
    ),
    "a root that can't be read": (
        {"PARENT_ID": f"airflow/dag.task/{RUN}", "ROOT_PARENT_ID": "?"}, ("airflow", "dag.task", RUN), None
    ),
    "too few parts": ({"PARENT_ID": "airflow/dag"}, None, None),
    "a root alone": ({"ROOT_PARENT_ID": f"airflow/dag/{RUN}"}, None, None),
    "a context": ({"CONTEXT": json.dumps({"parent": PARENT})}, ("airflow", "dag.task", RUN), None),
    "a context with a root": (
        {"CONTEXT": json.dumps({"parent": {**PARENT, "root": ROOT}}), "PARENT_ID": f"a/b/{ROOT_RUN}"},
        ("airflow", "dag.task", RUN), ("airflow", "dag", ROOT_RUN),
    ),
    "a context that is no JSON": ({"CONTEXT": "{", "PARENT_ID": f"a/b/{RUN}"}, ("a", "b", RUN), None),
    "a context of another shape": ({"CONTEXT": "[1]"}, None, None),
}  # fmt: skip


@pytest.mark.parametrize(("variables", "parent", "root"), PARENTS.values(), ids=PARENTS)
def test_the_parent_is_what_the_environment_names(variables, parent, root) -> None:
    """The context wins, what can't be read counts as absent, and a parent without a root is the root."""
    expected = JobRun(*parent) if parent else None
    found = parents({f"OPENLINEAGE_{name}": value for name, value in variables.items()})
    assert found == (expected, JobRun(*root) if root else expected)


@pytest.mark.parametrize(
    ("arguments", "environ", "option", "name"),
    [
        ("run", {}, None, "dbt-run-harbour"),
        ("run", {"OPENLINEAGE_DBT_JOB_NAME": "nightly"}, None, "nightly"),
        ("run", {"OPENLINEAGE_DBT_JOB_NAME": "nightly"}, "hourly", "hourly"),
        ("run -s a+ b.c", {"OPENLINEAGE_DBT_USE_EXTENDED_JOB_NAME": "true"}, None, "dbt-run-harbour-port-a_-b_c"),
        ("run --selector x --profile q", {"OPENLINEAGE_DBT_USE_EXTENDED_JOB_NAME": "1"}, None, "dbt-run-harbour-q-x"),
        ("run -s a", {"OPENLINEAGE_DBT_USE_EXTENDED_JOB_NAME": "false"}, None, "dbt-run-harbour"),
    ],
)
def test_the_job_is_named_as_dbt_ol_names_it(arguments, environ, option, name) -> None:
    """So that a job's history goes on when the command is swapped."""
    assert identify(RUN, "run", PROJECT, arguments.split(), environ, job_name=option).job_name == name


def test_the_job_lives_in_its_own_namespace() -> None:
    """Not in the parent's, where dbt-ol puts it."""
    environ = {"OPENLINEAGE_PARENT_ID": f"airflow/dag.task/{RUN}", "OPENLINEAGE_NAMESPACE": "warehouse"}
    assert identify(RUN, "run", PROJECT, [], environ).job_namespace == "warehouse"
    assert identify(RUN, "run", PROJECT, [], {}).job_namespace == "dbt"


def test_nothing_of_meta_and_vars_is_sent_unless_it_is_named() -> None:
    """The allow-lists are empty by default."""
    plain = identify(RUN, "run", PROJECT, [], {})
    named = identify(
        RUN, "run", PROJECT, [], {"TRUEWATCH_LINEAGE_DBT_META": "owner, tier,", "TRUEWATCH_LINEAGE_DBT_VARS": "day"}
    )
    assert (plain.allowed_meta, plain.allowed_vars) == (frozenset(), frozenset())
    assert (named.allowed_meta, named.allowed_vars) == ({"owner", "tier"}, {"day"})
