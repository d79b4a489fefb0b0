"""The facets of runs, jobs and datasets, as plain dicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from truewatch_lineage_dbt.lineage.columns import ColumnLineage
from truewatch_lineage_dbt.lineage.facts import JobRun, Node, Outcome, Run
from truewatch_lineage_dbt.lineage.sql.model import Inputs, Usage

PRODUCER: Final = "urn:x-openlineage-producer:truewatch-lineage"
SPEC: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"

_STANDARD: Final = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "dataQualityAssertions": "1-1-0/DataQualityAssertionsDatasetFacet",
    "dataQualityMetrics": "1-0-3/DataQualityMetricsInputDatasetFacet",
    "dataSource": "1-0-1/DatasourceDatasetFacet",
    "datasetType": "1-0-1/DatasetTypeDatasetFacet",
    "documentation": "1-1-0/DocumentationDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "externalQuery": "1-0-2/ExternalQueryRunFacet",
    "jobDocumentation": "1-1-0/DocumentationJobFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "ownership": "1-0-1/OwnershipJobFacet",
    "parent": "1-2-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sourceCode": "1-0-1/SourceCodeJobFacet",
    "sql": "1-1-0/SQLJobFacet",
    "tags": "1-0-0/TagsJobFacet",
    "test": "1-0-1/TestRunFacet",
}
"""The version and name of each facet's schema, as the OpenLineage specification publishes them."""

_DBT: Final = "https://github.com/OpenLineage/OpenLineage/tree/main/integration/common/src/openlineage/schema/"
"""Where upstream publishes the facets that only dbt has."""


