"""Datasets as events have them: by name only, with their schema, or as a node has just written them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truewatch_lineage_dbt.lineage import facets
from truewatch_lineage_dbt.lineage.columns import ColumnReader
from truewatch_lineage_dbt.lineage.datasets import Project, name_of
from truewatch_lineage_dbt.lineage.facts import Node


class EventDatasets:
    """Makes the datasets of the events of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._namespace = project.run.dataset_namespace

    def named(self, node: Node) -> dict[str, Any]:
        """Return a dataset without facets."""
        return self._dataset(name_of(node.parts))

    def described(self, node: Node, reader: ColumnReader) -> dict[str, Any]:
        """Return a dataset with its schema, as far as it is known by now."""
        names = reader.shape(self._project, node).names
        fields = facets.schema_fields(names, node.columns, self._project.catalog_columns(node))
        return {**self.named(node), "facets": facets.dataset_facets(self._project.run, node, fields)}

    def written(self, node: Node, reader: ColumnReader, statistics: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ``inputs`` and ``outputs`` of a node that has made its table."""
        lineage = reader.read(self._project, node)
        inputs = [self.described(parent, reader) for parent in self._project.inputs(node)]
        output = self.described(node, reader)
        if lineage is not None:
            inputs += [self._dataset(name) for name in lineage.others]
            output["facets"]["columnLineage"] = facets.column_lineage(self._namespace, lineage)
        return {"inputs": inputs, "outputs": [{**output, "outputFacets": dict(statistics)}]}

    def _dataset(self, name: str) -> dict[str, Any]:
        return {"namespace": self._namespace, "name": name, "facets": {}}
