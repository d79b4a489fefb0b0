"""One event, its records: by TrueWatch's page, and whatever shape the event has."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.record_counts import count_records, events_of
from support.repository import ROOT

from truewatch_lineage.receiver.ids import dataset_id, job_id
from truewatch_lineage.receiver.lineage import shape
from truewatch_lineage.receiver.projection import MAX_RECORDS, Projector, ingest_error, project
from truewatch_lineage.receiver.projection.values import CUT, MAX_TEXT

JOB = {"namespace": "ns", "name": "job"}
RUN = {"run": {"runId": "r1"}, "job": JOB}
TABLE = {"namespace": "db", "name": "t"}
OTHER = {"namespace": "db", "name": "u"}
SCHEMA = {"fields": [{"name": "a", "type": "INT"}, {"name": "b"}]}
ORIGIN = {**OTHER, "field": "x"}
LINEAGE = {"fields": {"a": {"inputFields": [ORIGIN]}}}


def with_facets(dataset, **facets):
    """Return a dataset with facets."""
    return {**dataset, "facets": facets}


COUNTS = [
    ("a run event without datasets", RUN, {"event": 1}),
    ("inputs and outputs are edges", {**RUN, "inputs": [TABLE], "outputs": [OTHER]}, {"event": 1, "dataset_edge": 2}),
    ("in and out of the same table", {**RUN, "inputs": [TABLE], "outputs": [TABLE]}, {"event": 1, "dataset_edge": 2}),
    ("a dataset named twice is one edge", {**RUN, "inputs": [TABLE, TABLE]}, {"event": 1, "dataset_edge": 1}),
    ("a job event has a job record", {"job": JOB, "inputs": [TABLE]}, {"event": 1, "job": 1, "dataset_edge": 1}),
    ("a dataset event has a dataset record", {"dataset": TABLE}, {"event": 1, "dataset": 1}),
    (
        "a schema is a schema version",
        {**RUN, "outputs": [with_facets(TABLE, schema=SCHEMA)]},
        {"event": 1, "dataset_edge": 1, "schema_version": 1},
    ),
    (
        "of a dataset event too",
        {"dataset": with_facets(TABLE, schema=SCHEMA, columnLineage=LINEAGE)},
        {"event": 1, "dataset": 1, "schema_version": 1, "field_edge": 1},
    ),
    (
        "no fields, no schema version",
        {"dataset": with_facets(TABLE, schema={"fields": []})},
        {"event": 1, "dataset": 1},
    ),
    (
        "each input field is a field edge, each once",
        {**RUN, "outputs": [with_facets(TABLE, columnLineage={"fields": {"a": {"inputFields": [ORIGIN, ORIGIN]}}})]},
        {"event": 1, "dataset_edge": 1, "field_edge": 1},
    ),
    (
        "what influences the whole dataset too",
        {**RUN, "outputs": [with_facets(TABLE, columnLineage={**LINEAGE, "dataset": [ORIGIN]})]},
        {"event": 1, "dataset_edge": 1, "field_edge": 2},
    ),
    (
        "a deleted facet is none",
        {"dataset": with_facets(TABLE, schema={**SCHEMA, "_deleted": True})},
        {"event": 1, "dataset": 1},
    ),
    (
        "nulls are nothing",
        {**RUN, "inputs": None, "outputs": [None, {**TABLE, "facets": None}]},
        {"event": 1, "dataset_edge": 1},
    ),
    (
        "null facets are nothing",
        {"dataset": with_facets(TABLE, schema=None, columnLineage=None)},
        {"event": 1, "dataset": 1},
    ),
    ("a dataset without a name is no edge", {**RUN, "inputs": [{"namespace": "db"}]}, {"event": 1}),
    ("odd types are nothing", {**RUN, "inputs": [{"namespace": 1, "name": []}], "outputs": {}}, {"event": 1}),
]


@pytest.mark.parametrize(("event", "counts"), [row[1:] for row in COUNTS], ids=[row[0] for row in COUNTS])
def test_records_by_type(event, counts) -> None:
    """T: "Without relevant inputs, outputs, or facets, the corresponding derived records are not created."."""
    assert project(event, "e").counts() == counts


def _facet(owner, name, facet):
    return {
        "run": {**RUN, "run": {"runId": "r1", "facets": {name: facet}}},
        "job": {**RUN, "job": {**JOB, "facets": {name: facet}}},
    }[owner]


FIELDS = [
    ("run", "parent", {"run": {"runId": "p"}, "job": {"namespace": "n", "name": "j"}}, "parent_run_id", "p"),
    ("run", "parent", {"job": {"namespace": "n", "name": "j"}}, "parent_job_id", job_id("n", "j")),
    ("run", "parentRun", {"run": {"runId": "p"}}, "parent_run_id", "p"),
    ("run", "parent", {"root": {"run": {"runId": "q"}, "job": {"namespace": "n", "name": "j"}}}, "root_run_id", "q"),
    ("run", "nominalTime", {"nominalStartTime": "2026"}, "nominal_start_time", "2026"),
    ("run", "errorMessage", {"message": "boom"}, "error_message", "boom"),
    ("run", "processing_engine", {"version": "4.0", "name": "spark"}, "processing_engine_name", "spark"),
    ("run", "tags", {"tags": [{"key": "a", "value": "b"}]}, "run_tags", '[{"key":"a","value":"b"}]'),
    ("run", "extractionError", {"totalTasks": 3}, "extraction_error_total_tasks", 3),
    ("job", "jobType", {"jobType": "TASK", "integration": "AIRFLOW"}, "job_type", "TASK"),
    ("job", "sql", {"query": "SELECT 1"}, "job_sql", "SELECT 1"),
    ("job", "sql", {"query": "x" * (MAX_TEXT + 1)}, "job_sql", "x" * MAX_TEXT + CUT),
    ("job", "sql", {"query": None}, "job_sql", None),
    ("job", "sql", [], "job_sql", None),
]


@pytest.mark.parametrize(("owner", "facet", "value", "field", "expected"), FIELDS)
def test_facets_become_fields_of_the_event_record(owner, facet, value, field, expected) -> None:
    """T: "Job names, state, and facet-extracted fields are mainly on event"."""
    assert project(_facet(owner, facet, value), "e").records[0].get(field) == expected


def test_identity_is_on_every_record() -> None:
    """T: "Identity fields propagate to records derived from the same event."."""
    event = {
        **RUN,
        "source": "mine",
        "eventTime": "2026",
        "outputs": [with_facets(TABLE, schema=SCHEMA, columnLineage=LINEAGE)],
    }

    projection = project(event, "e1")

    assert projection.common == {
        "source": "run_event",
        "event_id": "e1",
        "event_time": "2026",
        "run_id": "r1",
        "src_source": "mine",
        "job_id": job_id("ns", "job"),
        "job_namespace": "ns",
        "job_name": "job",
    }
    assert {record.get("dataset_id") for record in projection.records[1:]} == {dataset_id("db", "t")}


@pytest.mark.parametrize("source", [1, None, ["x"], {}])
def test_only_a_text_source_is_kept(source) -> None:
    """T: "If the original top-level JSON contains a string source, projected records preserve it as src_source"."""
    assert "src_source" not in project({**RUN, "source": source}, "e").common


def test_a_field_edge_names_both_ends_and_what_was_done() -> None:
    """Column-level lineage, from input to output, with the first transformation and all as JSON."""
    steps = [{"type": "DIRECT", "subtype": "AGGREGATION", "masking": False}, {"type": "INDIRECT", "masking": True}]
    lineage = {"fields": {"a": {"inputFields": [{**ORIGIN, "transformations": steps}]}}}

    record = project({"dataset": with_facets(TABLE, columnLineage=lineage)}, "e").records[-1]

    assert record["field_name"] == "a"
    assert (record["input_dataset_id"], record["input_field_name"]) == (dataset_id("db", "u"), "x")
    assert (record["transformation_type"], record["transformation_subtype"]) == ("DIRECT", "AGGREGATION")
    assert record["transformation_masking"] is True
    assert json.loads(record["transformations"]) == steps


def test_statistics_are_on_the_edge() -> None:
    """From inputFacets and outputFacets; from facets where a producer puts them there."""
    outputs = [{**TABLE, "outputFacets": {"outputStatistics": {"rowCount": 5, "size": 0}}}]
    inputs = [with_facets(OTHER, dataQualityMetrics={"rowCount": 7})]

    edges = project({**RUN, "inputs": inputs, "outputs": outputs}, "e").records[1:]

    assert [edge["edge_direction"] for edge in edges] == ["input", "output"]
    assert edges[0]["quality_row_count"] == 7
    assert (edges[1]["output_row_count"], edges[1]["output_bytes"]) == (5, 0)


def test_a_schema_version_is_told_apart_by_names_and_types() -> None:
    """The same columns are the same version; a changed type is another; descriptions don't count."""
    ids = [
        project({"dataset": with_facets(TABLE, schema={"fields": fields})}, "e").records[-1]["schema_version_id"]
        for fields in (
            [{"name": "a", "type": "INT"}],
            [{"name": "a", "type": "INT", "description": "new"}],
            [{"name": "a", "type": "TEXT"}],
        )
    ]

    assert ids[0] == ids[1] != ids[2]


