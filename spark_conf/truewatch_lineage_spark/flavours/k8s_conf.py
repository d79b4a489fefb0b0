"""``spark-submit`` to a Kubernetes cluster, with the token from a Secret."""

from __future__ import annotations

from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.kubernetes import about_secret, properties, references, variables
from truewatch_lineage_spark.flavours.texts import about, command, conf_words
from truewatch_lineage_spark.plan import Plan


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the command."""
    wanted = properties(plan)
    conf = {one.key: one.value for one in wanted}
    conf |= {f"spark.kubernetes.driverEnv.{name}": value for name, value in variables(plan).items()}
    conf |= {
        f"spark.kubernetes.driver.secretKeyRef.{variable}": f"{name}:{key}"
        for variable, (name, key) in references(plan, extras).items()
    }
    reasons = [f"{one.key}: {one.why}" for one in wanted]
    words = [
        "spark-submit",
        "--master k8s://https://your-cluster:6443",
        "--deploy-mode cluster",
        *conf_words(conf.items()),
        "local:///opt/spark/work-dir/your_job.py",
    ]
    return Rendered("\n".join([*about(plan, *reasons), *about_secret(plan, extras), command(words)]) + "\n")
