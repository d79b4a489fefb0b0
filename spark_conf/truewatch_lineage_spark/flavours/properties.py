"""``spark-defaults.conf``, which every way to start Spark reads."""

from __future__ import annotations

from truewatch_lineage_spark.escape import properties_line
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about_environment, comments
from truewatch_lineage_spark.plan import Plan


def render(plan: Plan, extras: Extras) -> Rendered:  # noqa: ARG001 - every form's signature
    """Write the file: what was set before in its order, then what is added, each line with its reason above it."""
    lines = [properties_line(key, value) for key, value in plan.kept.items()]
    if lines:
        lines.append("")
    lines += [*comments(plan.notes), *about_environment(plan)]
    for one in plan.properties:
        # A text after the value would be a part of it.
        lines += [*comments([one.why]), properties_line(one.key, one.value)]
    return Rendered("\n".join(lines) + "\n")
