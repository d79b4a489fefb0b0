"""Amazon EMR Serverless: what ``start-job-run --configuration-overrides`` takes."""

from __future__ import annotations

from typing import Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.emr import MARK, classification
from truewatch_lineage_spark.flavours.texts import named
from truewatch_lineage_spark.flavours.trees import as_json, branch, extend, started
from truewatch_lineage_spark.plan import Plan

SECRET: Final = "truewatch-lineage"  # noqa: S105 - a secret's name
LIST: Final = "applicationConfiguration"
_NETWORK: Final = (
    "An application without a VPC reaches nothing outside AWS: give it one with a way out, for the events and, without "
    "--jars, for Maven Central."
)
_STORE: Final = (
    "Put the token alone, as plain text, into Secrets Manager under the name after EMR.secret@, encrypted with a key "
    "of your own, and allow emr-serverless.amazonaws.com secretsmanager:GetSecretValue in the secret's policy."
)


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the overrides, or extend those that are there.

    Raises:
        ConfigError: The file of ``--base`` is no such object.
    """
    tree = started(extras.base, {})
    properties = plan.as_properties()
    for secret in plan.secrets:
        properties[secret.key] = f"{MARK}{named(plan, secret, extras.secret or SECRET)}"
    found = tree.setdefault(LIST, [])
    if not isinstance(found, list):
        raise ConfigError(f"In the file of --base, {LIST} is no list.", key="base")
    extend(branch(classification(found, "classification"), "properties"), properties, plan, extras.base)
    return Rendered(as_json(tree), notes=(*plan.notes, _NETWORK, *([_STORE] if plan.secrets else [])))
