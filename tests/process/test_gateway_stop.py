"""How the gateway ends, and stock clients that know only its url."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import time

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunState
from support.cli import ndjson, run_child
from support.couriers import DEAD_DELIVERY, TWO
from support.events import run_event
from support.gateway import Gateway
from support.receiver import Receiver
from support.served import DATAWAY, PORTAL
from tables.hostile_requests import HEAD
from tables.receiver_rules import EVENT, event

BUSY = json.dumps(EVENT).encode()
BROKEN_END = """
from truewatch_lineage.errors import SpoolUnusableError
from truewatch_lineage.gateway.service import Gateway
stop = Gateway.stop
def broken(self):
    stop(self)
    raise SpoolUnusableError("The folder is gone.", path="spool")
Gateway.stop = broken
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)])
def test_it_ends_with_0_where_all_is_delivered(number):
    """By any of the signals, soon."""
    with Receiver() as receiver, Gateway(receiver.url, env={"exit_budget": 30}) as gateway:
        assert gateway.post(EVENT).status == 200
        began = time.monotonic()
        assert gateway.stop(number) == 0
        assert time.monotonic() - began < 10
        assert len(receiver.events()) == 1
        assert "Stopped; 0 events wait." in gateway.stderr()


def test_it_ends_with_75_where_something_is_kept():
    """After the time it may spend; the next start delivers it."""
    with Receiver() as receiver:
        receiver.stop()
        with Gateway(receiver.url, env={"exit_budget": 1}) as gateway:
            assert gateway.post(EVENT).status == 200
            began = time.monotonic()
            assert gateway.stop() == 75
            assert time.monotonic() - began < 8
            receiver.start()
            gateway.start()
            receiver.wait_for_events(1)
            gateway.wait_until_empty()
            assert gateway.stop() == 0


def test_what_another_url_has_left_is_told_of(tmp_path):
    """Events wait for the url that they were bound to, until they are given to the new one."""
    with Gateway("http://127.0.0.1:9", spool=tmp_path / "spool") as gateway:
        assert gateway.post(EVENT).status == 200
    with Gateway("http://127.0.0.1:10", spool=tmp_path / "spool") as gateway:
        told = gateway.wait_for_log(
            "are left alone: 1. `truewatch-lineage spool rebind default` gives them to this one."
        )
        assert "bound to http://127.0.0.1:9/v1/write/openlineage" in told


def test_it_delivers_to_the_end_of_its_budget_and_takes_nothing_meanwhile():
    """What is retried in time is waited for; clients and probes are told that it stops."""
    with Receiver() as receiver, Gateway(receiver.url, env={"exit_budget": 40}) as gateway:
        receiver.faults([{"status": 503, "headers": {"Retry-After": "12"}}])
        assert gateway.post(EVENT).status == 200
        gateway.wait_for_log("waits, retry at")
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for_log("Stopping.")
        reply = gateway.post(EVENT)
        assert (reply.status, reply.json["error_code"]) == (503, "gateway.stopping")
        assert (int(reply.headers["retry-after"]) > 0, reply.headers["connection"]) == (True, "close")
        ready = gateway.request("GET", "/readyz")
        assert (ready.status, ready.body) == (503, b"the gateway is stopping\n")
        assert gateway.request("GET", "/healthz").status == 200
        assert gateway.metrics()["truewatch_gateway_ready"] == 0
        assert gateway.wait(40) == 0
        assert len(receiver.events()) == 1


def test_it_does_not_wait_for_what_is_not_due_in_time():
    """A destination that asks for an hour's patience keeps no pod from ending."""
    with Receiver() as receiver, Gateway(receiver.url, env={"exit_budget": 30}) as gateway:
        receiver.faults([{"status": 503, "headers": {"Retry-After": "3600"}}])
        assert gateway.post(EVENT).status == 200
        gateway.wait_for_log("waits, retry at")
        began = time.monotonic()
        assert gateway.stop() == 75
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(second):
    """Whatever it still waits for, and the same or another signal; the event is kept."""
    with Receiver() as receiver, Gateway(receiver.url, env={"exit_budget": 30}) as gateway:
        receiver.faults([{"delay": 20}])
        assert gateway.post(EVENT).status == 200
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for_log("Stopping.")
        began = time.monotonic()
        assert gateway.stop(second) == -second
        assert time.monotonic() - began < 10
        assert gateway.spooled().pending == 1


def test_a_request_that_was_let_in_is_still_committed():
    """The signal comes in the middle of its body."""
    with Receiver() as receiver, Gateway(receiver.url, env={"exit_budget": 5}) as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=10) as client:
            client.sendall(HEAD % (DATAWAY.encode(), b"Content-Length: %d\r\n" % len(BUSY)) + BUSY[:-9])
            gateway.request("GET", "/readyz")  # what was sent before it has been read by now
            gateway.send_signal(signal.SIGTERM)
            gateway.wait_for_log("Stopping.")
            client.sendall(BUSY[-9:])
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        assert gateway.wait() == 0
        assert len(receiver.events()) == 1


