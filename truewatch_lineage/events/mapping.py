"""Names that match the destination's catalog: the settings ``map_namespaces`` and ``map_names``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.edit import EACH, edit
from truewatch_lineage.events.rules import rows, table, text

_INPUTS: Final = (("inputs", EACH), ("fields", EACH, "inputs", EACH))
_IN_JOB: Final = (
    (),
    ("facets", "lineage", "entries", EACH),
    *(("facets", "lineage", "entries", EACH, *place) for place in _INPUTS),
)
_IN_DATASET: Final = (
    (),
    ("facets", "symlinks", "identifiers", EACH),
    ("facets", "columnLineage", "fields", EACH, "inputFields", EACH),
    ("facets", "columnLineage", "dataset", EACH),
    ("facets", "lifecycleStateChange", "previousIdentifier"),
    *(("facets", "lineage", *place) for place in _INPUTS),
)
_IN_RUN: Final = (
    ("facets", "parent", "job"),
    ("facets", "parent", "root", "job"),
    ("facets", "parentRun", "job"),  # the older name, still sent by some clients
    ("facets", "jobDependencies", "upstream", EACH, "job"),
    ("facets", "jobDependencies", "downstream", EACH, "job"),
)
_PLACES: Final = (
    *(("job", *place) for place in _IN_JOB),
    *(("run", *place) for place in _IN_RUN),
    *(("dataset", *place) for place in _IN_DATASET),
    *((side, EACH, *place) for side in ("inputs", "outputs") for place in _IN_DATASET),
)
"""Every place of an event where the specification and its facets have a ``namespace`` beside a ``name``."""


@dataclass(frozen=True, slots=True)
class NameRule:
    """One row of ``map_names``: what must match in full, and the templates of what it becomes (None: unchanged)."""

    namespace: re.Pattern[str]
    name: re.Pattern[str]
    to_namespace: str | None
    to_name: str | None

    def apply(self, namespace: str, name: str) -> tuple[str, str] | None:
        """Return the new pair, or None if the rule does not match."""
        of_namespace, of_name = self.namespace.fullmatch(namespace), self.name.fullmatch(name)
        if of_namespace is None or of_name is None:
            return None
        return (
            _expand(self.to_namespace, of_namespace, of_name, namespace),
            _expand(self.to_name, of_name, of_namespace, name),
        )


@dataclass(frozen=True, slots=True)
class NameMapper:
    """Changes namespaces and names in datasets, jobs, parents, symlinks, column lineage and the like.

    Attributes:
        namespaces: Prefixes and what replaces them; the longest that fits wins.
        names: Rules; the first that matches wins. They see the original names; ``namespaces`` applies where
            no rule has set the namespace.
    """

    namespaces: Mapping[str, str] = field(default_factory=dict)
    names: tuple[NameRule, ...] = ()

    @classmethod
    def from_config(cls, map_namespaces: object = None, map_names: object = None) -> NameMapper:
        r"""Read ``{from: to}`` and a list of ``{namespace, name, to_namespace, to_name}``.

        ``namespace`` and ``name`` are regular expressions that must match in full (absent: anything). In
        ``to_…``, ``\1`` and ``\g<x>`` stand for groups of the expression on the same side or, if that has no
        groups, on the other.

        Raises:
            ConfigError: An unknown key, the nearest named; an expression or template that is wrong.
        """
        prefixes = {} if map_namespaces is None else map_namespaces
        if not isinstance(prefixes, Mapping):
            raise ConfigError("map_namespaces must be a table {from: to}.", key="map_namespaces")
        pairs = {text(old, "map_namespaces"): text(new, f"map_namespaces.{old}") for old, new in prefixes.items()}
        longest_first = dict(sorted(pairs.items(), key=lambda pair: -len(pair[0])))
        rules = (_rule(row, f"map_names[{index}]") for index, row in enumerate(rows(map_names, "map_names")))
        return cls(longest_first, tuple(rules))

    def apply(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Return the event with its names mapped: the same tree if none changes, else a copy that shares the rest."""
        if not self.namespaces and not self.names:
            return tree
        for place in _PLACES:
            tree = edit(tree, place, self._map_pair)
        return tree

    def map_name(self, namespace: str, name: str) -> tuple[str, str]:
        """Return what a namespace and a name become."""
        for rule in self.names:
            found = rule.apply(namespace, name)
            if found is not None:
                return found if rule.to_namespace is not None else (self._map_namespace(namespace), found[1])
        return self._map_namespace(namespace), name

    def _map_namespace(self, namespace: str) -> str:
        for old, new in self.namespaces.items():
            if namespace.startswith(old):
                return new + namespace[len(old) :]
        return namespace

    def _map_pair(self, owner: Any) -> Any:
        namespace, name = owner.get("namespace"), owner.get("name")
        if not isinstance(namespace, str) or not isinstance(name, str):
            return owner
        new = self.map_name(namespace, name)
        return owner if new == (namespace, name) else {**owner, "namespace": new[0], "name": new[1]}


def _rule(row: object, key: str) -> NameRule:
    values = table(row, ("namespace", "name", "to_namespace", "to_name"), key)
    given = {name: text(value, f"{key}.{name}") for name, value in values.items()}
    if not {"to_namespace", "to_name"} & set(given):
        raise ConfigError(f"{key} changes nothing.", key=key, fix="Give it to_namespace or to_name.")
    rule = NameRule(
        namespace=_pattern(given.get("namespace"), f"{key}.namespace"),
        name=_pattern(given.get("name"), f"{key}.name"),
        to_namespace=given.get("to_namespace"),
        to_name=given.get("to_name"),
    )
    _check(rule.to_namespace, _source(rule.namespace, rule.name), f"{key}.to_namespace")
    _check(rule.to_name, _source(rule.name, rule.namespace), f"{key}.to_name")
    return rule


def _pattern(expression: str | None, key: str) -> re.Pattern[str]:
    try:
        return re.compile(r"(?s:.*)" if expression is None else expression)
    except re.error as error:
        raise ConfigError(f"{key} is no regular expression: {error}.", key=key) from None


def _check(template: str | None, source: re.Pattern[str], key: str) -> None:
    try:
        source.sub(template or "", "")
    except (re.error, IndexError) as error:
        fix = "Write \\\\ for a backslash."
        raise ConfigError(f"{key} is no template: {error}.", key=key, fix=fix) from None


def _source(own: re.Pattern[str], other: re.Pattern[str]) -> re.Pattern[str]:
    """Choose the expression that a template's groups belong to."""
    return own if own.groups or not other.groups else other


def _expand(template: str | None, own: re.Match[str], other: re.Match[str], unchanged: str) -> str:
    if template is None:
        return unchanged
    return (own if _source(own.re, other.re) is own.re else other).expand(template)