def test_more_records_than_the_limit_are_counted() -> None:
    """300 columns times 300 origins: the first records are made, and the event record says how many were not."""
    origins = [{**OTHER, "field": f"x{number}"} for number in range(300)]
    lineage = {"fields": {f"c{number}": {"inputFields": origins} for number in range(300)}}

    projection = project({"dataset": with_facets(TABLE, columnLineage=lineage)}, "e")

    assert len(projection.records) == MAX_RECORDS
    assert projection.records[0]["records_omitted"] == projection.omitted == 300 * 300 + 2 - MAX_RECORDS


def test_an_ingest_error_holds_no_payload() -> None:
    """T: "They never store the rejected raw payload."."""
    projection = ingest_error("dataway.invalidField", "dataway", "2026", payload_hash="ab", payload_size=9)

    assert projection.common == {"source": "unknown_event"}
    assert projection.records == [
        {
            "lineage_record_type": "ingest_error",
            "event_id": "ab",
            "ingest_error_reason_code": "dataway.invalidField",
            "ingest_error_payload_hash": "ab",
            "ingest_error_payload_size": 9,
            "ingest_error_destination": "dataway",
            "ingest_error_time": "2026",
        }
    ]


def test_recorded_events_have_the_records_an_independent_count_says() -> None:
    """Airflow, dbt and Spark as recorded: every type, counted by other code."""
    bodies = list(events_of((ROOT / "tests" / "data" / "recorded").iterdir()))
    total: dict[str, int] = {}
    for body in set(bodies):
        for kind, count in project(json.loads(body), "e").counts().items():
            total[kind] = total.get(kind, 0) + count

    assert total == count_records(bodies)


