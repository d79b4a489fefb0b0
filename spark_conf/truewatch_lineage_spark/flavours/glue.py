"""AWS Glue: a job's default arguments, where all of Spark's properties are one text."""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import merge
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import named
from truewatch_lineage_spark.flavours.trees import as_json, started
from truewatch_lineage_spark.plan import Plan

ARGUMENT: Final = "--conf"
JARS: Final = "--extra-jars"
SECRET: Final = "truewatch-lineage"  # noqa: S105 - a secret's name
_CODE: Final = (
    "Glue fills no secret into a property. Put the token alone, as plain text, into Secrets Manager, allow the job's "
    "role secretsmanager:GetSecretValue, and let the script fetch it before it makes its SparkContext:"
)
_LINE: Final = '  conf.set("{key}", boto3.client("secretsmanager").get_secret_value(SecretId="{name}")["SecretString"])'
_AROUND: Final = ("  conf = SparkConf()", "  context = SparkContext(conf=conf)")


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the arguments, or extend those that are there.

    Raises:
        ConfigError: The jar is in no store that Glue reads, or a value holds a blank, which Glue takes for its end.
    """
    if plan.jar.path is None or not plan.jar.path.startswith("s3://"):
        raise ConfigError(
            "Glue starts Spark by itself, and takes jars only from S3.",
            key="jars",
            fix=f"Upload {plan.jar.url} to a bucket, and name it: --jars s3://your-bucket/{plan.jar.file_name}.",
        )
    tree: dict[str, Any] = started(extras.base, {})
    conf = dict(plan.kept) | plan.as_properties()
    jars = merge.jars(f"{tree.get(JARS, '')},{conf.pop('spark.jars')}", plan.jar.path)
    tree |= {ARGUMENT: _joined(conf), JARS: jars, "--user-jars-first": "true"}
    return Rendered(as_json(tree), notes=(*plan.notes, *_code(plan, extras)))


def _joined(conf: dict[str, str]) -> str:
    for key, value in conf.items():
        if value.split() != [value]:
            raise ConfigError(f"Glue would end the value of {key} at its blank.", key=key, fix="Choose another value.")
    return f" {ARGUMENT} ".join(f"{key}={value}" for key, value in conf.items())


def _code(plan: Plan, extras: Extras) -> list[str]:
    if not plan.secrets:
        return []
    names = {one.key: named(plan, one, extras.secret or SECRET) for one in plan.secrets}
    first, last = _AROUND
    return ["\n".join([_CODE, first, *(_LINE.format(key=key, name=where) for key, where in names.items()), last])]
