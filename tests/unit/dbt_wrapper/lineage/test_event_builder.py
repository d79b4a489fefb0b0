"""The events of a run of dbt, built from a manifest and what happened."""

from __future__ import annotations

import uuid

import pytest
from support.dbt_manifest import AT, RUN_ID, manifest, node, run

from truewatch_lineage.events.validate import validate
from truewatch_lineage_dbt.lineage import EventBuilder, JobRun, Outcome

ENDED = "2026-03-01T12:00:05Z"
SOURCE = node("source.shop.raw.orders", schema="raw", freshness={"warn_after": {"count": 6, "period": "hour"}})
SEED = node("seed.shop.codes")
MODEL = node(
    "model.shop.orders",
    "select id, upper(name) as name from db.raw.orders where id > 0",
    "source.shop.raw.orders",
    description="All orders.",
    tags=["daily"],
    meta={"owner": "sales", "password": "hunter2"},
    original_file_path="models/orders.sql",
    columns={"id": {"name": "id", "data_type": "integer", "description": "Key."}},
)
VIEW = node("model.shop.names", "select name from db.main.orders", "model.shop.orders", config={"materialized": "view"})
EPHEMERAL = node(
    "model.shop.inlined", "select id from db.main.orders", "model.shop.orders", config={"materialized": "ephemeral"}
)
TEST = node(
    "test.shop.not_null_orders_id.abc",
    "select id from db.main.orders where id is null",
    "model.shop.orders",
    "seed.shop.codes",
    name="not_null_orders_id",
    schema="main_dbt_test__audit",
    test_metadata={"name": "not_null", "kwargs": {"column_name": "id"}},
    attached_node="model.shop.orders",
    config={"severity": "ERROR", "error_if": "!= 0"},
)
SINGULAR = node(
    "test.shop.assert_all",
    "select 1 from db.main.orders, db.main.codes",
    "model.shop.orders",
    "seed.shop.codes",
    config={"severity": "warn", "warn_if": "> 10"},
)
UNIT_TEST = node("unit_test.shop.orders.case", None, "model.shop.orders")
EXPOSURE = {
    "unique_id": "exposure.shop.board",
    "resource_type": "exposure",
    "name": "board",
    "owner": {"name": "Sales", "email": "sales@example.com"},
    "depends_on": {"nodes": ["model.shop.orders"]},
}
ALL = manifest(SOURCE, SEED, MODEL, VIEW, EPHEMERAL, TEST, SINGULAR, UNIT_TEST, EXPOSURE)
RUNNABLE = [one["unique_id"] for one in (SOURCE, SEED, MODEL, VIEW, TEST, SINGULAR, UNIT_TEST)]


def builder(**more):
    """Return a builder with all the nodes above."""
    return EventBuilder(run(**more), ALL)


def ended(unique_id, status="success", **more):
    """Return the one terminal event of a node."""
    (event,) = builder().node_finished(unique_id, Outcome(status, ENDED, **more))
    return event


def names(datasets):
    """Return datasets' names, all of which have the target's namespace."""
    assert {dataset["namespace"] for dataset in datasets} <= {"duckdb://shop.duckdb"}
    return [dataset["name"] for dataset in datasets]


def test_run_has_a_start_before_there_is_a_manifest():
    """Tell that dbt has started while nothing else is known."""
    (event,) = EventBuilder(run(dbt_version=None, adapter_type=None)).run_started(AT)
    assert (event["eventType"], event["eventTime"]) == ("START", AT)
    assert event["run"]["runId"] == RUN_ID
    assert (event["job"]["namespace"], event["job"]["name"]) == ("team", "dbt-run-shop")
    assert "parent" not in event["run"]["facets"]


@pytest.mark.parametrize("state", ["COMPLETE", "FAIL", "ABORT"])
def test_run_has_one_end(state):
    """Tell how dbt ended, and why."""
    *_, event = EventBuilder(run()).run_finished(state, ENDED, "Compilation Error")
    assert event["eventType"] == state
    assert event["run"]["facets"]["errorMessage"]["message"] == "Compilation Error"


def test_parents():
    """Put the invocation under what started it, the nodes under the invocation, and all under one root."""
    parent, root = JobRun("airflow", "dag.task", str(uuid.UUID(int=1))), JobRun("airflow", "dag", str(uuid.UUID(int=2)))
    made = builder(parent=parent, root=root)
    (start,), (first,) = made.run_started(AT), made.node_started("model.shop.orders", AT)
    over, under = start["run"]["facets"]["parent"], first["run"]["facets"]["parent"]
    assert over["job"] == {"namespace": "airflow", "name": "dag.task"}
    assert under["job"] == {"namespace": "team", "name": "dbt-run-shop"}
    assert under["run"] == {"runId": RUN_ID}
    assert over["root"]["job"] == under["root"]["job"] == {"namespace": "airflow", "name": "dag"}


