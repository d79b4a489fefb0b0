"""The receiver's API: its answers are what /openapi.json says, over the events of Airflow, dbt and Spark."""

from __future__ import annotations

import http.client
import json
import time
from urllib.parse import quote, urlencode

import pytest
from support.json_schema import faults
from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Receiver
from support.record_counts import count_records, events_of
from support.repository import ROOT
from tables.receiver_rules import EVENT, event

RECORDED = ROOT / "tests" / "data" / "recorded"


@pytest.fixture(scope="module")
def full():
    """A receiver that holds all recorded events, loaded from their folder, one of each kind and one refusal."""
    with Receiver(args=["--load", str(RECORDED)]) as running:
        running.post(EVENT, PORTAL)
        running.post(event({"run": ..., "eventType": ..., "inputs.0.facets": {"schema": {"fields": []}}}))
        running.post(event({"run": ..., "job": ..., "eventType": ..., "dataset": {"namespace": "db", "name": "alone"}}))
        running.post(event({"producer": ...}))
        yield running


@pytest.fixture(scope="module")
def description(full):
    """What /openapi.json says."""
    return full.request("GET", "/openapi.json").json


@pytest.fixture
def receiver():
    """An empty receiver."""
    with Receiver() as running:
        yield running


def get(receiver, path, **query):
    """Return the JSON of a GET that must succeed."""
    reply = receiver.request("GET", f"{path}?{urlencode(query, doseq=True)}", timeout=30)
    assert reply.status == 200, reply.body
    return reply.json


ORDERS = "dataset:duckdb://jaffle_shop.duckdb|jaffle_shop.main.stg_orders"
QUERIES = [
    ("/api/records", "limit=1000"),
    ("/api/records", "lineage_record_type=ingest_error"),
    ("/api/records", "source=dataset_event"),
    ("/api/records", "source=unknown_event&order=desc"),
    ("/api/events", "limit=1000"),
    ("/api/events", "order=desc&fields=summary&limit=5"),
    ("/api/graph", "limit=500&layout=true"),
    ("/api/graph", f"node={quote(ORDERS)}&depth=20&expand=*&layout=true"),
    ("/api/graph", f"node={quote(ORDERS)}&granularity=column&depth=20&layout=true"),
    ("/api/graph", "granularity=column&layout=true"),
    ("/api/node", f"node={quote(ORDERS)}"),
    ("/api/search", "q=orders&limit=100"),
    ("/api/search", ""),
    ("/api/runs", "limit=1000"),
    ("/api/runs", "open=true"),
    ("/api/open", ""),
    ("/api/stats", ""),
    ("/api/faults", ""),
    ("/healthz", ""),
    ("/openapi.json", ""),
]


@pytest.mark.parametrize(("path", "query"), QUERIES)
def test_every_answer_has_the_described_shape(full, description, path, query) -> None:
    """Each member is described, with its type, and what is required is there."""
    reply = full.request("GET", f"{path}?{query}", timeout=30)

    content = description["paths"][path]["get"]["responses"][str(reply.status)]["content"]
    assert faults(reply.json, content["application/json"]["schema"], description) == []
    assert reply.status == 200


def test_every_described_path_is_tested(full, description) -> None:
    """No path is described that the table above leaves out, but for those with tests of their own."""
    described = {path for path, methods in description["paths"].items() if "get" in methods}

    assert described - {path for path, _ in QUERIES} == {"/api/events/{event_id}", "/api/live", "/metrics"}


WRITES = [
    ("post", DATAWAY, EVENT),
    ("post", DATAKIT, EVENT),
    ("post", PORTAL, EVENT),
    ("post", OPENLINEAGE, EVENT),
    ("post", DATAWAY, {}),
    ("post", PORTAL, []),
    ("post", "/api/faults", [{"status": 503, "times": 1}]),
    ("post", "/api/faults", [{"nonsense": 1}]),
    ("delete", "/api/faults", None),
    ("delete", "/api/events", None),
]


