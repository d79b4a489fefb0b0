"""A builder of PySpark's session, as code."""

from __future__ import annotations

from typing import Final

from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about, about_environment, comments, python_text
from truewatch_lineage_spark.plan import Plan

_FIRST: Final = "Before anything else makes a session: a listener is taken only when Spark's driver starts."
_CHECK: Final = """
missing = [name for name in needed if os.environ.get(name) in (None, "", '""')]
if missing:
    raise SystemExit(f"Set {', '.join(missing)} before the job starts: the comments say how.")
"""


def render(plan: Plan, extras: Extras) -> Rendered:  # noqa: ARG001 - every form's signature
    """Write the code: it checks that the environment has the tokens, and never holds one."""
    lines = [*about(plan, _FIRST), *about_environment(plan)]
    lines += ["import os", ""] if plan.needed else []
    lines.append("from pyspark.sql import SparkSession")
    lines += _check(plan) if plan.needed else []
    lines += ["", "spark = (", "    SparkSession.builder"]
    for one in plan.properties:
        lines += [f"    {line}" for line in comments([one.why])]
        lines.append(f"    .config({python_text(one.key)}, {python_text(one.value)})")
    return Rendered("\n".join([*lines, "    .getOrCreate()", ")"]) + "\n")


def _check(plan: Plan) -> list[str]:
    names = (f"    {python_text(name)}," for name in plan.needed)
    return ["", "needed = (", *names, ")", *_CHECK.strip().splitlines()]
