"""Apache Livy: the body of a session or batch."""

from __future__ import annotations

from typing import Final

from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import exports
from truewatch_lineage_spark.flavours.trees import as_json, branch, extend, started
from truewatch_lineage_spark.plan import Plan

_WHERE: Final = (
    "The token comes from the environment of Spark's driver: in client mode that of Livy's server (livy-env.sh); on "
    "YARN in cluster mode there is no safe way, so let Spark send to a DataKit or gateway that holds the token itself. "
    "It needs:"
)


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the body, or extend the one that is there."""
    tree = started(extras.base, {})
    extend(branch(tree, "conf"), plan.as_properties(), plan, extras.base)
    lines = exports(plan)
    about = ("\n  ".join([_WHERE, *lines]),) if lines else ()
    return Rendered(as_json(tree), notes=(*plan.notes, *about))
