"""``openlineage.yml``, which the listener looks for in the working folder, in the home, and where a variable says."""

from __future__ import annotations

from typing import Final

from truewatch_lineage_spark.escape import OPENLINEAGE, properties_line
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about_environment, comments
from truewatch_lineage_spark.flavours.trees import as_yaml, branch, started
from truewatch_lineage_spark.plan import BREAKER, Plan, nested
from truewatch_lineage_spark.transports import REASONS

_PLACE: Final = (
    "Name this file in OPENLINEAGE_CONFIG, in the environment of Spark's driver; or save it as openlineage.yml in its "
    "working folder, or as ~/.openlineage/openlineage.yml."
)
_BESIDE: Final = "Besides, Spark itself must be told, for instance in spark-defaults.conf:"
_BREAKER: Final = BREAKER.removeprefix(OPENLINEAGE).removesuffix(".")
_REPLACED: Final = "Replaced: the transport that was there."
_LIST: Final = "Several destinations with tokens stand in the environment whole: the listener does not mix their lists."


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the file: what the listener reads, and as comments what only Spark's properties can say."""
    ours = {one.key: one for one in plan.properties if one.key.startswith(OPENLINEAGE)}
    tree = started(extras.base, {})
    replaced = tree.pop("transport", None)
    for key, value in nested({key.removeprefix(OPENLINEAGE): one.value for key, one in ours.items()}).items():
        if key in tree and key == _BREAKER:
            continue  # its settings depend on its type, so that one of both must do
        if isinstance(value, dict) and key != "transport":
            branch(tree, key).update(value)
        else:
            tree[key] = value
    beside = [properties_line(one.key, one.value) for one in plan.properties if one.key not in ours]
    notes = [*plan.notes, _PLACE, *([_LIST] if len(plan.secrets) > 1 else []), *([_REPLACED] if replaced else [])]
    about = [*comments([*notes, _BESIDE]), *(f"#   {line}" for line in beside), *about_environment(plan)]
    return Rendered("\n".join([*about, *as_yaml(tree, REASONS)]) + "\n")
