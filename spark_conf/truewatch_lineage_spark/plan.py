"""What Spark must be told, whatever the form it is told in: properties, variables, and where the tokens go.

The listener reads its settings from Spark's properties, from ``openlineage.yml`` and from the driver's environment, and
merges them. A token in a property shows on Spark's pages, in its logs and in the process list, so by default it comes
from the environment; only platforms that fill secrets into properties by themselves have it there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from truewatch_lineage.config.settings import DestinationSettings, Settings
from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import escape, merge, redaction
from truewatch_lineage_spark.transports import REASONS, Secret, Transport, transport
from truewatch_lineage_spark.versions import LISTENER, Jar

__all__ = ["DEFAULT_NAMESPACE", "PROFILES", "Options", "Plan", "Property", "Secret", "make_plan", "told_timeouts"]

Carrier = Literal["environment", "properties"]
ProfileName = Literal["full", "lean"]

DEFAULT_NAMESPACE: Final = "production-spark"
"""TrueWatch's page, under "Apache Spark"."""

TRANSPORT: Final = f"{escape.OPENLINEAGE}transport."
VARIABLE: Final = "OPENLINEAGE__TRANSPORT"

PROFILES: Final[Mapping[ProfileName, Mapping[str, str]]] = {
    "full": {},
    "lean": {
        "filter.rddEventsDisabled": "no events for RDDs, whose runs never end",
        "facets.spark_properties.disabled": "no copy of properties in every event",
        "facets.gc.disabled": "no figures of the garbage collector",
    },
}
"""Properties that are true in a profile, and why. Column lineage stays: it makes no events of its own."""

BREAKER: Final = f"{escape.OPENLINEAGE}circuitBreaker."
EVENT_LIMIT: Final = 30
"""Seconds that one event may take in all. Less may cost events: on a busy machine the first took over 5 (measured)."""

_ONCE: Final = (
    "Spark's listener sends an event once and forgets it (429 and 503: once more): while a destination is down, events "
    "are lost. Only something beside Spark that keeps a queue prevents that: truewatch-lineage gateway. DataKit does "
    "not keep one."
)


@dataclass(frozen=True, slots=True)
class Options:
    """What a plan is made of.

    Attributes:
        destinations: Where events go: one, or several.
        jar: The listener's jar.
        namespace: The namespace of Spark's jobs.
        profile: ``full``, or ``lean`` for less.
        carrier: Whether tokens come by the driver's environment or by properties that the platform fills in.
        base: Properties that are set already.
        timeouts: Seconds for one event, by destination; the listener's default for those that are not named.
    """

    destinations: tuple[DestinationSettings, ...]
    jar: Jar
    namespace: str = DEFAULT_NAMESPACE
    profile: ProfileName = "full"
    carrier: Carrier = "environment"
    base: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Property:
    """One of Spark's properties.

    Attributes:
        key: Its name.
        value: Its value, never a token.
        why: What it is for, in a few words.
    """

    key: str
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What Spark must be told.

    Attributes:
        properties: Spark's properties.
        variables: The driver's environment beside the tokens; empty where no token comes that way.
        secrets: The tokens, each with the property or variable that is to hold it.
        jar: The listener's jar.
        kept: The properties that are set already and stay as they are.
        notes: What the user should know, a sentence or two each.
    """

    properties: tuple[Property, ...]
    variables: Mapping[str, str]
    secrets: tuple[Secret, ...]
    jar: Jar
    kept: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """The variables that the driver's environment must have; none where no token comes that way."""
        return (*self.variables, *(secret.variable for secret in self.secrets)) if self.variables else ()

    def as_properties(self) -> dict[str, str]:
        """Return the properties alone, in order."""
        return {one.key: one.value for one in self.properties}


def told_timeouts(settings: Settings) -> dict[str, float]:
    """Return the timeouts that somebody has set: our default would hold Spark up for longer than the listener's own."""
    origins = settings.origins
    return {
        one.name: one.timeout
        for one in settings.destinations
        if origins.get(f"{one.name}.timeout", "default") != "default"
    }


def make_plan(options: Options) -> Plan:
    """Decide what Spark must be told.

    Args:
        options: What is wanted, and what is there.

    Raises:
        ConfigError: The listener can't do what a setting asks for, or Spark would change a value.
    """
    transports = _transports(options)
    in_environment = options.carrier == "environment" and any(one.secret for one in transports)
    composite = len(transports) > 1
    leaves, variables = _placed(transports, in_environment=in_environment)
    properties = [*_spark(options), *_openlineage(options, leaves)]
    for one in properties:
        escape.check(one.key, one.value)
    ours = [one.key for one in properties]
    notes = [note for one in transports for note in one.notes]
    return Plan(
        properties=tuple(properties),
        variables=variables,
        secrets=tuple(_secret(one, composite=composite) for one in transports if one.secret),
        jar=options.jar,
        kept=merge.kept(options.base, ours),
        notes=(
            *dict.fromkeys(notes),
            *merge.conflicts(options.base, {one.key: one.value for one in properties}),
            _ONCE,
        ),
    )


