"""Amazon EMR: the list of classifications that a cluster is made with."""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import named
from truewatch_lineage_spark.flavours.trees import as_json, branch, extend, started
from truewatch_lineage_spark.plan import Plan

SECRET: Final = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:truewatch-lineage"  # noqa: S105 - a place's name
MARK: Final = "EMR.secret@"
"""EMR's Release Guide, "Store sensitive configuration data": in front of a key whose value is a secret's ARN."""

MAX_LENGTH: Final = 1024
"""Characters of a key and its value together that EMR takes."""

CLASSIFICATION: Final = "spark-defaults"
_ARN: Final = (
    "Put the token alone, as plain text, into Secrets Manager, its ARN in the place of the example here (or by "
    "--secret), and allow EMR's service role secretsmanager:GetSecretValue."
)


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the classifications, or extend those that are there.

    Raises:
        ConfigError: A property is too long for EMR.
    """
    tree: list[Any] = started(extras.base, [])
    properties = plan.as_properties()
    for secret in plan.secrets:
        properties[f"{MARK}{secret.key}"] = named(plan, secret, extras.secret or SECRET)
    check_lengths(properties)
    extend(branch(classification(tree, "Classification"), "Properties"), properties, plan, extras.base)
    return Rendered(as_json(tree), notes=(*plan.notes, _ARN) if plan.secrets else plan.notes)


def classification(tree: list[Any], key: str) -> dict[str, Any]:
    """Return the classification of Spark's properties in a list, added where it is absent.

    Args:
        tree: The list.
        key: How its entries spell the name of their classification.
    """
    for one in tree:
        if isinstance(one, dict) and one.get(key) == CLASSIFICATION:
            return one
    tree.append({key: CLASSIFICATION})
    added: dict[str, Any] = tree[-1]
    return added


def check_lengths(properties: dict[str, str]) -> None:
    """Refuse what EMR would not take.

    Raises:
        ConfigError: A key and its value are too long.
    """
    for key, value in properties.items():
        if len(key) + len(value) > MAX_LENGTH:
            raise ConfigError(f"EMR takes {MAX_LENGTH} characters of a key and its value: {key} has more.", key=key)
