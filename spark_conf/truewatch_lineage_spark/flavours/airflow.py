"""Airflow's SparkSubmitOperator, as code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about, comments, python_text
from truewatch_lineage_spark.plan import Plan

CONNECTION: Final = "truewatch_default"
"""The connection that Airflow's integration looks for by itself."""

_TEMPLATE: Final = re.compile(r"\{[{%#]")
_ENVIRONMENT: Final = (
    "The token is the password of an Airflow connection, which Airflow masks on its pages. This way is for a driver "
    "that the worker itself starts (client mode). On YARN and Kubernetes the operator would put env_vars on the "
    "command line: leave env_vars out there, and set the environment of the workers, or use --format k8s-conf."
)


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the operator.

    Raises:
        ConfigError: Airflow would take a value for a template.
    """
    for key, value in {**plan.as_properties(), **plan.variables}.items():
        if _TEMPLATE.search(value):
            raise ConfigError(f"Airflow would take the value of {key} for a template.", key=key)
    lines = [
        *about(plan, *([_ENVIRONMENT] if plan.secrets else [])),
        "from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator",
        "",
        "your_job = SparkSubmitOperator(",
        '    task_id="your_job",',
        '    application="your_job.py",',
        '    conn_id="spark_default",',
        "    conf={",
    ]
    for one in plan.properties:
        lines += [
            *(f"        {line}" for line in comments([one.why])),
            f"        {python_text(one.key)}: {python_text(one.value)},",
        ]
    return Rendered("\n".join([*lines, "    },", *_variables(plan, extras), ")"]) + "\n")


def _variables(plan: Plan, extras: Extras) -> Iterator[str]:
    if not plan.secrets:
        return
    yield "    env_vars={"
    for name, value in plan.variables.items():
        yield f"        {python_text(name)}: {python_text(value)},"
    for one in plan.secrets:
        connection = extras.secret or (CONNECTION if len(plan.secrets) == 1 else f"truewatch_{one.destination}")
        password = f"{{{{ conn.{connection}.password }}}}"
        yield f"        {python_text(one.variable)}: {python_text(one.shape.replace('%s', password))},"
    yield "    },"