def test_what_is_remembered_of_a_job_changes_nothing() -> None:
    """Events in their order through one projector: the same records as each for itself."""
    projector = Projector()
    for body in events_of((ROOT / "tests" / "data" / "recorded").iterdir()):
        event = json.loads(body)
        assert projector.project(event, "e", shape(event)) == project(event, "e")


DIFFERENT = [
    {**RUN, "inputs": [TABLE]},
    {**RUN, "outputs": [TABLE]},
    {**RUN, "inputs": [OTHER]},
    {**RUN, "inputs": [with_facets(TABLE, schema=SCHEMA)]},
    {**RUN, "inputs": [with_facets(TABLE, columnLineage=LINEAGE)]},
    {"job": JOB, "inputs": [TABLE]},
    {**RUN, "job": {**JOB, "name": "other"}, "inputs": [TABLE]},
    {"dataset": TABLE},
    {"dataset": with_facets(TABLE, schema=SCHEMA)},
    {**_facet("job", "jobType", {"jobType": "TASK"}), "inputs": [TABLE]},
]


def test_events_that_say_different_things_have_different_shapes() -> None:
    """Whatever decides the schemas, the column lineage or the graph; a new run of the same does not."""
    assert len({shape(event) for event in DIFFERENT}) == len(DIFFERENT)
    assert shape(DIFFERENT[0]) == shape({**DIFFERENT[0], "run": {"runId": "another"}, "eventType": "FAIL"})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "facets",
                    "fields",
                    "inputFields",
                    "namespace",
                    "name",
                    "field",
                    "schema",
                    "columnLineage",
                    "parent",
                    "job",
                    "run",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["run", "job", "dataset", "inputs", "outputs", "eventType"]), _JSON))
def test_no_shape_makes_it_raise(event) -> None:
    """Whatever the event holds, there is an event record first, and flat values only."""
    projection = project(event, "e")

    assert projection.records[0]["lineage_record_type"] == "event"
    values = [value for record in projection.records for value in record.values()]
    assert all(isinstance(value, (str, int, float, bool)) for value in values)
