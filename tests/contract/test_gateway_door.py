"""What the gateway takes and answers: its paths, and 4xx only for what every destination would refuse."""

from __future__ import annotations

import contextlib
import json
import os

import pytest
from support.gateway import NOWHERE, Gateway
from support.served import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL
from support.spooled import stored
from tables.hostile_requests import BODY, LARGE, UNMEANT, padded
from tables.receiver_rules import EVENT, event

MIB = 1024 * 1024
STATUS = {DATAWAY: 200, DATAKIT: 200, PORTAL: 201, OPENLINEAGE: 201}
JOB_EVENT = event({"run": ..., "eventType": ...})
NO_OFFSET, NO_TYPE = event({"eventTime": "2026-10-21T08:00:00"}), event({"eventType": ...})
TRUEWATCH, BOTH = ("dataway",), ("dataway", "portal")
SITES = (TRUEWATCH, BOTH, ("portal",), ("openlineage",))


def destinations(*kinds, **more):
    """Return the settings of destinations that nothing reaches, each named by its kind."""
    one = {"url": NOWHERE, "token_env": "GATEWAY_TEST_TOKEN", **more}
    named = {kind: {"destination": kind, **{key: one[key] for key in one if _has(kind, key)}} for kind in kinds}
    return {"destinations": json.dumps(named), "GATEWAY_TEST_TOKEN": "a-token-of-tests"}


def _has(kind, key):
    return key != "token_env" or kind != "datakit"


@pytest.fixture(scope="module")
def gateways():
    """Gateways by their destinations' kinds."""
    with contextlib.ExitStack() as stack:
        running = {kinds: stack.enter_context(Gateway(kind=None, env=destinations(*kinds))) for kinds in SITES}
        yield lambda *kinds: running[kinds]


@pytest.mark.parametrize("path", STATUS)
def test_every_destinations_path_takes_events(gateways, path):
    """200, and 201 where Portal's page and Marquez say so; the event is in the spool by then."""
    gateway = gateways("dataway")
    before = len(stored(gateway.spool))
    reply = gateway.post(event({"job.name": path}), path)
    assert (reply.status, reply.json) == (STATUS[path], {"status": "ok"})
    assert [one["job"]["name"] for one in stored(gateway.spool)[before:]] == [path]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", DATAWAY, 405, "methodNotAllowed"),
        ("PUT", OPENLINEAGE, 405, "methodNotAllowed"),
        ("POST", f"{DATAWAY}/", 404, "unknownPath"),
        ("POST", "/api/v1/namespaces", 404, "unknownPath"),
        ("GET", "/", 404, "unknownPath"),
        ("POST", "/healthz", 405, "methodNotAllowed"),
    ],
)
def test_other_paths_and_methods_are_refused(gateways, method, path, status, code):
    """By a code, as everything else."""
    reply = gateways("dataway").request(method, path, b"{}")
    assert (reply.status, reply.json["error_code"]) == (status, f"gateway.{code}")


MANY = dict.fromkeys(("eventTime", "producer", "run.runId", "job.namespace", "job.name", "outputs.0.name"), ...)
MISSING = [f"$.{path}".replace(".0", "[0]") for path in MANY]

# kinds of the destinations, event, taken, what the refusal names
DOOR = [
    (TRUEWATCH, event({"eventTime": ...}), False, "$.eventTime: Missing."),
    (TRUEWATCH, event({"producer": 1}), False, "$.producer: Not text."),
    (TRUEWATCH, event({"run.runId": ..., "job.name": ...}), False, "$.run.runId: Missing. $.job.name: Missing."),
    (TRUEWATCH, {**EVENT, "run": None, "job": None}, False, "$: Its type can't be told"),
    (TRUEWATCH, {**EVENT, "inputs": "orders"}, False, "$.inputs: Not an array."),
    (TRUEWATCH, event({"run.facets": []}), False, "$.run.facets: Not an object."),
    (TRUEWATCH, event({"schemaURL": ..., "eventType": "start"}), True, None),  # both are mended
    (TRUEWATCH, NO_OFFSET, True, None),
    (TRUEWATCH, NO_TYPE, True, None),
    (TRUEWATCH, JOB_EVENT, True, None),
    (TRUEWATCH, [EVENT], False, "Not one event but an array."),
    (TRUEWATCH, 3, False, "Not a JSON object."),
    (TRUEWATCH, b'"{}"', False, "Not a JSON object."),
    (TRUEWATCH, b"{", False, "Not JSON"),
    (TRUEWATCH, b"", False, "The body is empty."),
    (("portal",), NO_OFFSET, False, "$.eventTime: Without timezone offset."),
    (("portal",), NO_TYPE, False, "$.eventType: Missing"),
    (("portal",), event({"schemaURL": "https://example.com"}), True, None),  # it is replaced
    (("portal",), JOB_EVENT, True, None),  # it is skipped
    (("portal",), event({"run.facets": []}), True, None),  # its page says nothing of facets
    (("openlineage",), event({"outputs.0.name": ...}), False, "$.outputs[0].name: Missing."),
    (("openlineage",), event({"job.name": "", "producer": ""}), True, None),  # no page forbids an empty text
    (("openlineage",), event(MANY), False, " ".join(f"{path}: Missing." for path in MISSING)),
    (BOTH, NO_OFFSET, True, None),
    (BOTH, event({"run.facets": []}), True, None),
    (BOTH, event({"eventTime": ..., "eventType": ...}), False, "$.eventTime: Missing."),
    (BOTH, event({"run": ..., "eventType": ..., "producer": ...}), False, "$.producer: Missing."),  # for one it is none
]


