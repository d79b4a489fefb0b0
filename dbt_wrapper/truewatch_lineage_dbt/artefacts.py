"""The files dbt leaves in its target folder, and whether they are this invocation's."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from truewatch_lineage_dbt.lineage.datasets import SECTIONS

_KEPT: Final = ("metadata", *SECTIONS)
_CLOCK_SECONDS: Final = 0.05
"""File systems stamp files by a clock that may be some milliseconds behind."""

STILL_SECONDS: Final = 3.0
"""Seconds after which a broken manifest that nobody writes on is one for good."""

_LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Artefacts:
    """What was found; a file that is absent, older or unreadable is an empty mapping.

    Attributes:
        manifest: Of ``manifest.json``, only what lineage comes from.
        results: Of ``run_results.json``, or of ``sources.json`` where that is the newer one.
        catalog: Of ``catalog.json``.
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    catalog: Mapping[str, Any] = field(default_factory=dict)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the manifest says of its invocation."""
        return _mapping(self.manifest.get("metadata"))

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The flags dbt ran with, ``which`` among them, as the results say."""
        return _mapping(self.results.get("args"))

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """The results of nodes, without what has not the shape of one."""
        found = self.results.get("results")
        return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

    @property
    def generated_at(self) -> str | None:
        """When the results were written."""
        found = _mapping(self.results.get("metadata")).get("generated_at")
        return str(found) if found else None

    @property
    def invocation_id(self) -> str | None:
        """The id, dbt's, of the invocation whose results these are."""
        found = _mapping(self.results.get("metadata")).get("invocation_id") or self.metadata.get("invocation_id")
        return str(found) if found else None


def read_artefacts(folder: Path, since: float) -> Artefacts:
    """Read what dbt wrote.

    Args:
        folder: dbt's target folder.
        since: Seconds since the epoch; a file that was last written before is another invocation's. 0 takes all.
    """
    newest = max(("run_results.json", "sources.json"), key=lambda name: _written(folder / name))
    return Artefacts(
        manifest=read_manifest(folder / "manifest.json", since),
        results=read_json(folder / newest, since),
        catalog=read_json(folder / "catalog.json", since),
    )


def read_manifest(path: Path, since: float = 0.0) -> dict[str, Any]:
    """Read a manifest, without its macros and documentation, which are most of it."""
    tree = read_json(path, since)
    return {key: tree[key] for key in _KEPT if key in tree}


def await_manifest(path: Path, still: float = STILL_SECONDS) -> dict[str, Any]:
    """Read a manifest that is there, or will be: dbt writes it anew, piece by piece and in place, at a run's end.

    Args:
        path: Of the manifest.
        still: Seconds without a change of the file after which it is given up.

    Returns:
        As `read_manifest`; empty where it stays broken.
    """
    before, since = None, time.monotonic()
    while not (tree := read_manifest(path)) and time.monotonic() - since < still:
        time.sleep(_LOOK_SECONDS)
        if (now := _state(path)) != before:
            before, since = now, time.monotonic()
    return tree


def read_json(path: Path, since: float = 0.0) -> dict[str, Any]:
    """Return a file's JSON object, or an empty one where there is none, or none that is new enough."""
    if _written(path) < since - _CLOCK_SECONDS:
        return {}
    try:
        tree = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return -1.0


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
