"""Variables of the driver's environment, and what they do to Spark's properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.formats.variables import PREFIX
from truewatch_lineage_spark.lint.model import Finding, Layer, Scope

_PYTHONS: Final = frozenset({"OPENLINEAGE_URL", "OPENLINEAGE_ENDPOINT", "OPENLINEAGE_API_KEY", "OPENLINEAGE_NAMESPACE"})
_HEADER: Final = re.compile(r"__HEADERS__[A-Za-z0-9]+_")


def names(scope: Scope) -> Iterator[Finding]:
    """Yield variables that the listener does not read, or reads as something else."""
    env = scope.layers["env"]
    ours = any(one.name.startswith(PREFIX) for one in env.values())
    for one in env.values():
        if one.name.upper().startswith(PREFIX) and not one.name.startswith(PREFIX):
            fix = f"Write {one.name.upper()}."
            yield found("environment.case", one, f"The listener reads variables that begin with {PREFIX} only.", fix)
        elif one.name in _PYTHONS and not ours:
            message = "OpenLineage's Python client reads it; Spark's listener does not."
            fix = f"Write {PREFIX}... variables, or properties of Spark: `spark conf` does."
            yield found("environment.python-name", one, message, fix)
        elif _HEADER.search(one.name):
            message = "The listener turns a header's name in a variable into camelCase, so X_TOKEN is sent as xToken."
            fix = 'Write the headers as JSON: OPENLINEAGE__TRANSPORT__HEADERS with {"X-Token": ...}.'
            yield found("environment.header", one, message, fix)


def values(scope: Scope) -> Iterator[Finding]:
    """Yield values that are changed by being parsed as JSON."""
    for one in scope.layers["env"].values():
        if one.changed:
            message = "The listener parses the value as JSON and takes the first number or word of it."
            yield found("environment.json", one, message, "Put it in JSON's quotes: '\"...\"'.")


def precedence(scope: Scope) -> Iterator[Finding]:
    """Yield properties that vanish beside ``openlineage.yml`` or variables."""
    beside = any(one.rest for layer in ("yml", "env") for one in scope.layers[layer].values())
    if not beside and not scope.elsewhere & {"yml", "env"}:
        return
    for one in scope.conf.values():
        if one.rest.startswith(("debug.", "timeout.")):
            message = "Beside openlineage.yml or OPENLINEAGE__ variables, the listener forgets this property."
            yield found("precedence.dropped", one, message, "Put it there, too.")


def composites(scope: Scope) -> Iterator[Finding]:
    """Yield parts of a transport that a composite of a higher layer hides."""
    order: tuple[Layer, ...] = ("conf", "yml", "env")
    hidden = False
    for layer in order:
        own = [one for one in scope.transports if one.layer == layer]
        if hidden and own:
            message = "Spark's listener takes a composite from one place whole, and forgets what stands here of it."
            fix = "Write all of it in the place that has the token, such as OPENLINEAGE__TRANSPORT with JSON."
            yield found("precedence.composite", own[0].first, message, fix)
        hidden |= any(one.top and one.kind == "composite" for one in own)