@pytest.mark.parametrize(("kinds", "body", "taken", "named"), DOOR)
def test_only_what_every_destination_refuses_is_refused(gateways, kinds, body, taken, named):
    """By each kind's own rules, after what is mended on the way; the refusal names the places."""
    gateway = gateways(*kinds)
    before = len(stored(gateway.spool))
    reply = gateway.post(body)
    assert reply.status == (200 if taken else 400), reply
    if not taken:
        assert reply.json["error_code"] in {"gateway.refusedEvent", "gateway.invalidEvent"}
        assert named in reply.json["message"]
        assert len(stored(gateway.spool)) == before
        assert gateway.spooled().dead == 0


@pytest.mark.parametrize(("body", "status"), [(row[1], row[3]) for row in UNMEANT], ids=[row[0] for row in UNMEANT])
def test_what_cannot_be_meant_is_refused(gateways, body, status):
    """400, unless the core mends it, as it does for `emit`."""
    assert gateways("dataway").post(body, timeout=30).status == status


@pytest.mark.parametrize("body", [row[1] for row in LARGE], ids=[row[0] for row in LARGE])
def test_what_is_only_large_is_taken(gateways, body):
    """No destination's page forbids it."""
    assert gateways("dataway").post(body, timeout=30).status == 200


def test_an_event_that_no_destination_wants_is_taken_and_counted():
    """It is no fault of the client's that Portal takes run events only, or that a rule leaves it out."""
    more = {"match": {"drop": [{"job": "*/left out"}]}}
    with Gateway(kind=None, env=destinations("portal", **more)) as gateway:
        assert gateway.post(JOB_EVENT, OPENLINEAGE).status == 201
        assert gateway.post(event({"job.name": "left out"}), OPENLINEAGE).status == 201
        assert gateway.post({**EVENT, "job": {"namespace": "x", "name": "left out"}, "producer": 1}).status == 200
        metrics = gateway.metrics()
        assert gateway.spooled() == (0, 0, 0, 0, 1, "ready", None)
    assert metrics['truewatch_gateway_http_events_total{result="skipped"}'] == 3
    assert metrics['truewatch_gateway_http_events_total{result="accepted"}'] == 0


def test_an_event_too_large_for_every_destination_is_refused_where_it_may_not_be_trimmed():
    """413, as the destination would say; where one has no limit it is taken, a dead letter for the other."""
    with Gateway(kind=None, env=destinations("dataway", oversize="reject")) as gateway:
        reply = gateway.post(padded(8 * MIB), DATAWAY)
        assert reply.status == 200  # blanks are not sent
        body = event({"run.facets": {"x": {"y": "z" * 8 * MIB}}})
        reply = gateway.post(body, DATAWAY)
        assert (reply.status, reply.json["error_code"]) == (413, "gateway.eventTooLarge")
        assert gateway.spooled().dead == 0
    with Gateway(kind=None, env=destinations("dataway", "openlineage", oversize="reject")) as gateway:
        assert gateway.post(body, DATAWAY).status == 200
        assert (gateway.spooled("dataway").dead, gateway.spooled("openlineage").pending) == (1, 1)


def test_an_event_larger_than_a_share_of_the_spool_is_refused_for_good():
    """Sent again it would be refused for ever; the gateway stays ready for what fits, and does not call itself full."""
    kinds = ("dataway", "openlineage")
    with Gateway(kind=None, env={**destinations(*kinds), "spool_max_bytes": 600_000}) as gateway:
        reply = gateway.post(event({"run.facets": {"x": {"y": os.urandom(400_000).hex()}}}))
        assert (reply.status, reply.json["error_code"]) == (413, "gateway.eventTooLarge")
        assert "the share of dataway has 300,000. Raise spool_max_bytes" in reply.json["message"]
        assert "retry-after" not in reply.headers
        assert gateway.request("GET", "/readyz").status == 200
        assert gateway.post(event({"run.facets": {"x": {"y": os.urandom(200_000).hex()}}})).status == 200