def test_a_stock_client_with_only_its_url_works(monkeypatch):
    """Upstream's http transport sends to ``/api/v1/lineage``, with its key as the bearer token."""
    with Receiver() as receiver, Gateway(receiver.url, kind="portal", tokens=["client-token-1"]) as gateway:
        monkeypatch.setenv("OPENLINEAGE_URL", gateway.url)
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "client-token-1")
        client = OpenLineageClient()
        started = run_event(RunState.START)
        client.emit(started)
        client.emit(run_event(RunState.COMPLETE, run_id=started.run.runId))
        client.close()
        found = receiver.wait_for_events(2)
        gateway.wait_until_empty()
        assert [one["event"]["eventType"] for one in found] == ["START", "COMPLETE"]
        assert receiver.statuses(PORTAL) == {"201": 2}


def test_our_own_transport_works_through_it(tmp_path):
    """As through any destination: the client's token opens the gateway, whose own opens the destination."""
    file = ndjson(tmp_path / "events", *(event({"run.runId": f"run-{number}"}) for number in range(20)))
    with Receiver(tokens=["their-token-1"]) as receiver:
        gateway = Gateway(receiver.url, token="their-token-1", tokens=["client-token-1"])
        env = {"spool_dir": tmp_path / "spool", "CLIENT": "client-token-1", "token_env": "CLIENT"}
        with gateway:
            for kind in ("dataway", "portal", "openlineage"):
                ran = run_child("send", file, "--destination", kind, "--url", gateway.url, env=env)
                assert ran.code == 0, ran
            receiver.wait_for_events(20)
            gateway.wait_until_empty()


def test_a_gateway_that_can_not_go_on_ends_with_1():
    """So that whoever runs it starts it again: here deliveries to one of two destinations have died."""
    later = "from truewatch_lineage.cli import gateway, main; gateway._LOOK_SECONDS = 5"  # it can be asked until then
    program = f"{DEAD_DELIVERY}\n{later}; main()"
    with Gateway(kind=None, env={"destinations": TWO}, program=["-c", program]) as gateway:
        assert gateway.request("GET", "/healthz").status == 503
        assert gateway.wait(30) == 1
        assert "could not go on: a thread that delivers has ended" in gateway.stderr()


def test_an_end_without_a_spool_hides_no_fault():
    """Exit code 2 would tell that the settings are wrong, and a service manager would not start it again."""
    program = f"{DEAD_DELIVERY}\n{BROKEN_END}\nfrom truewatch_lineage.cli import main; main()"
    with Gateway(kind=None, env={"destinations": TWO}, program=["-c", program]) as gateway:
        assert gateway.wait() == 1
        told = gateway.stderr()
        assert "can't tell what waits: The folder is gone." in told
        assert "could not go on: a thread that delivers has ended" in told


def test_a_gateway_that_has_run_and_loses_its_spool_at_the_end_ends_with_1():
    """2 is for its start alone."""
    with Gateway(program=["-c", f"{BROKEN_END}\nfrom truewatch_lineage.cli import main; main()"]) as gateway:
        assert gateway.stop() == 1
        assert "Error: The gateway has stopped and can't tell what waits: The folder is gone." in gateway.stderr()


def test_it_says_what_is_missing(tmp_path):
    """Without the extra: exit 2 and the command that installs it."""
    hidden = tmp_path / "uvicorn.py"
    hidden.write_text("raise ModuleNotFoundError(name='uvicorn')")
    env = {"PYTHONPATH": os.fspath(tmp_path), "url": "http://127.0.0.1:9"}
    for args, extras in (((), "gateway"), (("--kafka-bootstrap", "k:9092"), "gateway,kafka")):
        ran = run_child("gateway", *args, env=env)
        assert ran.code == 2
        assert f"pip install 'truewatch-lineage[{extras}]'" in ran.err


def test_a_client_that_leaves_before_the_answer_may_have_been_heard():
    """The event is stored whole or not at all, and the gateway goes on."""
    with Receiver() as receiver, Gateway(receiver.url) as gateway:
        packed = gzip.compress(BUSY)
        head = HEAD % (DATAWAY.encode(), b"Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(packed))
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", gateway.port)) as client:
                client.sendall(head + packed)
        assert gateway.post(EVENT).status == 200
        gateway.wait_until_empty()
        assert [one["event"] for one in receiver.events()] == [EVENT]
        assert "Traceback" not in gateway.stderr()
