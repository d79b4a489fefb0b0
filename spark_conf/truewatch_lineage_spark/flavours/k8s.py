"""A SparkApplication, as the Kubernetes operator for Spark takes it (``sparkoperator.k8s.io/v1beta2``)."""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.kubernetes import about_secret, properties, references, variables
from truewatch_lineage_spark.flavours.texts import comments
from truewatch_lineage_spark.flavours.trees import as_yaml, branch, extend, started
from truewatch_lineage_spark.plan import Plan
from truewatch_lineage_spark.versions import Jar

_REST: Final = "Add type, sparkVersion, mainApplicationFile, executor and an image; or extend your own by --base FILE."
_NEW: Final = {
    "apiVersion": "sparkoperator.k8s.io/v1beta2",
    "kind": "SparkApplication",
    "metadata": {"name": "your-job"},
}


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the application, or extend the one that is there.

    Raises:
        ConfigError: The file of ``--base`` is no SparkApplication, or one for another Spark.
    """
    tree = started(extras.base, dict(_NEW))
    if tree.get("kind") != _NEW["kind"]:
        raise ConfigError(
            "The file of --base is no SparkApplication.", key="base", fix="Name one in a file of its own."
        )
    wanted = properties(plan)
    spec = branch(tree, "spec")
    _check_version(spec, plan.jar)
    extend(branch(spec, "sparkConf"), {one.key: one.value for one in wanted}, plan, extras.base)
    if environment := _environment(plan, extras):
        driver = branch(spec, "driver")
        driver["env"] = [*driver.get("env", []), *environment]
    about = plan.notes if extras.base else (*plan.notes, _REST)
    lines = [*comments(about), *about_secret(plan, extras), *as_yaml(tree, {one.key: one.why for one in wanted})]
    return Rendered("\n".join(lines) + "\n")


def _check_version(spec: dict[str, Any], jar: Jar) -> None:
    """Refuse a Spark that the listener's jar was not chosen for: it may be built for another Scala."""
    version = str(spec.get("sparkVersion", jar.spark))
    if not f"{version}.".startswith(f"{jar.spark}."):
        raise ConfigError(
            f"The SparkApplication of --base is for Spark {version}, not {jar.spark}: another jar may kill the job.",
            key="spark",
            fix=f"Use --spark {version}.",
        )


def _environment(plan: Plan, extras: Extras) -> list[dict[str, Any]]:
    plain = [{"name": name, "value": value} for name, value in variables(plan).items()]
    return plain + [
        {"name": variable, "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}
        for variable, (name, key) in references(plan, extras).items()
    ]
