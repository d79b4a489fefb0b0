"""What the linter works on: settings with their places, the scopes they act in, and findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

Severity = Literal["error", "warning"]
Layer = Literal["conf", "yml", "env"]
Platform = Literal["spark", "databricks", "emr", "glue", "kubernetes"]

OPENLINEAGE: Final = "spark.openlineage."
TRANSPORT: Final = f"{OPENLINEAGE}transport."

_SHOWABLE: Final = re.compile(r"[A-Za-z0-9_.\-]{0,120}")
_NESTED: Final = re.compile(r"transports?\.(?:(?<=transports\.)[^.]+\.)?")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, wherever it stands.

    Attributes:
        key: Spark's property, whatever the format spells: ``spark.openlineage.transport.url`` also for a variable and
            for a key of ``openlineage.yml``.
        value: Its text; never shown.
        file: Where it stands.
        line: In which line, from 1.
        layer: What the listener reads it as: Spark's properties, ``openlineage.yml``, or the environment.
        written: The key as it stands there; None where it is ``key``.
        known: Whether ``value`` is what Spark will see; not so for a shell's variable or a reference to a secret.
        shown: Whether it stands on a command line, which the process list shows.
        changed: Whether the listener gets another value, since it parses variables as JSON.
    """

    key: str
    value: str = field(repr=False)
    file: str
    line: int
    layer: Layer = "conf"
    written: str | None = None
    known: bool = True
    shown: bool = False
    changed: bool = False

    @property
    def name(self) -> str:
        """The key as it stands there, cut where it can no longer be one, since a broken line may hold anything."""
        match = _SHOWABLE.match(self.written or self.key)
        return match[0] if match else ""

    @property
    def rest(self) -> str:
        """The key without ``spark.openlineage.``; empty for other keys of Spark."""
        return self.key.removeprefix(OPENLINEAGE) if self.key.startswith(OPENLINEAGE) else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a setting.

    Attributes:
        severity: ``error``: lineage, a token or the job is lost; ``warning``: it may be meant so.
        file: Where.
        line: In which line, from 1.
        key: The setting as it stands there; empty where the finding is about a file or a line.
        message: What happens with it.
        fix: What to write instead.
        rule: The trap's name in ``catalog``.
    """

    severity: Severity
    file: str
    line: int
    key: str
    message: str
    fix: str
    rule: str


@dataclass(frozen=True)
class Transport:
    """The settings of one transport in one layer.

    Attributes:
        prefix: What their keys begin with, dot included.
        settings: By the rest of their keys.
        top: Whether it is the transport itself, not one of several inside it.
        layer: Where its settings stand.
        first: The first of them, or of those inside it, for what is missing.
    """

    prefix: str
    settings: Mapping[str, Setting]
    top: bool
    layer: Layer
    first: Setting

    @property
    def kind(self) -> str:
        """Its ``type`` in lower case; empty where none is known."""
        one = self.settings.get("type")
        return one.value.strip().lower() if one is not None and one.known else ""

    def known(self, leaf: str) -> str | None:
        """Return the value of one of its settings, or None where it is not set or not known."""
        one = self.settings.get(leaf)
        return one.value if one is not None and one.known else None

    def inside(self, key: str) -> bool:
        """Tell whether a key belongs to a transport inside this one."""
        return key.startswith(self.prefix) and transport_prefix(key) != self.prefix


@dataclass(frozen=True)
class Scope:
    """What one Spark application is told by one file.

    Attributes:
        settings: In the order in which they stand.
        platform: Where it runs, as far as the format tells.
        scala: The Scala version that the platform's Spark is built for, and what says so; None where nothing does.
        private: Whether only its owner can read the file.
        elsewhere: What other files that are checked with this one bring: names of layers, and keys of properties.
    """

    settings: tuple[Setting, ...]
    platform: Platform = "spark"
    scala: tuple[str, str] | None = None
    private: bool = False
    elsewhere: frozenset[str] = frozenset()

    @cached_property
    def layers(self) -> Mapping[Layer, Mapping[str, Setting]]:
        """The settings in force, by layer and key: the last of a key wins."""
        found: dict[Layer, dict[str, Setting]] = {"conf": {}, "yml": {}, "env": {}}
        for one in self.settings:
            found[one.layer][one.key] = one
        return found

    @property
    def conf(self) -> Mapping[str, Setting]:
        """Spark's properties that are in force."""
        return self.layers["conf"]

    def brought(self, key: str, layer: Layer) -> bool:
        """Tell whether another file brings a property, since Spark puts those of all files together."""
        return layer == "conf" and key in self.elsewhere

    @cached_property
    def lineage(self) -> tuple[Setting, ...]:
        """The settings of the listener that are in force, of all layers."""
        return tuple(one for layer in self.layers.values() for one in layer.values() if one.rest)

    @cached_property
    def transports(self) -> tuple[Transport, ...]:
        """Every transport, in every layer, those inside another one included."""
        return tuple(one for layer, settings in self.layers.items() for one in _transports(layer, settings))


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    Attributes:
        file: Its path, or ``<stdin>``.
        scopes: What it tells Spark.
        findings: What is wrong with it as a file of its format.
        notes: What could not be looked at.
    """

    file: str
    scopes: tuple[Scope, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def _transports(layer: Layer, settings: Mapping[str, Setting]) -> Iterator[Transport]:
    found: dict[str, dict[str, Setting]] = {}
    firsts: dict[str, Setting] = {}
    for one in settings.values():
        if one.key.startswith(TRANSPORT):
            prefix = transport_prefix(one.key)
            for above in {TRANSPORT: None, prefix: None}:
                found.setdefault(above, {})
                firsts.setdefault(above, one)
            found[prefix][one.key.removeprefix(prefix)] = one
    return (Transport(prefix, own, prefix == TRANSPORT, layer, firsts[prefix]) for prefix, own in found.items())


def transport_prefix(key: str) -> str:
    """Return what of a key names its transport: ``spark.openlineage.transport.``, or with one inside it."""
    at = len(OPENLINEAGE)
    while match := _NESTED.match(key, at):
        at = match.end()
    return key[:at]


def spelt(rest: str, like: Setting) -> str:
    """Write a key as the place of another setting wants it: a property, a key of ``openlineage.yml``, a variable.

    Args:
        rest: Below ``spark.openlineage.``.
        like: The setting whose place it is.
    """
    if like.layer == "yml":
        return rest
    if like.layer == "env":
        return "OPENLINEAGE__" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", rest).replace(".", "__").upper()
    return OPENLINEAGE + rest