def test_writes_have_the_described_shape(receiver, description) -> None:
    """Successes and refusals of every path that takes something."""
    for method, path, body in WRITES:
        reply = receiver.request(method.upper(), path, None if body is None else json.dumps(body).encode())
        content = description["paths"][path][method]["responses"][str(reply.status)]["content"]
        assert faults(reply.json, content["application/json"]["schema"], description) == [], (path, body)


def test_each_event_shows_its_records_and_verdicts(full, description) -> None:
    """GET /api/events/{event_id} for every stored event."""
    content = description["paths"]["/api/events/{event_id}"]["get"]["responses"]["200"]["content"]
    for shown in get(full, "/api/events", limit=1000, fields="summary")["events"][::25]:
        one = full.request("GET", f"/api/events/{shown['event_id']}").json
        assert faults(one, content["application/json"]["schema"], description) == []
        assert one["records"] == _by_type(one["record_list"])
        assert json.loads(one["record_list"][0]["lineage_message"]) == one["event"]


def _by_type(records):
    counts: dict[str, int] = {}
    for record in records:
        counts[record["lineage_record_type"]] = counts.get(record["lineage_record_type"], 0) + 1
    return counts


def _all_records(receiver, **query):
    found, after = [], {}
    while True:
        page = get(receiver, "/api/records", limit=97, **query, **after)
        found += page["records"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


@pytest.mark.parametrize("folder", [RECORDED, RECORDED / "airflow-af3.jsonl"], ids=lambda path: path.name)
def test_records_by_type_are_what_an_independent_count_says(folder) -> None:
    """All recorded events, paged in both directions, against a counter that shares no code with the projection."""
    files = folder.iterdir() if folder.is_dir() else [folder]
    with Receiver(args=["--load", str(folder)]) as receiver:
        found, backwards = _all_records(receiver), _all_records(receiver, order="desc")
        stats = receiver.stats()

    expected = count_records(events_of(files))
    assert _by_type(found) == _by_type(backwards) == stats["records"] == expected
    assert len({json.dumps(record, sort_keys=True) for record in found}) == len(found)


RECORD_FILTERS = [
    {"job_namespace": "production-dbt"},
    {"lineage_record_type": "field_edge"},
    {"lineage_record_type": "job"},
    {"source": "run_event", "lineage_record_type": "schema_version"},
    {"job_name": "nothing"},
]


@pytest.mark.parametrize("query", RECORD_FILTERS, ids=str)
def test_records_are_filtered(full, query) -> None:
    """By what they hold: exactly those that a look at all of them finds."""
    wanted = [record for record in _all_records(full) if query.items() <= record.items()]

    assert _all_records(full, **query) == wanted


def test_a_refused_payload_is_an_ingest_error(receiver) -> None:
    """T: reason code, hash and size, "never … the rejected raw payload"; the verdict's reason is the answer's code."""
    body = json.dumps(event({"producer": ..., "secret": "do-not-keep"})).encode()
    code = receiver.post(body).json["error_code"]
    receiver.post(b"{")

    first, second = get(receiver, "/api/records", lineage_record_type="ingest_error")["records"]

    assert (first["source"], first["ingest_error_reason_code"]) == ("unknown_event", code)
    assert first["ingest_error_payload_size"] == len(body)
    assert len(first["ingest_error_payload_hash"]) == 64
    assert second["ingest_error_reason_code"] == "dataway.invalidJson"
    assert get(receiver, "/api/stats")["ingest_errors"] == 2
    everything = receiver.request("GET", "/api/records?limit=1000").body + receiver.request("GET", "/api/events").body
    assert b"do-not-keep" not in everything


def test_a_missing_token_is_no_ingest_error() -> None:
    """Who may not send leaves no record."""
    with Receiver(tokens=["local-test-token"]) as receiver:
        receiver.request("POST", DATAWAY, json.dumps(EVENT).encode())
        assert receiver.stats()["ingest_errors"] == 0


def test_secrets_are_in_no_record(receiver) -> None:
    """T: "the complete, redacted event JSON": passwords in URLs are masked in lineage_message and in fields."""
    receiver.post(event({"job.name": "postgres://me:hidden-word@db/x", "inputs.0.namespace": "pg://u:hidden-word@h"}))

    reply = receiver.request("GET", "/api/records?limit=100")

    assert b"hidden-word" not in reply.body
    assert b"postgres://me:***@db/x" in reply.body


def test_runs_tell_state_and_times(receiver) -> None:
    """START, then COMPLETE, with a duplicate; and one that stays open, with the reason."""
    receiver.post(EVENT)
    for _ in range(2):
        receiver.post(event({"eventType": "COMPLETE", "eventTime": "2026-10-21T10:00:01.500+02:00"}))
    receiver.post(event({"run.runId": "open-run", "eventTime": "2026-10-22T08:00:00Z"}))

    opened, closed = get(receiver, "/api/runs", job_name="daily_orders")["runs"]

    assert (closed["state"], closed["duration_s"], closed["events"], closed["duplicates"]) == ("COMPLETE", 1.5, 2, 1)
    assert (closed["started_at"], closed["ended_at"]) == ("2026-10-21T08:00:00.000000Z", "2026-10-21T08:00:01.500000Z")
    assert (opened["run_id"], opened["open"]) == ("open-run", True)
    assert [run["run_id"] for run in get(receiver, "/api/runs", open="true")["runs"]] == ["open-run"]
    unfinished = get(receiver, "/api/open")
    assert [run["reason"] for run in unfinished["runs"]] == ["START came, but no COMPLETE, FAIL or ABORT."]
    assert (unfinished["runs_total"], unfinished["datasets_total"]) == (1, 2)


def test_the_graph_shows_the_latest_runs_state(receiver) -> None:
    """The run that began last, even if an older one's event arrives later."""
    receiver.post(event({"run.runId": "new", "eventType": "FAIL", "eventTime": "2026-10-22T08:00:00Z"}))
    receiver.post(event({"run.runId": "old", "eventType": "COMPLETE"}))

    found = get(receiver, "/api/graph", node="job:example.scheduler/daily_orders", depth=1)

    job = found["nodes"][0]
    assert (job["state"], job["run_id"], job["runs"]) == ("FAIL", "new", 2)
    assert {edge["type"] for edge in found["edges"]} == {"input", "output"}


def test_records_lead_to_the_graph(full) -> None:
    """A record's job_id and dataset_id are ids of the graph's nodes."""
    for record in get(full, "/api/records", lineage_record_type="dataset_edge", limit=5)["records"]:
        for name in ("job_id", "dataset_id"):
            assert get(full, "/api/node", node=record[name])["node"][name] == record[name]


REFUSED = [
    ("/api/graph?nod=x", "unknownParameter", "Did you mean node"),
    ("/api/records?type=event", "unknownParameter", "Known are"),
    ("/api/stats?x=1", "unknownParameter", "takes none"),
    ("/api/graph?depth=-1", "invalidParameter", "depth"),
    ("/api/graph?depth=101", "invalidParameter", "0 to 100"),
    ("/api/graph?direction=left", "invalidParameter", "upstream, downstream, both"),
    ("/api/graph?granularity=row", "invalidParameter", "table, column"),
    ("/api/graph?layout=yes", "invalidParameter", "true or false"),
    ("/api/graph?depth=1&depth=2", "invalidParameter", "once"),
    ("/api/records?after=x", "invalidParameter", "after"),
    ("/api/records?source=run", "invalidParameter", "run_event"),
    ("/api/records?limit=0", "invalidParameter", "1 to 1000"),
    ("/api/events?limit=%D9%A3", "invalidParameter", "limit"),
    ("/api/node", "invalidParameter", "node"),
    ("/api/graph?node=job:none%7Cnone", "unknownNode", "id"),
    ("/api/node?node=x", "unknownNode", "id"),
    ("/api/events/x", "unknownEvent", "event_id"),
]


@pytest.mark.parametrize(("path", "code", "named"), REFUSED)
def test_a_wrong_question_is_refused(full, description, path, code, named) -> None:
    """400 that names the parameter and the nearest known one, or 404."""
    reply = full.request("GET", path)

    assert reply.status == (404 if "unknownNode" in code or "unknownEvent" in code else 400)
    assert reply.json["error_code"] == f"receiver.{code}"
    assert named in reply.json["message"]
    assert faults(reply.json, {"$ref": "#/components/schemas/Error"}, description) == []


def test_an_unknown_parameter_is_not_repeated_if_it_may_be_a_secret(full) -> None:
    """Only what looks like a name is named."""
    reply = full.request("GET", "/api/stats?abcdef0123456789=1")

    assert "abcdef0123456789" not in reply.json["message"]


def test_live_updates_tell_what_changed(receiver) -> None:
    """Hello, then one message for what came, with the nodes it names; then that a payload was refused, then cleared."""
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=10)
    connection.request("GET", "/api/live")
    answer = connection.getresponse()
    try:
        assert answer.getheader("Content-Type").startswith("text/event-stream")
        assert _message(answer) == ("hello", {"seq": 0})
        receiver.post(EVENT)
        kind, told = _message(answer)
        assert (kind, told["count"]) == ("changed", 1)
        assert told["events"][0]["job"] == "job:example.scheduler|daily_orders"
        assert "dataset:postgresql://warehouse.example:5432|sales.orders" in told["nodes"]
        receiver.post(event({"producer": ...}))
        assert _message(answer) == ("refused", {"destination": "dataway", "reason_code": "dataway.missingField"})
        receiver.request("DELETE", "/api/events")
        assert _message(answer) == ("cleared", {})
    finally:
        connection.close()


