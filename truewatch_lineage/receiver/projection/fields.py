"""The table of record fields: which facet each comes from. docs/receiver.md shows it, and a test compares the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from truewatch_lineage.receiver.projection.values import Tree, Value, at, facets, flat


@dataclass(frozen=True, slots=True)
class FacetField:
    """One field that is taken from a facet.

    Attributes:
        name: The field's.
        facet: The facet's.
        path: Where in the facet.
    """

    name: str
    facet: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlainField:
    """One field that is not taken from a facet.

    Attributes:
        name: The field's.
        records: On which record types it is, in words.
        origin: What it holds.
    """

    name: str
    records: str
    origin: str


Table = Mapping[str, Sequence[FacetField]]
"""Rows by their facet."""


def _table(rows: str) -> Table:
    """Read lines of ``field facet path.in.facet``."""
    table: dict[str, list[FacetField]] = {}
    for name, facet, path in (line.split() for line in rows.strip().splitlines()):
        table.setdefault(facet, []).append(FacetField(name, facet, tuple(path.split("."))))
    return table


RUN: Final = _table("""
    parent_run_id                 parent             run.runId
    parent_job_namespace          parent             job.namespace
    parent_job_name               parent             job.name
    root_run_id                   parent             root.run.runId
    root_job_namespace            parent             root.job.namespace
    root_job_name                 parent             root.job.name
    nominal_start_time            nominalTime        nominalStartTime
    nominal_end_time              nominalTime        nominalEndTime
    error_message                 errorMessage       message
    error_language                errorMessage       programmingLanguage
    error_stack_trace             errorMessage       stackTrace
    extraction_error_total_tasks  extractionError    totalTasks
    extraction_error_failed_tasks extractionError    failedTasks
    processing_engine_name        processing_engine  name
    processing_engine_version     processing_engine  version
    adapter_version               processing_engine  openlineageAdapterVersion
    external_query_id             externalQuery      externalQueryId
    external_query_source         externalQuery      source
    run_tags                      tags               tags
""")
"""From ``run.facets``, on event."""

JOB: Final = _table("""
    job_type                      jobType             jobType
    job_integration               jobType             integration
    job_processing_type           jobType             processingType
    job_description               documentation       description
    job_owners                    ownership           owners
    job_tags                      tags                tags
    job_sql                       sql                 query
    job_sql_dialect               sql                 dialect
    source_code_language          sourceCode          language
    source_code_type              sourceCodeLocation  type
    source_code_url               sourceCodeLocation  url
    source_code_path              sourceCodeLocation  path
    source_code_version           sourceCodeLocation  version
    source_code_branch            sourceCodeLocation  branch
""")
"""From ``job.facets``, on event, and on job for JobEvents."""

DATASET: Final = _table("""
    dataset_description           documentation         description
    dataset_type                  datasetType           datasetType
    dataset_sub_type              datasetType           subType
    dataset_version               version               datasetVersion
    dataset_owners                ownership             owners
    dataset_tags                  tags                  tags
    dataset_symlinks              symlinks              identifiers
    datasource_name               dataSource            name
    datasource_uri                dataSource            uri
    storage_layer                 storage               storageLayer
    storage_file_format           storage               fileFormat
    catalog_name                  catalog               name
    catalog_framework             catalog               framework
    catalog_type                  catalog               type
    lifecycle_state               lifecycleStateChange  lifecycleStateChange
    previous_dataset_namespace    lifecycleStateChange  previousIdentifier.namespace
    previous_dataset_name         lifecycleStateChange  previousIdentifier.name
""")
"""From the dataset's ``facets``, on dataset and dataset_edge."""

INPUT: Final = _table("""
    input_row_count               inputStatistics        rowCount
    input_bytes                   inputStatistics        size
    input_file_count              inputStatistics        fileCount
    quality_row_count             dataQualityMetrics     rowCount
    quality_bytes                 dataQualityMetrics     bytes
    quality_file_count            dataQualityMetrics     fileCount
    quality_assertions            dataQualityAssertions  assertions
""")
"""From ``inputFacets``, or, as several producers do, ``facets`` of an input; on dataset_edge."""

