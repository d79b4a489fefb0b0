"""Where the facets of an event are, and which of them the OpenLineage specification knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from truewatch_lineage.events.edit import EACH
from truewatch_lineage.events.paths import join

KINDS: Final = ("run", "job", "dataset", "input", "output")
"""The kinds of facet: ``dataset`` are the ``facets`` of every dataset, ``input`` its ``inputFacets`` and so on."""

STANDARD: Final = frozenset(
    {
        *("baseSubset", "catalog", "columnLineage", "dataQualityAssertions", "dataQualityMetrics", "dataSource"),
        *("datasetType", "documentation", "environmentVariables", "errorMessage", "executionParameters"),
        *("externalQuery", "extractionError", "hierarchy", "inputStatistics", "jobDependencies", "jobType"),
        *("lifecycleStateChange", "lineage", "nominalTime", "outputStatistics", "ownership", "parent"),
        *("processing_engine", "schema", "sourceCode", "sourceCodeLocation", "sql", "storage", "subset"),
        *("symlinks", "tags", "test", "version"),
    }
)
"""The names under https://openlineage.io/spec/facets; any other is a non-standard facet."""

PLACES: Final = (
    ("run", ("run", "facets")),
    ("job", ("job", "facets")),
    ("dataset", ("dataset", "facets")),
    ("dataset", ("inputs", EACH, "facets")),
    ("input", ("inputs", EACH, "inputFacets")),
    ("dataset", ("outputs", EACH, "facets")),
    ("output", ("outputs", EACH, "outputFacets")),
)
"""Each kind of facet and where an event has them, as places of :func:`truewatch_lineage.events.edit.edit`."""

_MEMBERS: Final = tuple(dict.fromkeys(place[-1] for _, place in PLACES))
_NONE: Final[dict[str, Any]] = {}


class Holder(NamedTuple):
    """A place that holds facets.

    Attributes:
        kind: One of :data:`KINDS`.
        path: The JSON path of the object of facets, such as ``$.inputs[0].facets``.
        facets: What is there: facets by name; not a mapping where the event is malformed.
    """

    kind: str
    path: str
    facets: Any


def holders(tree: Mapping[str, Any]) -> Iterator[Holder]:
    """Yield every place of an event that holds facets, in the order of :data:`PLACES`."""
    for kind, place in PLACES:
        for path, facets in _found(tree, place, "$"):
            yield Holder(kind, path, facets)


def are_objects(tree: Mapping[str, Any]) -> bool:
    """Tell fast that all that `holders` would yield are objects; False only says that it has to be asked."""
    owners = [tree.get(name) for name in ("run", "job", "dataset")]
    for side in ("inputs", "outputs"):
        datasets = tree.get(side)
        owners += datasets if isinstance(datasets, list) else ()
    found = [owner.get(name, _NONE) for owner in owners if isinstance(owner, dict) for name in _MEMBERS]
    return all(isinstance(facets, dict) for facets in found)


def _found(node: Any, place: tuple[str, ...], path: str) -> Iterator[tuple[str, Any]]:
    if not place:
        yield path, node
    elif place[0] == EACH:
        for index, item in enumerate(node if isinstance(node, list) else ()):
            yield from _found(item, place[1:], join(path, index))
    elif isinstance(node, Mapping) and place[0] in node:
        yield from _found(node[place[0]], place[1:], join(path, place[0]))