def _message(answer):
    event, data = None, None
    while (line := answer.readline().decode().rstrip("\n")) or event is None:
        name, _, value = line.partition(": ")
        event, data = (value, data) if name == "event" else (event, value if name == "data" else data)
    return event, json.loads(data)


def test_a_follower_that_does_not_read_disturbs_nobody(receiver) -> None:
    """Its messages are put together, and the receiver ends without waiting for it."""
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=10)
    connection.request("GET", "/api/live")
    connection.getresponse()
    for number in range(200):
        receiver.post(event({"job.name": f"job-{number}"}))
    began = time.monotonic()
    assert receiver.stop() == 0
    assert time.monotonic() - began < 3
    connection.close()


def test_metrics_count_records_and_runs(full) -> None:
    """Prometheus' text has a line for each type of record."""
    lines = full.request("GET", "/metrics").body.decode().splitlines()

    assert 'truewatch_receiver_records{lineage_record_type="ingest_error"} 1' in lines
    assert any(line.startswith("truewatch_receiver_runs_open ") for line in lines)


def test_a_node_shows_the_latest_events_that_name_it(receiver) -> None:
    """A job's and a dataset's, the newest first; another job's event that does not name the dataset is not there."""
    for number in range(3):
        receiver.post(event({"run.runId": f"run-{number}"}))
    receiver.post(event({"run.runId": "without", "inputs": [], "outputs": []}))
    receiver.post(event({"run": ..., "job": ..., "eventType": ..., "dataset": EVENT["inputs"][0]}))
    dataset = "dataset:postgresql://warehouse.example:5432|sales.orders"

    of_job = get(receiver, "/api/node", node="job:example.scheduler|daily_orders")["events"]
    of_dataset = get(receiver, "/api/node", node=dataset)["events"]

    assert [one["run_id"] for one in of_job] == ["without", "run-2", "run-1", "run-0"]
    assert [one["run_id"] for one in of_dataset] == [None, "run-2", "run-1", "run-0"]