def facet(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a facet of the specification; fields that are None are left out."""
    path, _, name = _STANDARD[kind].partition("/")
    url = f"https://openlineage.io/spec/facets/{path}/{name}.json#/$defs/{name}"
    return _facet(url, fields)


def _facet(url: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in fields.items() if value is not None}
    return {"_producer": PRODUCER, "_schemaURL": url, **given}


def run_facets(run: Run, parent: JobRun | None, root: JobRun | None) -> dict[str, Any]:
    """Return what every run of an invocation carries: its parent, dbt's version, and what the invocation was."""
    found = {
        "processing_engine": facet(
            "processing_engine", name="dbt", version=run.dbt_version or "unknown", openlineageAdapterVersion=_version()
        ),
        "dbt_run": _facet(
            f"{_DBT}dbt-run-run-facet.json",
            {
                "invocation_id": run.invocation_id or run.run_id,
                "project_name": run.project_name,
                "project_version": run.project_version,
                "profile_name": run.profile_name,
                "target": run.target,
                "command": run.command,
                "dbt_runtime": "core",
                "full_refresh": run.full_refresh,
                "vars": {name: value for name, value in run.vars.items() if name in run.allowed_vars} or None,
            },
        ),
    }
    if parent is not None:
        found["parent"] = facet("parent", **_job_run(parent), root=_job_run(root or parent))
    return found


def outcome_facets(run: Run, outcome: Outcome, state: str) -> dict[str, Any]:
    """Return what only the end of a node tells: why it failed or was given up, and the query's id in the warehouse."""
    found = {}
    if state == "FAIL" or (state == "ABORT" and outcome.message):
        found["errorMessage"] = error(outcome.message or f"dbt says {outcome.status}, and no more.")
    query = outcome.adapter_response.get("query_id") or outcome.adapter_response.get("job_id")
    if isinstance(query, str) and query.casefold() != "n/a":
        found["externalQuery"] = facet("externalQuery", externalQueryId=query, source=run.dataset_namespace)
    return found


def error(message: str) -> dict[str, Any]:
    """Return the errorMessage facet."""
    return facet("errorMessage", message=message, programmingLanguage="sql")


def job_facets(run: Run, node: Node | None = None) -> dict[str, Any]:
    """Return the facets of a node's job, or of the invocation's own where there is no node."""
    kind = "JOB" if node is None else node.kind.upper()
    found = {"jobType": facet("jobType", processingType="BATCH", integration="DBT", jobType=kind)}
    if node is not None:
        found["dbt_node"] = _facet(
            f"{_DBT}dbt-node-job-facet.json",
            {name: node.raw.get(name) for name in ("original_file_path", "database", "schema", "alias", "unique_id")},
        )
        found.update(_code(run, node))
        found.update(_words(run, node))
    return found


def _code(run: Run, node: Node) -> dict[str, Any]:
    if node.sql:
        return {"sql": facet("sql", query=node.sql, dialect=run.adapter_type)}
    if node.code:
        return {"sourceCode": facet("sourceCode", language=node.language, sourceCode=node.code)}
    return {}


def _words(run: Run, node: Node) -> dict[str, Any]:
    """Return description, tags and owner; of ``meta`` only the keys that may be sent."""
    found = {}
    if node.raw.get("description"):
        found["documentation"] = facet("jobDocumentation", description=str(node.raw["description"]))
    tags = [{"key": str(tag), "value": "true", "source": "DBT"} for tag in node.raw.get("tags") or ()]
    meta = node.raw.get("meta") or node.config.get("meta") or {}
    tags += [
        {"key": str(key), "value": str(value), "source": "DBT_META"}
        for key, value in meta.items()
        if key in run.allowed_meta
    ]
    if tags:
        found["tags"] = facet("tags", tags=tags)
    owner = node.raw.get("owner")
    if isinstance(owner, Mapping) and (owner.get("name") or owner.get("email")):
        found["ownership"] = facet("ownership", owners=[{"name": str(owner.get("name") or owner["email"])}])
    return found


def dataset_facets(run: Run, node: Node, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the facets of a dataset, with the fields of its schema."""
    found = {"dataSource": facet("dataSource", name=run.dataset_namespace, uri=run.dataset_namespace)}
    if node.raw.get("description"):
        found["documentation"] = facet("documentation", description=str(node.raw["description"]))
    if fields:
        found["schema"] = facet("schema", fields=fields)
    if node.kind != "source":
        kind = "VIEW" if node.config.get("materialized") in {"view", "materialized_view"} else "TABLE"
        found["datasetType"] = facet("datasetType", datasetType=kind)
    return found


def schema_fields(
    names: tuple[str, ...], documented: Mapping[str, Mapping[str, Any]], catalog: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return a schema's fields: the known columns in order, with the types and words that catalog and docs have."""
    words = {name.casefold(): column for name, column in documented.items()}
    types = {name.casefold(): column for name, column in catalog.items()}
    known = names or tuple(catalog) or tuple(str(column.get("name", name)) for name, column in documented.items())
    fields = []
    for name in known:
        documentation, entry = words.get(name.casefold(), {}), types.get(name.casefold(), {})
        field = {
            "name": name,
            "type": entry.get("type") or documentation.get("data_type"),
            "description": documentation.get("description"),
        }
        fields.append({key: value for key, value in field.items() if value})
    return fields


def column_lineage(namespace: str, lineage: ColumnLineage) -> dict[str, Any]:
    """Return the columnLineage facet.

    In ``fields`` is what a column is made of and what decides its value, in ``dataset`` what decides about the rows.
    """
    fields = {str(column.name): {"inputFields": _inputs(namespace, column.inputs)} for column in lineage.columns}
    return facet("columnLineage", fields=fields, dataset=_inputs(namespace, lineage.influences) or None)


def statistics(outcome: Outcome) -> dict[str, Any]:
    """Return the outputStatistics facet where the adapter counted rows; many answer -1 for "not known".

    In dbt's log events every number is a float.
    """
    rows = outcome.adapter_response.get("rows_affected")
    if isinstance(rows, bool) or not isinstance(rows, (int, float)) or rows < 0:
        return {}
    return {"outputStatistics": facet("outputStatistics", rowCount=int(rows))}


def _inputs(namespace: str, inputs: Inputs) -> list[dict[str, Any]]:
    found = []
    for leaf, usages in sorted(inputs.items()):
        field: dict[str, Any] = {"namespace": namespace, "name": leaf.dataset, "field": leaf.column}
        if usages:
            field["transformations"] = [_transformation(usage) for usage in sorted(usages)]
        found.append(field)
    return found


def _transformation(usage: Usage) -> dict[str, Any]:
    found = {"type": "INDIRECT" if usage.indirect else "DIRECT", "subtype": usage.subtype}
    return {**found, "masking": True} if usage.masking else found


def _job_run(job_run: JobRun) -> dict[str, Any]:
    return {"run": {"runId": job_run.run_id}, "job": {"namespace": job_run.namespace, "name": job_run.name}}


@cache
def _version() -> str:
    try:
        return version("truewatch-lineage")
    except PackageNotFoundError:
        return "unknown"