def test_what_is_too_large_is_trimmed_on_the_way():
    """As in the core: the facet that is left out is named."""
    with Gateway() as gateway:
        assert gateway.post(event({"run.facets": {"x": {"y": "z" * 8 * MIB}}}), DATAWAY).status == 200
        assert list(stored(gateway.spool)[0]["run"]["facets"]) == ["truewatch_trimmed"]


def test_an_event_is_changed_for_each_destination_as_in_the_core():
    """Names mapped, schemaURL as Portal asks, the case of eventType, and passwords masked."""
    env = destinations("dataway", "portal", map_namespaces={"example.scheduler": "mapped"})
    secret = "jdbc:postgresql://me:pass-word@host/db"
    with Gateway(kind=None, env={**env, "redact": '["secret-[0-9]+"]'}) as gateway:
        odd = event({"eventType": "complete", "schemaURL": ..., "job.facets": {"x": {"a": secret, "b": "secret-77"}}})
        assert gateway.post(odd).status == 200
        first, second = stored(gateway.spool)
    assert first["job"]["namespace"] == "mapped"
    assert first["eventType"] == "COMPLETE"
    assert first["job"]["facets"]["x"] == {"a": "jdbc:postgresql://me:***@host/db", "b": "***"}
    assert [one["schemaURL"].partition("#")[1:] for one in (first, second)] == [("#", "/$defs/RunEvent"), ("", "")]


def test_it_tells_how_it_is(gateways):
    """Health, readiness, and metrics by Prometheus' rules: each has its HELP and its TYPE."""
    gateway = gateways("openlineage")
    gateway.post(EVENT)
    for path in ("/healthz", "/readyz"):
        reply = gateway.request("GET", path)
        assert (reply.status, reply.body) == (200, b"ok\n")
    reply = gateway.request("GET", "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = reply.body.decode().splitlines()
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {line.split()[2] for line in lines if line.startswith("# HELP")} == names
    assert {line.partition(" ")[0].partition("{")[0] for line in lines if not line.startswith("#")} <= names
    metrics = gateway.metrics()
    assert metrics["truewatch_gateway_ready"] == 1
    assert metrics[f'truewatch_gateway_http_requests_total{{path="{DATAWAY}",status="200"}}'] >= 1
    assert metrics['truewatch_lineage_destination_state{destination="openlineage",state="parked"}'] == 0


def test_an_unknown_path_is_told_the_known_ones(gateways):
    """By all four names: a destination's url with a path too many or too few is the usual fault."""
    message = gateways("dataway").post(EVENT, "/lineage").json["message"]
    assert message == f"There is no such path. Events are taken by POST on {', '.join(STATUS)}."


def test_the_log_shows_what_failed_without_queries_and_unknown_words():
    """Either may hold anything; what succeeds is counted, since thousands a second would fill a disk with lines."""
    with Gateway() as gateway:
        gateway.request("GET", "/readyz?token=shown-never")
        gateway.request("POST", "/v1/no-such-place-77/lineage/?token=shown-never", b"")
        log = gateway.wait_for_log("WARNING POST /v1/…/lineage/ 404")
    assert "from 127.0.0.1 gateway.unknownPath\n" in log
    assert "/readyz" not in log
    assert "shown-never" not in log
    assert "no-such-place-77" not in log


def test_the_log_says_why_an_event_was_refused_and_whose_it_was():
    """Once a minute for each client and reason, with the next line saying how many more there were."""
    with Gateway(tokens=["token-of-clients"]) as gateway:
        for _ in range(5):
            assert gateway.post(event({"job.name": ...})).status == 400
        leaky = b'{"a": 1, "token-of-\\u0063lients": 2, "token-of-clients": 3}'
        assert gateway.post(leaky).status == 400
        assert gateway.show(DATAWAY, None, None, "Bearer of-somebody-else", BODY).status == 401
        log = gateway.wait_for_log("401")
    assert log.count("POST /v1/write/openlineage 400") == 2
    assert "ms from 127.0.0.1 gateway.refusedEvent: $.job.name: Missing.\n" in log
    assert "from 127.0.0.1 gateway.invalidToken\n" in log
    assert "token-of-clients" not in log
    assert "of-somebody-else" not in log
