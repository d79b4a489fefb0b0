"""Arguments of ``spark-submit``, quoted for a shell."""

from __future__ import annotations

from typing import Final

from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about, about_environment, command, conf_words, reasons
from truewatch_lineage_spark.plan import Plan

JOB: Final = "your_job.py"


def render(plan: Plan, extras: Extras) -> Rendered:  # noqa: ARG001 - every form's signature
    """Write the command, the reasons above it: a comment within would end it."""
    words = ["spark-submit", *conf_words(plan.as_properties().items()), JOB]
    return Rendered("\n".join([*about(plan), *reasons(plan), *about_environment(plan), command(words)]) + "\n")
