"""Leaving facets out: those the user excludes, and those that make an event too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from truewatch_lineage import protocol
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.edit import edit
from truewatch_lineage.events.facets import KINDS, PLACES, STANDARD, holders
from truewatch_lineage.events.model import kind_of
from truewatch_lineage.events.paths import join
from truewatch_lineage.events.serialise import dumps
from truewatch_lineage.words import counted

FACET: Final = "truewatch_trimmed"
"""The facet that names what was left out."""

_KEPT: Final = frozenset({"parent", "errorMessage", "nominalTime", FACET})
_SOURCE: Final = frozenset({"sourceCode", "sql"})
_LAST: Final = frozenset({"columnLineage", "schema"})
_PRODUCER: Final = "urn:x-openlineage-producer:truewatch-lineage"
_OWNERS: Final = {"RunEvent": "run", "JobEvent": "job", "DatasetEvent": "dataset"}
_SCHEMAS: Final = {"run": "RunFacet", "job": "JobFacet", "dataset": "DatasetFacet"}
_MOST_NAMED: Final = 100
"""Facets named one by one in the trimmed facet, which must stay small itself; of the others the sum is told."""

_LONGEST_PATH: Final = 300


def exclude(tree: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Leave out the facets the user does not want sent: the setting ``exclude_facets``.

    Args:
        tree: An event; never changed.
        names: ``name``, of whatever kind, or ``kind.name`` with kind ``run``, ``job``, ``dataset``
            (``facets`` of any dataset), ``input`` (``inputFacets``) or ``output`` (``outputFacets``).

    Returns:
        The same tree if it has none of them, else a copy that shares the rest.
    """
    if not names:
        return tree
    for kind, place in PLACES:
        unwanted = {short for name in names if (short := _of_kind(name, kind)) is not None}
        tree = edit(tree, place, _without(lambda _facets, unwanted=unwanted: unwanted))  # type: ignore[misc]
    return tree


def trim(tree: dict[str, Any], limit: int, size: int) -> dict[str, Any]:
    """Leave out facets until the event fits: the setting ``oversize: trim``.

    Non-standard facets go first, then source code and SQL, then other standard ones, columnLineage and schema
    last; the largest first in each group; parent, errorMessage and nominalTime never. What went is named with
    its size in the facet ``truewatch_trimmed``: of the run for a RunEvent, the job for a JobEvent, the
    dataset for a DatasetEvent.

    Args:
        tree: An event; never changed.
        limit: Bytes of JSON it may have.
        size: Bytes of JSON it has: ``len(dumps(tree))``.

    Returns:
        The same tree if it fits, else one whose ``dumps`` is at most ``limit`` bytes.

    Raises:
        EventError: It is too large even without them.
    """
    if size <= limit:
        return tree
    kind = kind_of(tree)
    if kind is not None:
        trimmed = _without_largest(tree, limit, size, _OWNERS[kind])
        if len(dumps(trimmed)) <= limit:
            return trimmed
    raise EventError(
        f"The event has {counted(size, 'byte')} of JSON, even without its facets more than the {limit:,} allowed.",
        fix="Send fewer datasets or columns in one event.",
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A facet that may go: its group, what leaving it out saves at least, and where it is."""

    group: int
    saving: int
    size: int
    holder: int
    name: str
    path: str


def _without_largest(tree: dict[str, Any], limit: int, size: int, owner: str) -> dict[str, Any]:
    """Leave out candidates in order until the estimate, which is never too low, is within the limit."""
    gone: dict[int, set[str]] = {}
    report = _Report(owner, size, limit)
    for candidate in sorted(_candidates(tree), key=lambda item: (item.group, -item.saving)):
        if size + report.bytes <= limit:
            break
        if candidate.saving <= report.cost(candidate):
            continue
        gone.setdefault(candidate.holder, set()).add(candidate.name)
        report.add(candidate)
        size -= candidate.saving
    for _, place in PLACES:
        tree = edit(tree, place, _without(lambda facets: gone.get(id(facets), set())))
    owned = tree[owner]
    return {**tree, owner: {**owned, "facets": {**_dict(owned.get("facets")), **report.facet()}}}


def _candidates(tree: dict[str, Any]) -> Iterator[_Candidate]:
    for _, path, facets in holders(tree):
        for name in facets if isinstance(facets, dict) else ():
            if name not in _KEPT:
                size = len(dumps(facets[name]))
                saving = len(dumps({name: 0})) - len(b"{0}") + size
                yield _Candidate(_group(name), saving, size, id(facets), name, join(path, name))


def _group(name: str) -> int:
    if name not in STANDARD:
        return 0
    return 1 if name in _SOURCE else 3 if name in _LAST else 2


class _Report:
    """Builds the trimmed facet, and knows how many bytes it takes."""

    def __init__(self, owner: str, size: int, limit: int) -> None:
        self._head = {
            "_producer": _PRODUCER,
            "_schemaURL": f"{protocol.PORTAL_SCHEMA_URL}#/$defs/{_SCHEMAS[owner]}",
            "reason": "The event was larger than the destination takes.",
            "bytes": size,
            "limit": limit,
        }
        self._named: list[dict[str, Any]] = []
        self._more = {"facets": 0, "bytes": 0}
        # An owner without facets gets an object of them; the sums of the facets not named have at most 20
        # digits.
        self.bytes = len(b'"facets":{},') + len(dumps(self.facet())) + 40

    def cost(self, candidate: _Candidate) -> int:
        """Return the bytes that naming it takes."""
        return 0 if len(self._named) >= _MOST_NAMED else len(dumps(_entry(candidate))) + len(b",")

    def add(self, candidate: _Candidate) -> None:
        """Name it, or add it to the sums."""
        self.bytes += self.cost(candidate)
        if len(self._named) < _MOST_NAMED:
            self._named.append(_entry(candidate))
        else:
            self._more = {"facets": self._more["facets"] + 1, "bytes": self._more["bytes"] + candidate.size}

    def facet(self) -> dict[str, Any]:
        """Return ``{"truewatch_trimmed": facet}``."""
        return {FACET: {**self._head, "facets": self._named, "more": self._more}}


def _entry(candidate: _Candidate) -> dict[str, Any]:
    return {"path": candidate.path[:_LONGEST_PATH], "bytes": candidate.size}


def _of_kind(name: str, kind: str) -> str | None:
    """Return the facet's own name if the excluded name is about this kind."""
    prefix, dot, rest = name.partition(".")
    if not dot or prefix not in KINDS:
        return name
    return rest if prefix == kind else None


def _without(names: Callable[[dict[str, Any]], set[str]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make a change that leaves out the facets that ``names`` names, and returns the same dict if there are none."""

    def change(facets: dict[str, Any]) -> dict[str, Any]:
        unwanted = names(facets) & facets.keys()
        return {name: facet for name, facet in facets.items() if name not in unwanted} if unwanted else facets

    return change


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