OUTPUT: Final = _table("""
    output_row_count              outputStatistics  rowCount
    output_bytes                  outputStatistics  size
    output_file_count             outputStatistics  fileCount
""")
"""From ``outputFacets`` of an output; on dataset_edge."""

PLAIN: Final = tuple(
    PlainField(*(part.strip() for part in line.split("|")))
    for line in """
    source | all | run_event, job_event, dataset_event, or unknown_event on ingest_error
    lineage_record_type | all | event, job, dataset, dataset_edge, schema_version, field_edge or ingest_error
    event_id | all | sha256 of the event's decoded bytes, in hex
    event_time | all but ingest_error | eventTime
    run_id | all of a RunEvent | run.runId
    job_id | all of RunEvents and JobEvents | sha256 of ["job",namespace,name], 32 hex digits
    job_namespace | all of RunEvents and JobEvents | job.namespace
    job_name | all of RunEvents and JobEvents | job.name
    dataset_id | those about a dataset; all of a DatasetEvent | sha256 of ["dataset",namespace,name], 32 hex digits
    dataset_namespace | as dataset_id | the dataset's namespace
    dataset_name | as dataset_id | the dataset's name
    src_source | all but ingest_error | source of the original top-level JSON, where it is a text
    lineage_message | event | the complete event, redacted, as a JSON text
    event_type | event | eventType
    producer | event | producer
    schema_url | event | schemaURL
    parent_job_id | event | job_id of the parent facet's job
    root_job_id | event | job_id of the parent facet's root job
    inputs_count | event | distinct datasets of inputs
    outputs_count | event | distinct datasets of outputs
    records_omitted | event | records that were not made, past 10,000 of one event
    edge_direction | dataset_edge | input or output
    schema_version_id | schema_version | sha256 of the schema's names and types in order, 32 hex digits
    schema_field_count | schema_version | fields at the top level of the schema facet
    schema_fields | schema_version | "name:type" of each, as a JSON text
    field_name | field_edge | the column the facet columnLineage describes; absent where the whole dataset is influenced
    input_dataset_id | field_edge | dataset_id of inputFields' dataset
    input_dataset_namespace | field_edge | inputFields: namespace
    input_dataset_name | field_edge | inputFields: name
    input_field_name | field_edge | inputFields: field
    transformation_type | field_edge | its first transformation's type; or the field's transformationType
    transformation_subtype | field_edge | its first transformation's subtype
    transformation_description | field_edge | its description, or the field's transformationDescription
    transformation_masking | field_edge | whether one of them masks
    transformations | field_edge | all of them, as a JSON text, where there are several
    ingest_error_reason_code | ingest_error | the refusal's error_code
    ingest_error_payload_hash | ingest_error | sha256 of the decoded payload; absent where it never was whole
    ingest_error_payload_size | ingest_error | bytes of the decoded payload, or Content-Length where it was not decoded
    ingest_error_destination | ingest_error | whose rules refused it
    ingest_error_time | ingest_error | when
    """.strip().splitlines()
)

_ALIASES: Final = {"parentRun": "parent"}


def extract(table: Table, found: Tree) -> Iterator[tuple[str, Value]]:
    """Yield the fields that a table takes from facets; absent ones are left out.

    Args:
        table: Its rows by facet.
        found: Facets by name, as `facets` returns them.
    """
    for name, facet in found.items():
        for field in table.get(name, ()):
            if (value := flat(at(facet, field.path))) is not None:
                yield field.name, value


def run_facets(run: object) -> Tree:
    """Return a run's facets, with the names that older producers use replaced by the standard ones."""
    found = facets(run)
    return {_ALIASES.get(name, name): facet for name, facet in found.items()}
