"""Google Dataproc: a job's properties, as ``gcloud`` takes them."""

from __future__ import annotations

from shlex import quote
from typing import Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about, command, comments, named, reasons
from truewatch_lineage_spark.plan import Plan

SECRET: Final = "truewatch-lineage"  # noqa: S105 - a secret's name
DELIMITERS: Final = "#;@~|!%&"
"""What may stand between properties in the place of a comma: ``gcloud topic escaping``."""

_OWN: Final = "Leave Dataproc's own lineage off (dataproc.lineage.enabled): it brings another release of the listener."
_ACTION: Final = (
    "The token comes by an initialization action, run on each node as the cluster starts; whoever logs in there can "
    "read it, as the file belongs to Spark:"
)
_ENVIRONMENT: Final = "/etc/spark/conf/spark-env.sh"


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the command, and above it what the initialization action has to do.

    Raises:
        ConfigError: The values hold every character that could stand between them.
    """
    properties = plan.as_properties()
    joined = "".join([*properties, *properties.values()])
    delimiter = next((one for one in DELIMITERS if one not in joined), None)
    if delimiter is None:
        raise ConfigError("The values hold every character that gcloud could separate them by.", key="format")
    text = delimiter.join(f"{key}={value}" for key, value in properties.items())
    words = [
        "gcloud dataproc jobs submit pyspark your_job.py",
        "--cluster=your-cluster --region=your-region",
        f"--properties={quote(f'^{delimiter}^{text}')}",
    ]
    lines = [*about(plan, _OWN), *reasons(plan), *_action(plan, extras), command(words)]
    return Rendered("\n".join(lines) + "\n")


def _action(plan: Plan, extras: Extras) -> list[str]:
    if not plan.secrets:
        return []
    lines = [f"echo {quote(f'export {key}={quote(value)}')} >> {_ENVIRONMENT}" for key, value in plan.variables.items()]
    for one in plan.secrets:
        name = named(plan, one, extras.secret or SECRET)
        fetch = f"$(gcloud secrets versions access latest --secret={name})"
        shape = quote(f"export {one.variable}='{one.shape}'\\n")
        lines.append(f'printf {shape} "{fetch}" >> {_ENVIRONMENT}')
    return [*comments([_ACTION]), *(f"#   {line}" for line in lines)]
