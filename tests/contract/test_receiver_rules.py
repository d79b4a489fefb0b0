"""The receiver takes and refuses events as each destination's page says."""

from __future__ import annotations

import hashlib
import json

import pytest
from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Receiver
from tables.receiver_rules import ALL, CASES, EVENT, NAMESPACE, SUCCESS, event


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def strict():
    """A receiver started with --strict."""
    with Receiver(strict=True) as running:
        yield running


@pytest.fixture(autouse=True)
def empty(receiver, strict):
    """Begin with nothing stored."""
    receiver.clear()
    strict.clear()


@pytest.mark.parametrize(("row", "path"), CASES, ids=str)
def test_each_rule_decides(receiver, row, path):
    """A row's event is answered with its status and code, and stored only if it is taken."""
    reply = receiver.post(event(row.changes), path)
    if row.code is None:
        assert reply.status == SUCCESS[path], (row.why, reply.body)
        (stored,) = receiver.events()
        assert [warning["path"] for warning in stored["warnings"]] == ([row.at] if row.at else []), row.why
    else:
        assert (reply.status, reply.json["error_code"]) == (400, f"{NAMESPACE[path]}.{row.code}"), row.why
        assert reply.json["message"].startswith(f"{row.at}: "), row.why
        assert receiver.events() == []


@pytest.mark.parametrize(("row", "path"), CASES, ids=str)
def test_strict_turns_advice_into_conditions(strict, row, path):
    """Under --strict a warning's event is refused, by the same path."""
    code = row.code or row.strict
    reply = strict.post(event(row.changes), path)
    if code is None:
        assert reply.status == SUCCESS[path], (row.why, reply.body)
    else:
        assert (reply.status, reply.json["error_code"]) == (400, f"{NAMESPACE[path]}.{code}"), row.why


NO_OBJECT = [
    (b"[%s]" % json.dumps(EVENT).encode(), "arrayNotSupported"),
    (b"[]", "arrayNotSupported"),
    (b"", "invalidJson"),
    (b"{", "invalidJson"),
    (b'{"a": NaN}', "invalidJson"),
    (b'{"a": "\xff"}', "invalidJson"),
    (b"[" * 100_000, "invalidJson"),
    (b"1", "notAnObject"),
    (b'"event"', "notAnObject"),
    (b"null", "notAnObject"),
    (b"{}", "unknownEvent"),
]


@pytest.mark.parametrize(("body", "code"), NO_OBJECT)
def test_what_is_no_event_object_is_refused(receiver, body, code):
    """T: "Each request accepts one event. JSON arrays and the OpenLineage batch endpoint are not supported."."""
    reply = receiver.post(body)
    assert (reply.status, reply.json["error_code"]) == (400, f"dataway.{code}")
    assert receiver.events() == []


def test_every_fault_is_named(receiver):
    """One answer names all that is to be mended."""
    reply = receiver.post(event({"eventTime": ..., "producer": ..., "job.name": ...}))
    assert all(path in reply.json["message"] for path in ("$.eventTime", "$.producer", "$.job.name"))


COUNTS = [
    ({}, 3, 2),
    ({"inputs": ...}, 2, 1),
    ({"inputs": None, "outputs": ...}, 1, 0),
    ({"inputs": [EVENT["outputs"][0]]}, 2, 2),
    ({"inputs": EVENT["inputs"] * 3}, 3, 2),
    ({"inputs": [*EVENT["inputs"], {"namespace": "other", "name": "t"}]}, 4, 3),
]


@pytest.mark.parametrize(("changes", "nodes", "edges"), COUNTS)
def test_portal_counts_distinct_nodes_and_edges(receiver, changes, nodes, edges):
    """P: the answer is {"status":"ok","data":{"nodesUpserted":…,"edgesUpserted":…}}, with 201."""
    reply = receiver.post(event(changes), PORTAL)
    assert reply.status == 201
    assert reply.json == {"status": "ok", "data": {"nodesUpserted": nodes, "edgesUpserted": edges}}


@pytest.mark.parametrize("path", [DATAWAY, DATAKIT, OPENLINEAGE])
def test_the_answer_names_the_event(receiver, path):
    """The event_id is the sha256 of the decoded bytes, so that a sender can find its event again."""
    body = json.dumps(EVENT).encode()
    assert receiver.post(body, path).json == {"event_id": hashlib.sha256(body).hexdigest(), "warnings": []}


UNSERVED = [
    ("GET", DATAWAY, 405, "methodNotAllowed"),
    ("PUT", PORTAL, 405, "methodNotAllowed"),
    ("POST", "/", 405, "methodNotAllowed"),
    ("POST", f"{DATAWAY}/", 404, "unknownPath"),
    ("POST", f"{OPENLINEAGE}/batch", 404, "unknownPath"),
    ("POST", "/v1/write/openlineage/batch", 404, "unknownPath"),
]


@pytest.mark.parametrize(("method", "path", "status", "code"), UNSERVED)
def test_other_paths_and_methods_are_refused(receiver, method, path, status, code):
    """Only the exact paths take events; nothing is redirected."""
    reply = receiver.request(method, path, json.dumps(EVENT).encode())
    assert (reply.status, reply.json["error_code"]) == (status, f"receiver.{code}")


@pytest.mark.parametrize("path", ALL)
def test_the_destination_is_noted(receiver, path):
    """Each stored event tells which destination's rules took it."""
    receiver.post(EVENT, path)
    assert [stored["destination"] for stored in receiver.events()] == [NAMESPACE[path]]
