"""The receiver misbehaves by a script, and by nothing but the script."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time

import pytest
from support.receiver import DATAKIT, DATAWAY, PORTAL, Receiver
from tables.receiver_rules import ALL, EVENT, event


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for a token."""
    with Receiver(tokens=["local-test-token"]) as running:
        yield running


@pytest.fixture(autouse=True)
def empty(receiver):
    """Begin with nothing stored and no faults."""
    receiver.clear()


def test_a_step_is_served_so_many_times(receiver):
    """The README's step: 503 with Retry-After, three times, then all is well again."""
    receiver.faults([{"status": 503, "headers": {"Retry-After": "2"}, "body": {"error_code": "x"}, "times": 3}])
    replies = [receiver.post(EVENT) for _ in range(4)]
    assert [reply.status for reply in replies] == [503, 503, 503, 200]
    assert (replies[0].headers["retry-after"], replies[0].json) == ("2", {"error_code": "x"})
    assert replies[0].headers["content-type"] == "application/json"
    assert receiver.events()[0]["duplicates"] == 0


def test_steps_follow_each_other_over_all_paths(receiver):
    """One script serves the intake of every destination, in the order of the requests."""
    receiver.faults([{"status": 500}, {"status": 429}, {"status": 404, "body": "<html>"}, {"status": 302}])
    replies = [receiver.post(EVENT, path) for path in ALL]
    assert [reply.status for reply in replies] == [500, 429, 404, 302]
    assert replies[2].body == b"<html>"
    assert replies[2].headers["content-type"].startswith("text/plain")


def test_null_times_lasts_until_cleared(receiver):
    """``times`` null is for ever; DELETE ends it; a new script replaces the old."""
    receiver.faults([{"status": 503, "times": None}])
    assert {receiver.post(EVENT).status for _ in range(5)} == {503}
    receiver.faults([{"status": 500}])
    assert [receiver.post(EVENT).status for _ in range(2)] == [500, 200]
    receiver.faults([{"status": 503, "times": None}])
    assert receiver.request("DELETE", "/api/faults").status == 200
    assert receiver.post(EVENT).status == 200


def test_the_api_is_not_misbehaving(receiver):
    """Only intake requests take steps; other methods and paths don't."""
    receiver.faults([{"status": 503}])
    assert receiver.request("GET", "/healthz").status == 200
    assert receiver.request("GET", DATAWAY).status == 405
    assert receiver.events() == []
    assert receiver.post(EVENT).status == 503


STORING = [
    ({"status": 200, "body": {"error_code": "dataway.cached"}}, 200, True),
    ({"status": 204}, 204, True),
    ({"status": 503}, 503, False),
    ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, 302, False),
    ({"delay": 0.05}, 200, True),
    ({}, 200, True),
]


@pytest.mark.parametrize(("step", "status", "stored"), STORING)
def test_only_a_good_answer_stores(receiver, step, status, stored):
    """A scripted 2xx and the usual answer store the event, any other status does not."""
    receiver.faults([step])
    assert receiver.post(EVENT).status == status
    assert len(receiver.events()) == int(stored)


@pytest.mark.parametrize("path", [DATAWAY, PORTAL])
def test_a_scripted_success_does_not_hide_a_refusal(receiver, path):
    """A bad event or token gets its true answer, even where the script says 200."""
    receiver.faults([{"status": 200, "times": 2}])
    assert receiver.post(event({"producer": ...}), path).status == 400
    assert receiver.post(EVENT, path, {"Authorization": "Bearer wrong"}).status == 401


def test_a_delay_is_waited(receiver):
    """The answer comes after ``delay`` seconds, and others are served meanwhile."""
    receiver.faults([{"delay": 0.4, "status": 200}])
    began = time.monotonic()
    assert receiver.post(EVENT).status == 200
    assert 0.4 <= time.monotonic() - began < 2


def test_nothing_is_stored_for_a_client_that_gave_up(receiver):
    """Who leaves during the delay has delivered nothing."""
    receiver.faults([{"delay": 0.4}])
    with pytest.raises(TimeoutError):
        receiver.post(EVENT, timeout=0.1)
    time.sleep(0.5)
    assert receiver.events() == []
    assert receiver.statuses()["dropped"] >= 1


DROPS = [
    ("before", http.client.RemoteDisconnected, False),
    ("after", http.client.RemoteDisconnected, True),
    ("mid", http.client.IncompleteRead, True),
]


@pytest.mark.parametrize("path", [DATAWAY, DATAKIT])
@pytest.mark.parametrize("delay", [0, 0.05])
@pytest.mark.parametrize(("drop", "error", "stored"), DROPS)
def test_connections_are_dropped(receiver, drop, error, stored, delay, path):
    """``before`` stores nothing; ``after`` and ``mid`` have stored what they don't acknowledge."""
    receiver.faults([{"drop": drop, "delay": delay}])
    with pytest.raises((error, ConnectionResetError)):
        receiver.post(EVENT, path)
    assert len(receiver.events()) == int(stored)
    assert receiver.post(EVENT, path).status == 200
    assert receiver.events()[0]["duplicates"] == int(stored)


def test_a_scripted_answer_can_be_cut(receiver):
    """``mid`` cuts the script's own answer too: half of a 500's body, and nothing stored."""
    receiver.faults([{"status": 500, "body": {"a": "b" * 100}, "drop": "mid"}])
    with pytest.raises(http.client.IncompleteRead) as raised:
        receiver.post(EVENT)
    assert len(raised.value.partial) == 54
    assert receiver.events() == []


def test_a_drop_ends_a_kept_connection(receiver):
    """The socket is really closed: the next read sees the end, not a hang."""
    receiver.faults([{"drop": "before"}])
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=5) as client:
        head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n" % DATAWAY.encode()
        client.sendall(head)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(100) == b""


BAD_SCRIPTS = [
    (b"{", "$"),
    (b"{}", "$"),
    (b"[1]", "$[0]"),
    (b'[{}, {"stat": 1}]', "$[1]"),
    (b'[{"status": 100}]', "$[0].status"),
    (b'[{"status": true}]', "$[0].status"),
    (b'[{"status": "503"}]', "$[0].status"),
    (b'[{"drop": "later"}]', "$[0].drop"),
    (b'[{"times": 0}]', "$[0].times"),
    (b'[{"times": 1.5}]', "$[0].times"),
    (b'[{"delay": -1}]', "$[0].delay"),
    (b'[{"delay": "1"}]', "$[0].delay"),
    (b'[{"headers": []}]', "$[0].headers"),
    (b'[{"headers": {"A": 1}}]', "$[0].headers.A"),
    (b'[{"headers": {"A": "b\\r\\nC: d"}}]', "$[0].headers.A"),
    (b'[{"headers": {"A b": "c"}}]', "$[0].headers.A b"),
]


@pytest.mark.parametrize(("script", "path"), BAD_SCRIPTS)
def test_a_wrong_script_is_named_and_changes_nothing(receiver, script, path):
    """400 with the JSON path of what is wrong; the script before stays."""
    receiver.faults([{"status": 503}])
    reply = receiver.request("POST", "/api/faults", script)
    assert (reply.status, reply.json["error_code"]) == (400, "receiver.invalidScript")
    assert reply.json["message"].startswith(f"{path}: ")
    assert receiver.post(EVENT).status == 503


def test_a_script_has_a_limit(receiver):
    """More than 1 MiB of script is refused."""
    assert receiver.request("POST", "/api/faults", json.dumps(["x" * 2**20]).encode()).status == 413
