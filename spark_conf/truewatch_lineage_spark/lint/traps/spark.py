"""Spark's own properties: the listener, and its jar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Finding, Scope, Setting
from truewatch_lineage_spark.versions import ARTIFACT, GROUP, LISTENER, VERSION

LISTENERS: Final = "spark.extraListeners"
DATABRICKS_LISTENER: Final = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"

_JARS: Final = ("spark.jars", "spark.jars.packages", "libraries")
_OURS: Final = re.compile(rf"{ARTIFACT}(?:_(?P<scala>\d+\.\d+))?(?:[:-](?P<version>\d[\w.]*?))?(?:\.jar)?(?=[,\s]|$)")
_OTHERS: Final = re.compile(r"(?:^|[,:/])(?P<artifact>[A-Za-z][\w.\-]*?)_(?P<scala>2\.1[0-9])(?=[:\-])")
_UNPUBLISHED: Final = "1.54.0"
_TRUE: Final = frozenset({"1", "true", "yes", "on", "t"})


def listener(scope: Scope) -> Iterator[Finding]:
    """Yield what keeps the listener from being loaded."""
    one = scope.conf.get(LISTENERS)
    lineage = [setting for setting in scope.conf.values() if setting.rest]
    if one is None:
        if lineage and LISTENERS not in scope.elsewhere:
            message = f"Nothing in this file loads the listener; without {LISTENERS} no event is sent."
            yield found("listener.missing", lineage[0], message, f"Add {LISTENERS} with {LISTENER}.")
        return
    if not one.known:
        return
    classes = [name.strip() for name in one.value.split(",")]
    if any("openlineage" in name.lower() and name != LISTENER for name in classes):
        message = "The class's name is not that of the listener, and Spark stops the job at a class that is not there."
        yield found("listener.name", one, message, f"Write {LISTENER}, between commas.")
    elif lineage and LISTENER not in classes:
        yield found("listener.name", one, "The listener is not among them, so no event is sent.", f"Add {LISTENER}.")
    elif scope.platform == "databricks" and LISTENER in classes and DATABRICKS_LISTENER not in classes:
        message = "The list replaces Databricks' own, and its event log stops."
        yield found("listener.databricks", one, message, f"Add {DATABRICKS_LISTENER}.")


def disabled(scope: Scope) -> Iterator[Finding]:
    """Yield the switch that turns the listener off."""
    for layer, key in (("conf", f"{OPENLINEAGE}disabled"), ("env", "OPENLINEAGE_DISABLED")):
        one = scope.conf.get(key) if layer == "conf" else scope.layers["env"].get(key)
        if one is not None and one.known and one.value.strip().lower() in _TRUE:
            yield found("listener.disabled", one, "The listener is turned off.", "Take it out to have lineage.")


def jars(scope: Scope) -> Iterator[Finding]:
    """Yield jars of the listener that do not fit Spark, or do not exist."""
    settings = [one for one in scope.conf.values() if one.key in _JARS]
    hints = _hints(scope, settings)
    for one in settings:
        yield from islice(_misfits(one, hints), 1)
        if one.key == "libraries":
            message = "Databricks installs libraries after it has looked for listeners, and does not find this one."
            yield found(
                "jar.databricks-library", one, message, "Copy the jar by an init script: `spark conf` writes one."
            )


def _misfits(one: Setting, hints: list[tuple[str, str]]) -> Iterator[Finding]:
    for match in _OURS.finditer(one.value):
        scala, version = match["scala"], match["version"]
        if scala is None or version == _UNPUBLISHED:
            fix = f"Write {GROUP}:{ARTIFACT}_{scala or '2.12'}:{VERSION}, with Spark's own Scala version."
            problem = "is not published for Spark" if scala else "is an old one, from before it named Scala's version"
            yield found("jar.name", one, f"This release of the listener {problem}.", fix)
        elif other := next((why for hint, why in hints if hint != scala), None):
            message = f"The jar is for Scala {scala}, but {other} is for another: the job is killed."
            yield found("jar.scala", one, message, "Use the jar for the Scala that Spark is built for.")


def _hints(scope: Scope, settings: list[Setting]) -> list[tuple[str, str]]:
    """Return the Scala versions that other jars and the platform are for, each with what says so."""
    found_hints = [scope.scala] if scope.scala else []
    for one in settings:
        found_hints += [(match["scala"], match["artifact"]) for match in _OTHERS.finditer(one.value)]
    return [(scala, why if why != ARTIFACT else "another jar of the listener") for scala, why in found_hints]


def glue(scope: Scope) -> Iterator[Finding]:
    """Yield what Glue needs so that the listener's jar comes before its own."""
    first = scope.conf.get("--user-jars-first")
    one = scope.conf.get(LISTENERS)
    if scope.platform == "glue" and one is not None and (first is None or first.value.lower() != "true"):
        message = "Without it, what Glue brings itself is loaded in place of what the listener needs."
        yield found("jar.glue-first", one, message, 'Add "--user-jars-first": "true".')
