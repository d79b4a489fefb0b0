"""``openlineage.yml``, which the listener looks for in the working folder, in the home, and where a variable says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from truewatch_lineage_spark.escape import OPENLINEAGE, properties_line
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import about_environment, comments
from truewatch_lineage_spark.flavours.trees import as_yaml, branch, started
from truewatch_lineage_spark.plan import BREAKER, Plan, Property, nested
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
    lines = [line for part, value in tree.items() for line in as_yaml({part: value}, _reasons(part, ours))]
    return Rendered("\n".join([*about, *lines]) + "\n")


def _reasons(part: str, ours: Mapping[str, Property]) -> Mapping[str, str]:
    """Return the reasons for what stands in one part of the file: a name such as ``type`` has another in each."""
    if part == "transport":
        return REASONS
    paths = {key.removeprefix(OPENLINEAGE): one.why for key, one in ours.items()}
    return {path.removeprefix(f"{part}."): why for path, why in paths.items() if path.startswith(part)}