@pytest.mark.parametrize(
    ("unique_id", "name"),
    [
        ("model.shop.orders", "db.main.shop.orders"),
        ("seed.shop.codes", "db.main.shop.codes"),
        ("test.shop.not_null_orders_id.abc", "test.shop.not_null_orders_id.abc"),
        ("unit_test.shop.orders.case", "unit_test.shop.orders.case"),
        ("source.shop.raw.orders", "source.shop.raw.orders"),
    ],
)
@pytest.mark.parametrize("command", ["run", "build", "test"])
def test_job_name_is_the_same_in_all_commands(unique_id, name, command):
    """Name a node's job without regard to the command."""
    (event,) = builder(command=command).node_started(unique_id, AT)
    assert event["job"]["name"] == name


def test_start_and_end_are_of_one_run():
    """Give a node's events one run id, another to each node, the same whenever they are built."""
    (start,), (end,) = builder().node_started("model.shop.orders", AT), [ended("model.shop.orders")]
    (other,) = builder().node_started("model.shop.names", AT)
    assert start["run"]["runId"] == end["run"]["runId"] != other["run"]["runId"]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("success", "COMPLETE"),
        ("pass", "COMPLETE"),
        ("warn", "COMPLETE"),
        ("no-op", "COMPLETE"),
        ("error", "FAIL"),
        ("fail", "FAIL"),
        ("runtime error", "FAIL"),
        ("partial success", "FAIL"),
        ("skipped", "ABORT"),
    ],
)
def test_state_by_status(status, state):
    """End a node's run by dbt's word for it, with the error's message where it failed."""
    event = ended("model.shop.orders", status, message="Database Error")
    assert event["eventType"] == state
    assert event["run"]["facets"].get("errorMessage", {}).get("message") == (
        None if state == "COMPLETE" else "Database Error"
    )


@pytest.mark.parametrize(("status", "told"), [("error", "dbt says error, and no more."), ("skipped", None)])
def test_end_without_a_message(status, told):
    """Give a failure a message where dbt has none; what is skipped needs none."""
    assert ended("model.shop.orders", status)["run"]["facets"].get("errorMessage", {}).get("message") == told


