"""Back-pressure in the place of growing memory: 503 with Retry-After where the gateway can take no more."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import socket
import time
from pathlib import Path

import pytest
from support.gateway import NOWHERE, Gateway
from support.receiver import Receiver
from support.served import DATAWAY
from tables.hostile_requests import HEAD, bomb, padded
from tables.receiver_rules import EVENT, event

from truewatch_lineage.spool.locks import FileLock

KIB, MIB = 1024, 1024 * 1024
RELAY = "from truewatch_lineage.cli import main; main()"
BULK = [os.urandom(8 * KIB).hex() for _ in range(30)]


def bulky(number):
    """Return an event that fills 8 KiB of the spool, since it can't be compressed."""
    return event({"run.runId": f"run-{number}", "run.facets": {"x": {"y": BULK[number]}}})


def limited(**limits):
    """Return a program that runs the gateway with other limits."""
    names = "; ".join(f"entrance.{name} = {value}" for name, value in limits.items())
    return ("-c", f"from truewatch_lineage.gateway.http import entrance; {names}; {RELAY}")


def is_busy(reply, code):
    """Tell whether a client was asked to come again."""
    told = (reply.status, reply.json["error_code"], int(reply.headers["retry-after"]) > 0)
    return told == (503, f"gateway.{code}", True)


def fill(gateway):
    """Send until an event is refused; returns how many were taken and the refusal."""
    for number in range(len(BULK)):
        reply = gateway.post(bulky(number))
        if reply.status != 200:
            return number, reply
    raise AssertionError("it was never full")


def test_a_full_spool_is_503_until_there_is_room_again():
    """Nothing that was answered 200 is lost, and nothing is taken without room."""
    with Receiver() as receiver:
        receiver.stop()
        with Gateway(receiver.url, env={"spool_max_bytes": 100 * KIB}) as gateway:
            taken, reply = fill(gateway)
            assert 5 < taken < 15
            assert is_busy(reply, "spoolFull")
            ready = gateway.request("GET", "/readyz")
            assert (ready.status, ready.body) == (503, b"the spool is full: the share of default is used up\n")
            assert gateway.request("GET", "/healthz").status == 200
            assert gateway.metrics()['truewatch_gateway_http_events_total{result="failed"}'] == 1
            receiver.start()
            assert len(receiver.wait_for_events(taken, 20)) == taken
            gateway.wait_until_empty()
            assert gateway.post(bulky(taken)).status == 200
            assert gateway.request("GET", "/readyz").status == 200
            receiver.wait_for_events(taken + 1)


def test_where_one_destination_has_no_room_the_event_is_stored_for_none():
    """The client sends it again, and the other destination gets it once."""
    with Receiver() as receiver:
        named = {
            "open": {"destination": "openlineage", "url": receiver.url},
            "shut": {"destination": "openlineage", "url": NOWHERE},
        }
        env = {"destinations": json.dumps(named), "spool_max_bytes": 200 * KIB}
        with Gateway(kind=None, env=env) as gateway:
            taken, reply = fill(gateway)
            assert is_busy(reply, "spoolFull")
            assert "the share of shut is used up" in reply.json["message"]
            assert "The spool is full: the share of shut is used up." in gateway.stderr()
            receiver.wait_for_events(taken)
            time.sleep(0.2)
            assert len(receiver.events()) == taken
            assert gateway.spooled("shut").pending == taken


def test_a_locked_spool_is_503():
    """Another process holds it for longer than the gateway waits."""
    with Gateway() as gateway, contextlib.closing(FileLock(gateway.spool / "write.lock")) as lock:
        with lock.hold(5) as held:
            assert held
            assert is_busy(gateway.post(EVENT, timeout=20), "spoolUnavailable")
            ready = gateway.request("GET", "/readyz")
            assert (ready.status, ready.body) == (503, b"the spool can't be written\n")
        assert gateway.post(EVENT).status == 200
        assert gateway.request("GET", "/readyz").status == 200


