"""What both forms for Kubernetes have: the driver's environment, filled from a Secret."""

from __future__ import annotations

from typing import Final

from truewatch_lineage_spark.flavours import Extras
from truewatch_lineage_spark.flavours.texts import comments, place, printed
from truewatch_lineage_spark.plan import Plan, Property

SECRET: Final = "truewatch-lineage"  # noqa: S105 - a Secret's name
_CREATE: Final = "The token comes from a Secret, as JSON; with bash, so that no process list shows it:"


def properties(plan: Plan) -> list[Property]:
    """Return Spark's properties; an image's home may be read-only, and jars that Spark fetches need a folder."""
    ivy = Property("spark.jars.ivy", "/tmp/.ivy2", "a folder that the image's user can write")  # noqa: S108 - in a pod
    fetches = plan.jar.path is None and ivy.key not in plan.kept
    return [*plan.properties, ivy] if fetches else list(plan.properties)


def references(plan: Plan, extras: Extras) -> dict[str, tuple[str, str]]:
    """Return each token's variable with its Secret's name and key."""
    places = {one.variable: place(plan, one, extras.secret or SECRET, ":") for one in plan.secrets}
    return {variable: (where.partition(":")[0], where.partition(":")[2]) for variable, where in places.items()}


def variables(plan: Plan) -> dict[str, str]:
    """Return the other variables: Kubernetes would replace what looks like a reference to another."""
    return {name: value.replace("$(", "$$(") for name, value in plan.variables.items()}


def about_secret(plan: Plan, extras: Extras) -> list[str]:
    """Return comments that say how to make the Secret, or nothing where there is no token."""
    if not plan.secrets:
        return []
    found = references(plan, extras)
    name = next(iter(found.values()))[0]
    parts = [f"--from-file={found[one.variable][1]}=<({printed(one)})" for one in plan.secrets]
    return [*comments([_CREATE]), f"#   kubectl create secret generic {name} {' '.join(parts)}"]