def test_model_has_its_lineage():
    """Tell what a model read and wrote, of which columns, and how many rows."""
    event = ended("model.shop.orders", adapter_response={"rows_affected": 7, "query_id": "q-1"})
    assert names(event["inputs"]) == ["db.raw.orders"]
    (output,) = event["outputs"]
    assert output["name"] == "db.main.orders"
    assert output["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "integer", "description": "Key."},
        {"name": "name"},
    ]
    lineage = output["facets"]["columnLineage"]
    source = {"namespace": "duckdb://shop.duckdb", "name": "db.raw.orders"}
    assert lineage["fields"] == {
        "id": {
            "inputFields": [{**source, "field": "id", "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]}]
        },
        "name": {
            "inputFields": [
                {**source, "field": "name", "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]}
            ]
        },
    }
    assert lineage["dataset"] == [
        {**source, "field": "id", "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}]}
    ]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 7
    assert event["run"]["facets"]["externalQuery"]["externalQueryId"] == "q-1"
    assert event["job"]["facets"]["sql"]["dialect"] == "duckdb"
    assert event["job"]["facets"]["documentation"]["description"] == "All orders."


def test_rows_of_a_log_event():
    """Take a whole number that a log event has as a float."""
    event = ended("model.shop.orders", adapter_response={"rows_affected": 7.0})
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 7


@pytest.mark.parametrize("rows", [-1, None, "7", True])
def test_rows_that_the_adapter_does_not_know(rows):
    """Leave row counts out that are none."""
    assert ended("model.shop.orders", adapter_response={"rows_affected": rows})["outputs"][0]["outputFacets"] == {}


@pytest.mark.parametrize("status", ["error", "skipped"])
def test_model_that_was_not_built_names_its_datasets_only(status):
    """Claim no schema, columns or rows of a table that was not written."""
    event = ended("model.shop.orders", status, adapter_response={"rows_affected": 7})
    assert names(event["inputs"]) == ["db.raw.orders"]
    assert event["outputs"] == [{"namespace": "duckdb://shop.duckdb", "name": "db.main.orders", "facets": {}}]


def test_meta_is_sent_by_its_allowed_keys_only():
    """Keep what ``meta`` holds at home, but for what is asked for."""
    assert "hunter2" not in str(ended("model.shop.orders"))
    (event,) = builder(allowed_meta=frozenset({"owner"})).node_started("model.shop.orders", AT)
    assert "hunter2" not in str(event)
    assert event["job"]["facets"]["tags"]["tags"] == [
        {"key": "daily", "value": "true", "source": "DBT"},
        {"key": "owner", "value": "sales", "source": "DBT_META"},
    ]


def test_vars_are_sent_by_their_allowed_names_only():
    """Keep ``--vars`` at home, but for what is asked for."""
    given = {"day": "2026-03-01", "password": "hunter2"}
    (event,) = builder(vars=given).run_started(AT)
    assert "vars" not in event["run"]["facets"]["dbt_run"]
    (event,) = builder(vars=given, allowed_vars=frozenset({"day"})).run_started(AT)
    assert event["run"]["facets"]["dbt_run"]["vars"] == {"day": "2026-03-01"}


def test_generic_test_says_what_it_found_of_the_tested_dataset():
    """Put a test's answer on the dataset it was written at, in the words of the specification, and write nothing."""
    event = ended("test.shop.not_null_orders_id.abc", "fail", failures=3, message="Got 3 results")
    assert event["eventType"] == "FAIL"
    assert names(event["inputs"]) == ["db.main.orders", "db.main.codes"]
    tested, other = event["inputs"]
    (assertion,) = tested["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert assertion == {
        "assertion": "not_null",
        "name": "not_null_orders_id",
        "success": False,
        "column": "id",
        "severity": "error",
        "actual": "3",
        "expected": "0",
    }
    assert "inputFacets" not in other
    assert event["outputs"] == []
    assert event["run"]["facets"]["test"]["tests"][0]["status"] == "fail"


def test_singular_test_says_what_it_found_of_all_it_reads():
    """Put the answer of a test in plain SQL on each dataset that it reads; a warning is no failure of the run."""
    event = ended("test.shop.assert_all", "warn", failures=12)
    assert event["eventType"] == "COMPLETE"
    assert names(event["inputs"]) == ["db.main.orders", "db.main.codes"]
    for dataset in event["inputs"]:
        (assertion,) = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
        assert assertion == {
            "assertion": "assert_all",
            "name": "assert_all",
            "success": False,
            "severity": "warn",
            "actual": "12",
            "expected": "not > 10",
        }


@pytest.mark.parametrize("status", ["skipped", "error"])
def test_test_without_an_answer_says_nothing_of_the_data(status):
    """Make no assertion of a test that was skipped or broke."""
    assert all("inputFacets" not in dataset for dataset in ended("test.shop.assert_all", status)["inputs"])


def test_unit_test_reads_no_dataset():
    """Give a unit test its job and answer, and no lineage."""
    event = ended("unit_test.shop.orders.case", "pass")
    assert (event["inputs"], event["outputs"]) == ([], [])
    assert event["run"]["facets"]["test"]["tests"][0]["type"] == "unit"


def test_freshness_is_an_assertion_on_the_source():
    """Say how old a source's newest row is."""
    found = {"max_loaded_at": "2026-03-01T05:00:00Z", "age": 25205.0}
    event = ended("source.shop.raw.orders", "warn", freshness=found)
    (source,) = event["inputs"]
    assert source["name"] == "db.raw.orders"
    (assertion,) = source["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert assertion == {
        "assertion": "freshness",
        "success": False,
        "severity": "warn",
        "expected": "warn after 6 hours",
        "actual": "25205 s",
    }
    assert source["inputFacets"]["dataQualityMetrics"]["lastUpdated"] == "2026-03-01T05:00:00Z"


@pytest.mark.parametrize("unique_id", ["model.shop.inlined", "exposure.shop.board", "model.shop.unknown"])
def test_what_does_not_run_has_no_run(unique_id):
    """Make no run of ephemeral models, exposures and what the manifest does not know."""
    assert builder().node_started(unique_id, AT) == []
    assert builder().node_finished(unique_id, Outcome("success", ENDED)) == []


@pytest.mark.parametrize(("built", "told"), [("model.shop.orders", ["exposure.shop.board"]), ("model.shop.names", [])])
def test_exposure_is_told_after_what_it_depends_on_was_built(built, told):
    """Send an exposure as a job that reads, once something it reads is new."""
    made = builder()
    made.node_finished(built, Outcome("success", ENDED))
    *jobs, end = made.run_finished("COMPLETE", ENDED)
    assert [job["job"]["name"] for job in jobs] == told
    assert end["eventType"] == "COMPLETE"
    for job in jobs:
        assert "run" not in job
        assert names(job["inputs"]) == ["db.main.orders"]
        assert job["job"]["facets"]["ownership"]["owners"] == [{"name": "Sales"}]


def test_exposure_of_a_metric_reads_its_models():
    """Go through metrics and semantic models to the tables behind them."""
    metric = {"unique_id": "metric.shop.sum", "depends_on": {"nodes": ["semantic_model.shop.orders"]}}
    semantic = {"unique_id": "semantic_model.shop.orders", "depends_on": {"nodes": ["model.shop.orders"]}}
    exposure = {**EXPOSURE, "depends_on": {"nodes": ["metric.shop.sum"]}}
    found = manifest(MODEL, exposure)
    found |= {"metrics": {"metric.shop.sum": metric}, "semantic_models": {"semantic_model.shop.orders": semantic}}
    made = EventBuilder(run(), found)
    made.node_finished("model.shop.orders", Outcome("success", ENDED))
    job, _ = made.run_finished("COMPLETE", ENDED)
    assert names(job["inputs"]) == ["db.main.orders"]


def test_jobs_without_a_run():
    """Tell the lineage of all that makes or reads a table, as after ``dbt compile``."""
    events = builder().job_events(AT)
    assert [event["job"]["name"] for event in events] == [
        "db.main.shop.codes",
        "db.main.shop.orders",
        "db.main.shop.names",
        "exposure.shop.board",
    ]
    assert "columnLineage" in events[2]["outputs"][0]["facets"]
    assert events[2]["outputs"][0]["facets"]["datasetType"]["datasetType"] == "VIEW"


def test_time_without_an_offset_is_utc():
    """Say the offset that dbt's log events leave out."""
    (event,) = builder().node_started("model.shop.orders", "2026-03-01T12:00:00.123456")
    assert event["eventTime"] == "2026-03-01T12:00:00.123456Z"
    (event,) = builder().node_started("model.shop.orders", "2026-03-01T12:00:00+02:00")
    assert event["eventTime"] == "2026-03-01T12:00:00+02:00"


def everything():
    """Return every event of every kind of node and end."""
    made = builder(
        parent=JobRun("airflow", "dag.task", RUN_ID), full_refresh=True, vars={"a": 1}, allowed_vars=frozenset({"a"})
    )
    events = [*made.run_started(AT), *made.job_events(AT)]
    freshness = {"max_loaded_at": AT, "age": 1.0}
    response = {"rows_affected": 1, "query_id": "q"}
    for unique_id in RUNNABLE:
        events += made.node_started(unique_id, AT)
        for status in ("success", "pass", "fail", "skipped", "error"):
            outcome = Outcome(status, ENDED, failures=1, freshness=freshness, adapter_response=response)
            events += made.node_finished(unique_id, outcome)
    return [*events, *made.run_finished("FAIL", ENDED, "It failed.")]


@pytest.mark.parametrize("destination", ["dataway", "datakit", "openlineage"])
def test_all_events_are_valid(destination):
    """Pass a destination's checks without a warning."""
    events = everything()
    assert [validate(event, destination) for event in events] == [[]] * len(events)


def test_run_events_are_valid_at_portal():
    """Pass Portal's checks but for the schemaURL, which is replaced on the way to it."""
    found = [fault for event in everything() if "run" in event for fault in validate(event, "portal")]
    assert {fault.path for fault in found} == {"$.schemaURL"}


def facets(event):
    """Yield ``(name, facet)`` of all that an event carries."""
    holders = [event["job"], event.get("run", {}), *event["inputs"], *event["outputs"]]
    for holder in holders:
        for key in ("facets", "inputFacets", "outputFacets"):
            yield from holder.get(key, {}).items()


SPECIFIED = {
    "columnLineage": "fields! dataset",
    "dataQualityAssertions": "assertions!",
    "dataQualityMetrics": "columnMetrics! lastUpdated",
    "dataSource": "name uri",
    "datasetType": "datasetType!",
    "documentation": "description!",
    "errorMessage": "message! programmingLanguage!",
    "externalQuery": "externalQueryId! source!",
    "jobType": "processingType! integration! jobType",
    "outputStatistics": "rowCount",
    "ownership": "owners",
    "parent": "run! job! root",
    "processing_engine": "version! name openlineageAdapterVersion",
    "schema": "fields",
    "sql": "query! dialect",
    "tags": "tags",
    "test": "tests!",
}
"""The fields of the specification's facets that are used here; ``!`` marks those that it requires."""


def test_facets_are_those_of_the_specification():
    """Use the specification's facets with its fields, and upstream's own two."""
    seen = {}
    for event in everything():
        for name, facet in facets(event):
            seen.setdefault(name, []).append(facet)
    assert set(seen) == {*SPECIFIED, "dbt_node", "dbt_run"}
    for name, words in SPECIFIED.items():
        required = {word.removesuffix("!") for word in words.split() if word.endswith("!")}
        allowed = {word.removesuffix("!") for word in words.split()}
        for facet in seen[name]:
            fields = {field for field in facet if not field.startswith("_")}
            assert required <= fields <= allowed, name
            assert facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")