def test_the_bytes_of_all_bodies_together_are_bounded():
    """Four clients stop in the middle of 1 MiB; a fifth is asked to come again until one of them has left."""
    with contextlib.ExitStack() as stack:
        gateway = stack.enter_context(Gateway(program=limited(MAX_BYTES_IN_FLIGHT=4 * MIB)))
        clients = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(4)]
        for client in clients:
            stack.enter_context(client)
            client.sendall(HEAD % (DATAWAY.encode(), b"Content-Length: 1048576\r\n") + bytes(MIB - 1))
        wait_for(gateway, "bytes_in_flight", 4 * MIB - 4)
        assert is_busy(gateway.post(EVENT), "tooManyBytes")
        assert is_busy(gateway.post(gzip.compress(padded(MIB)), headers={"Content-Encoding": "gzip"}), "tooManyBytes")
        clients[0].close()
        wait_for(gateway, "bytes_in_flight", 3 * MIB - 3)
        assert gateway.post(padded(MIB // 2)).status == 200
        for client in clients:
            client.close()
        wait_for(gateway, "bytes_in_flight", 0)


def test_bombs_of_many_clients_take_no_more_than_the_budget():
    """Each is decoded up to the limit, but all together only up to theirs."""
    with Gateway(program=limited(MAX_BYTES_IN_FLIGHT=4 * MIB)) as gateway:
        reply = gateway.post(bomb(8), headers={"Content-Encoding": "gzip"})
        assert is_busy(reply, "tooManyBytes")
        wait_for(gateway, "bytes_in_flight", 0)


def wait_for(gateway, name, value):
    """Wait until a figure of the gateway's has a value."""
    deadline = time.monotonic() + 5
    while (found := gateway.metrics()[f"truewatch_gateway_http_{name}"]) != value:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def test_connections_are_bounded():
    """Above the limit events are refused while probes are answered, and further above everything is."""
    with contextlib.ExitStack() as stack:
        gateway = stack.enter_context(Gateway(program=limited(MAX_CONNECTIONS=5, SPARE_CONNECTIONS=5)))
        idle = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(5)]
        for client in idle:
            stack.enter_context(client)
        reply = gateway.post(EVENT)
        assert is_busy(reply, "tooManyConnections")
        assert reply.headers["connection"] == "close"
        assert gateway.request("GET", "/readyz").status == 200
        more = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(5)]
        for client in more:
            stack.enter_context(client)
        assert gateway.request("GET", "/readyz").status == 503
        for client in (*idle, *more):
            client.close()
        deadline = time.monotonic() + 5
        while gateway.post(EVENT).status != 200:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.linux
def test_an_event_of_millions_of_values_is_refused_unread():
    """60 MiB of empty objects, 0.2 MiB as sent: reading them would take gigabytes and minutes."""
    with Gateway() as gateway:
        body = gzip.compress(b'{"a":[' + b"{}," * 20 * MIB + b"{}]}")
        began = time.monotonic()
        reply = gateway.post(body, headers={"Content-Encoding": "gzip"}, timeout=30)
        assert (reply.status, reply.json["message"][:21]) == (400, "$: The event has over")
        assert time.monotonic() - began < 10
        peak = Path(f"/proc/{gateway.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
        assert int(peak) * 1024 < 500 * MIB


@pytest.mark.linux
def test_a_large_event_of_many_values_takes_bounded_memory():
    """50 MiB that hold as many values as an event may have: pods have 1 GiB, those of one job 512 MiB."""
    with Gateway(kind="openlineage", token=None) as gateway:
        values = ",".join(f'{{"k{number:0100}":1}}' for number in range(499_000))
        body = json.dumps(EVENT)[:-1] + f', "x": [{values}]}}'
        assert gateway.post(body.encode(), timeout=30).status == 200
        peak = Path(f"/proc/{gateway.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
        assert int(peak) * 1024 < 450 * MIB


@pytest.mark.linux
def test_a_backlog_is_on_disk_and_not_in_memory():
    """2,000 events of 8 KiB that can't be delivered add less than a tenth of their bytes."""
    with Gateway(env={"spool_max_bytes": 100 * MIB}) as gateway, contextlib.closing(gateway.connection()) as client:
        bodies = [json.dumps(event({"run.facets": {"x": {"y": text}}})).encode() for text in BULK]

        def send(number):
            client.request("POST", DATAWAY, bodies[number % len(bodies)])
            assert client.getresponse().read() == b'{"status":"ok"}'

        for number in range(200):
            send(number)
        before = resident(gateway.pid)
        for number in range(2000):
            send(number)
        assert resident(gateway.pid) - before < 3 * MIB
        assert gateway.spooled().pending == 2200


def resident(pid):
    """Return a process's resident memory in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
