"""``configure``: PySpark's builder made ready in code, by the settings that every part of this package reads.

The token is never put into Spark's properties: the driver's environment must have it before Spark starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar

from truewatch_lineage.config import load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours.texts import exports
from truewatch_lineage_spark.plan import DEFAULT_NAMESPACE, Options, Plan, ProfileName, make_plan, told_timeouts
from truewatch_lineage_spark.versions import DEFAULT_SPARK, choose


class Builder(Protocol):
    """What is used of ``pyspark.sql.SparkSession.Builder``."""

    def config(self, key: str, value: str) -> Any:
        """Set a property."""


AnyBuilder = TypeVar("AnyBuilder", bound=Builder)

_CONNECT: Final = "The builder makes a session of Spark Connect, and the listener runs where Spark's driver does."
_LATE: Final = "Spark is running already, and takes a listener only when its driver starts."


def configure(
    builder: AnyBuilder,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    profile: ProfileName = "full",
    spark: str | None = None,
    scala: str | None = None,
    jars: str | None = None,
    base: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
    **settings: Any,
) -> AnyBuilder:
    """Set Spark's properties on a builder, so that the session it makes sends its lineage.

    Args:
        builder: ``SparkSession.builder``.
        namespace: The namespace of Spark's jobs.
        profile: ``full``, or ``lean`` for fewer and smaller events.
        spark: Spark's version; None for that of the PySpark that is imported, else 3.5.
        scala: The Scala version it is built for; None for the usual one.
        jars: Where the listener's jar is; None to have Spark fetch it from Maven Central.
        base: Properties that are set elsewhere, such as in ``spark-defaults.conf``, whose lists are to be extended.
        environ: The environment that Spark's driver will have.
        settings: Settings as of the transport (``url``, ``destination``, ``token_file`` …); those that are not given
            come from ``TRUEWATCH_LINEAGE_*`` and the file, as everywhere.

    Returns:
        The builder, ready for ``getOrCreate()``.

    Raises:
        ConfigError: Spark runs already, or elsewhere; a setting is wrong; or the environment lacks what the token comes
            by. The message has the lines that set it.
    """
    already = _set_already(builder)
    if "spark.remote" in already or environ.get("SPARK_REMOTE"):
        raise ConfigError(_CONNECT, key="builder", fix="Configure its server: truewatch-lineage spark conf.")
    if _is_running():
        raise ConfigError(_LATE, key="builder", fix="Call configure() before the first session, or stop that one.")
    loaded = load({**settings, "delivery": "spool"}, environ=environ)  # which asks for no token
    if loaded.disabled:
        return builder
    plan = make_plan(
        Options(
            destinations=loaded.destinations,
            jar=choose(spark or _pyspark_version(), scala, jars),
            namespace=namespace,
            profile=profile,
            base={**(base or {}), **already},
            timeouts=told_timeouts(loaded),
        )
    )
    _check_environment(plan, environ)
    for one in plan.properties:
        builder.config(one.key, one.value)
    return builder


def _check_environment(plan: Plan, environ: Mapping[str, str]) -> None:
    # A shell whose file of the token is not there exports the quotes alone.
    empty = {one.variable: one.shape.replace("%s", "") for one in plan.secrets}
    missing = [name for name in plan.needed if environ.get(name, "") in ("", empty.get(name))]
    if missing:
        raise ConfigError(
            f"The environment of Spark's driver lacks {', '.join(missing)}.",
            key="token",
            fix="Before the program starts, run:\n" + "\n".join(f"  {line}" for line in exports(plan)),
        )


def _is_running() -> bool:
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


def _pyspark_version() -> str:
    return str(getattr(sys.modules.get("pyspark"), "__version__", DEFAULT_SPARK))


def _set_already(builder: Builder) -> dict[str, str]:
    """Return what was set on the builder before: PySpark keeps it under this name since 2.0."""
    return dict(getattr(builder, "_options", {}))
