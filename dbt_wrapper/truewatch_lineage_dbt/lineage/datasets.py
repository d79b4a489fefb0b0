"""The manifest as a graph of datasets: what a node reads, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from truewatch_lineage_dbt.lineage.facts import Node, Run

SECTIONS: Final = ("nodes", "sources", "exposures", "unit_tests", "metrics", "semantic_models", "saved_queries")
"""What of a manifest is looked at."""

_SECTIONS: Final = {
    "source": "sources",
    "exposure": "exposures",
    "unit_test": "unit_tests",
    "metric": "metrics",
    "semantic_model": "semantic_models",
    "saved_query": "saved_queries",
}
_PASSED_THROUGH: Final = frozenset({"metric", "semantic_model", "saved_query"})

_CATALOG_SECTIONS: Final = {"source": "sources"}


class Project:
    """A view over the manifest and the catalog of one invocation.

    Args:
        run: What is known of the invocation.
        manifest: dbt's manifest; only the nodes asked for are looked at.
        catalog: dbt's ``catalog.json``, or an empty mapping.
        deferred: Where nodes stand in the state of ``--defer`` and ``clone``, by unique id: ``{"database", "schema",
            "alias", "relation_name"}``.
    """

    def __init__(
        self,
        run: Run,
        manifest: Mapping[str, Any],
        catalog: Mapping[str, Any],
        deferred: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.run = run
        self._deferred = deferred or {}
        self._manifest = manifest
        self._catalog = catalog

    def node(self, unique_id: str) -> Node | None:
        """Return a node, source, exposure or unit test; None where the manifest does not know the id."""
        raw = self._section(_SECTIONS.get(unique_id.partition(".")[0], "nodes")).get(unique_id)
        return None if raw is None else Node(raw)

    def ids(self, *sections: str) -> Iterator[str]:
        """Yield the unique ids of sections such as ``nodes`` and ``exposures``."""
        for section in sections:
            yield from self._section(section)

    def inputs(self, node: Node) -> list[Node]:
        """Return the datasets that a node reads, each once, in order.

        Ephemeral models, which dbt inlines, and metrics and semantic models are passed through to what they read. What
        may be read from another state is left out until there is code that says so.
        """
        if self.run.command == "clone" and node.unique_id in self._deferred:
            return [self._elsewhere(node)]
        found: dict[str, Node] = {}
        waiting, seen = list(reversed(node.parents)), set()
        while waiting:
            unique_id = waiting.pop()
            parent = None if unique_id in seen else self.node(unique_id)
            seen.add(unique_id)
            if parent is None:
                continue
            if parent.is_table:
                found.update((unique_id, meant) for meant in self._meant(parent, node))
            elif parent.is_ephemeral or parent.kind in _PASSED_THROUGH:
                waiting.extend(reversed(parent.parents))
        return list(found.values())

    def _meant(self, parent: Node, node: Node) -> list[Node]:
        """Return a parent where the node reads it: in this target or in the state that it is deferred to."""
        there = self._deferred.get(parent.unique_id)
        if there is None:
            return [parent]
        code = node.code
        if not code:
            return []
        is_elsewhere = _names(code, there) and not _names(code, parent.raw)
        return [self._elsewhere(parent) if is_elsewhere else parent]

    def _elsewhere(self, node: Node) -> Node:
        return Node({**node.raw, **self._deferred[node.unique_id]})

    def find(self, parts: tuple[str, ...], among: list[Node]) -> Node | None:
        """Return the one node that a table's name in SQL means; None where none or several may be meant."""
        found = [node for node in among if _is_meant(parts, node.parts)] or self.find_text(f"'{parts[-1]}'", among)
        return found[0] if len(found) == 1 else None

    def find_text(self, text: str, among: list[Node]) -> list[Node]:
        """Return the sources that are no tables but text in SQL: dbt-duckdb's ``external_location``."""
        return [node for node in among if _bare(node.raw.get("relation_name")) == _bare(text)]

    def table_name(self, parts: tuple[str, ...]) -> str:
        """Return the dataset name of a table that SQL names and dbt knows not; the target gives what it left out."""
        given = [part for part in (self.run.database, self.run.schema) if part]
        return name_of((*given[: max(0, len(given) + 1 - len(parts))], *parts))

    def sql(self, node: Node) -> str | None:
        """Return a node's compiled SQL; where this invocation compiled it not, what an earlier one left on disk."""
        path, folder = node.raw.get("original_file_path"), self.run.target_path
        if node.sql or node.kind != "model" or node.language != "sql" or not path or not folder:
            return node.sql
        file = Path(folder) / "compiled" / str(node.raw.get("package_name")) / str(path)
        try:
            return file.read_text(encoding="utf-8") or None
        except (OSError, ValueError):
            return None

    def catalog_columns(self, node: Node) -> Mapping[str, Mapping[str, Any]]:
        """Return the catalog's columns, ``{name: {"type", "index", "comment"}}``; empty without a catalog."""
        section = self._catalog.get(_CATALOG_SECTIONS.get(node.kind, "nodes"))
        entry = section.get(node.unique_id) if isinstance(section, Mapping) else None
        columns = entry.get("columns") if isinstance(entry, Mapping) else None
        return columns if isinstance(columns, Mapping) else {}

    def _section(self, name: str) -> Mapping[str, Any]:
        found = self._manifest.get(name)
        return found if isinstance(found, Mapping) else {}


def name_of(parts: tuple[str, ...]) -> str:
    """Return a dataset's name: ``database.schema.table``, without what the adapter has not."""
    return ".".join(parts)


def job_name(node: Node) -> str:
    """Return a node's job name, the same in all commands.

    Models have that of ``dbt-ol run``, ``database.schema.project.model``; seeds and snapshots likewise. What makes no
    table has its unique id: ``test.project.name.hash``, ``exposure.project.name``, ``source.project.source.table``.
    """
    kind, _, rest = node.unique_id.partition(".")
    if kind not in {"model", "seed", "snapshot"}:
        return node.unique_id
    return name_of((*node.parts[:-1], rest))


def _names(code: str, table: Mapping[str, Any]) -> bool:
    name = table.get("relation_name")
    return bool(name) and re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", code) is not None


def _bare(text: object) -> str:
    return re.sub(r"\s", "", str(text)).casefold()


def _is_meant(written: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    length = min(len(written), len(parts))
    tails = (names[len(names) - length :] for names in (written, parts))
    ours, theirs = ([name.casefold() for name in tail] for tail in tails)
    return ours == theirs
