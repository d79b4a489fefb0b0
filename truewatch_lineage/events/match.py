"""Which events a destination gets: the setting ``match``."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.model import Identity
from truewatch_lineage.events.rules import rows, table, text

_FIELDS = ("event_type", "job", "dataset")


@dataclass(frozen=True, slots=True)
class Rule:
    """Globs that must all match; None where the rule says nothing.

    Attributes:
        event_type: On the eventType, in any case; an event without one never matches.
        job: On the job's ``namespace/name``, in its case.
        dataset: On any dataset's ``namespace/name`` (inputs, outputs, a DatasetEvent's own), in its case.
    """

    event_type: re.Pattern[str] | None = None
    job: re.Pattern[str] | None = None
    dataset: re.Pattern[str] | None = None

    def matches(self, identity: Identity, tree: Mapping[str, Any]) -> bool:
        """Tell whether all the given globs match the event."""
        return (
            _matches(self.event_type, lambda: [identity.event_type])
            and _matches(self.job, lambda: [identity.job])
            and _matches(self.dataset, lambda: _datasets(tree))
        )


@dataclass(frozen=True, slots=True)
class Match:
    """An event is wanted if a ``keep`` rule matches, or there are none, and no ``drop`` rule does.

    Attributes:
        keep: The rules of ``match.keep``.
        drop: The rules of ``match.drop``; they win over ``keep``.
    """

    keep: tuple[Rule, ...] = ()
    drop: tuple[Rule, ...] = ()

    @classmethod
    def from_config(cls, value: object) -> Match:
        """Read ``{keep: […], drop: […]}``, lists of ``{event_type, job, dataset}``; None wants every event.

        A rule's value is a glob (``*``, ``?``, ``[…]``; ``*`` goes over slashes) on the whole text.

        Raises:
            ConfigError: An unknown key, the nearest named; a rule without any condition; a value of another
                type.
        """
        if value is None:
            return cls()
        lists = table(value, ("keep", "drop"), "match")
        keep, drop = (_rules(lists.get(name), f"match.{name}") for name in ("keep", "drop"))
        return cls(keep, drop)

    def wants(self, identity: Identity, tree: Mapping[str, Any]) -> bool:
        """Tell whether the event goes to the destination; whatever its shape, nothing is raised."""
        if self.keep and not any(rule.matches(identity, tree) for rule in self.keep):
            return False
        return not any(rule.matches(identity, tree) for rule in self.drop)


def _rules(value: object, key: str) -> tuple[Rule, ...]:
    return tuple(_rule(row, f"{key}[{index}]") for index, row in enumerate(rows(value, key)))


def _rule(value: object, key: str) -> Rule:
    globs = table(value, _FIELDS, key)
    if not globs:
        raise ConfigError(f"{key} has no condition.", key=key, fix=f"Give it one of {', '.join(_FIELDS)}.")
    return Rule(**{name: _glob(text(glob, f"{key}.{name}"), name) for name, glob in globs.items()})


def _glob(glob: str, name: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob), re.IGNORECASE if name == "event_type" else 0)


def _matches(pattern: re.Pattern[str] | None, found: Callable[[], list[str | None]]) -> bool:
    if pattern is None:
        return True
    return any(text is not None and pattern.match(text) for text in found())


def _datasets(tree: Mapping[str, Any]) -> list[str | None]:
    return [f"{item['namespace']}/{item['name']}" for item in _named(tree)]


def _named(tree: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Yield the datasets that have a namespace and a name."""
    for side in ("inputs", "outputs"):
        items = tree.get(side)
        yield from filter(_is_named, items if isinstance(items, list) else ())
    if _is_named(tree.get("dataset")):
        yield tree["dataset"]


def _is_named(item: object) -> bool:
    return isinstance(item, Mapping) and all(isinstance(item.get(key), str) for key in ("namespace", "name"))