def _transports(options: Options) -> list[Transport]:
    made: list[Transport] = []
    for destination in options.destinations:
        taken = [one.name for one in made]
        made.append(transport(destination, taken, timeout=options.timeouts.get(destination.name)))
    return made


def _placed(transports: list[Transport], *, in_environment: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Return the transport's properties, and the variables beside the tokens.

    The listener merges a single transport's parts from everywhere, but takes the list of several from one place whole.

    Raises:
        ConfigError: A header can't be written as a property.
    """
    if len(transports) == 1:
        (one,) = transports
        if in_environment:
            beside = {f"{VARIABLE}__{_upper(leaf)}": value for leaf, value in one.beside.items()}
            return dict(one.leaves), {f"{VARIABLE}__TYPE": one.leaves["type"], **beside}
        return {**one.leaves, **one.beside}, {}
    leaves = {"type": "composite", "continueOnFailure": "true"}
    if not in_environment and any("." in leaf.partition("headers.")[2] for one in transports for leaf in one.leaves):
        raise ConfigError(
            "The listener splits the name of a header at its dots, where there are several destinations.",
            key="headers",
            fix="Let a gateway add it.",
        )
    for one in transports:
        leaves |= {f"transports.{one.name}.{leaf}": value for leaf, value in {**one.leaves, **one.beside}.items()}
    if in_environment:
        return {}, {VARIABLE: json.dumps(nested(leaves), separators=(",", ":"))}
    return leaves, {}


def _secret(one: Transport, *, composite: bool) -> Secret:
    assert one.secret is not None  # noqa: S101 - the caller's condition, which a type can't say
    below, child = (f"transports.{one.name}.", f"__TRANSPORTS__{one.name.upper()}") if composite else ("", "")
    return replace(
        one.secret,
        key=f"{TRANSPORT}{below}{one.secret.key}",
        variable=f"{VARIABLE}{child}__{one.secret.variable}",
    )


def _spark(options: Options) -> Iterator[Property]:
    """Yield what Spark itself must be told, together with what it is told already."""
    base, jar = options.base, options.jar
    if jar.path is None:
        value = merge.jars(base.get("spark.jars.packages"), jar.coordinates)
        yield Property("spark.jars.packages", value, f"the listener for Scala {jar.scala}; SHA-256 {jar.sha256}")
    else:
        yield Property("spark.jars", merge.jars(base.get("spark.jars"), jar.path), f"{jar.file_name}, from {jar.url}")
    listeners = merge.listed(base.get("spark.extraListeners"), LISTENER)
    yield Property("spark.extraListeners", listeners, "a list: the last setting of it wins, so all stand here")
    yield Property(redaction.KEY, redaction.widened(base.get(redaction.KEY)), "Spark's own does not mask an apiKey")
    yield Property(redaction.SLOW_EVENTS, "false", "such a line of the log shows every property unmasked")


def _openlineage(options: Options, leaves: Mapping[str, str]) -> Iterator[Property]:
    yield Property(f"{escape.OPENLINEAGE}namespace", options.namespace, "the namespace of this Spark's jobs")
    for leaf, value in leaves.items():
        yield Property(TRANSPORT + leaf, value, _reason(leaf))
    yield from _breaker(options)
    for name, why in PROFILES[options.profile].items():
        yield Property(escape.OPENLINEAGE + name, "true", why)
    if options.profile == "lean":
        name = f"{escape.OPENLINEAGE}jobName.appendDatasetName"
        yield Property(name, "false", "a job keeps one name, whatever table it writes")


def _breaker(options: Options) -> Iterator[Property]:
    """Yield what bounds the time of an event, unless that is settled already."""
    if any(key.startswith(BREAKER) for key in options.base):
        return
    limit = max([EVENT_LIMIT, *(math.ceil(3 * one) for one in options.timeouts.values())])
    yield Property(f"{BREAKER}type", "timeout", "gives up an event after a time, whatever it waits for")
    why = "seconds; a destination's Retry-After, which the listener obeys without a limit, would hold Spark up"
    yield Property(f"{BREAKER}timeoutInSeconds", str(limit), why)


def _reason(leaf: str) -> str:
    if "headers." in leaf:
        return "an extra header"
    return next(why for name, why in REASONS.items() if leaf == name or leaf.endswith(f".{name}"))


def nested(leaves: Mapping[str, str]) -> dict[str, Any]:
    """Return properties as a tree, split at dots; a header's name, which may hold some, is one step."""
    tree: dict[str, Any] = {}
    for path, value in leaves.items():
        before, header, name = path.partition("headers.")
        steps = [*before.split(".")[:-1], "headers", name] if header else path.split(".")
        branch = tree
        for step in steps[:-1]:
            branch = branch.setdefault(step, {})
        branch[steps[-1]] = value
    return tree


def _upper(leaf: str) -> str:
    return leaf.upper().replace(".", "__")
