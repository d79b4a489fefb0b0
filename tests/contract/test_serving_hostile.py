"""Clients made to hurt, at the receiver and at the gateway: nobody else notices."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest
from support.gateway import Gateway
from support.receiver import Receiver
from support.scenes import SERVERS, serving
from support.served import DATAWAY
from tables.hostile_requests import ENDLESS, EVENT_START, MIB, UNMEANT, wide
from tables.receiver_rules import event

from truewatch_lineage.serving.credentials import MAX_CREDENTIAL


@pytest.mark.linux
@pytest.mark.parametrize("name", SERVERS)
def test_hostile_events_neither_fill_the_memory_nor_stop_others(name) -> None:
    """Four clients send the worst events over and over; a fifth's small ones are answered, and memory is bounded."""
    worst = [
        json.dumps(wide(300, 300)).encode(),
        *(body if isinstance(body, bytes) else json.dumps(body).encode() for _, body, *_ in UNMEANT),
    ]
    with serving(name) as scene:
        scene.server.post(worst[0], timeout=60)
        before = scene.memory()
        ended = threading.Event()

        def attack(first):
            while not ended.is_set():
                for body in worst[first:] + worst[:first]:
                    scene.server.post(body, DATAWAY, timeout=60)

        clients = [threading.Thread(target=attack, args=(first,)) for first in (0, 2, 4, 6)]
        for client in clients:
            client.start()
        waits = []
        for number in range(30):
            began = time.monotonic()
            assert scene.server.post(event({"job.name": f"small-{number}"}), timeout=30).status == 200
            waits.append(time.monotonic() - began)
        ended.set()
        for client in clients:
            client.join()
        assert sorted(waits)[len(waits) // 2] < 3
        assert scene.memory() < before + 400


@pytest.mark.linux
@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("begun", [row[1] for row in ENDLESS], ids=[row[0] for row in ENDLESS])
def test_what_never_ends_is_cut_off(name, begun) -> None:
    """Whatever stands outside of a body is counted, so that a client without a token can't fill the memory with it."""
    with serving(name) as scene:
        before = scene.memory()
        where = ("127.0.0.1", scene.server.port)
        with socket.create_connection(where, timeout=20) as client, pytest.raises(ConnectionError):
            client.sendall(begun + b"a" * 64 * MIB)
        assert scene.memory() < before + 20


@pytest.mark.linux
@pytest.mark.parametrize("name", SERVERS)
def test_a_refused_event_leaves_nothing_in_memory(name) -> None:
    """Large events that are refused, one after the other, take no more memory than one of them."""
    names = ",".join(f'"{number}"' for number in range(400_000)).encode()
    body = EVENT_START + b',"job":7,"x":[' + names + b"]}"
    with serving(name) as scene:
        assert scene.server.post(body, timeout=60).status == 400
        after_one = scene.memory()
        for _ in range(9):
            scene.server.post(body, timeout=60)
        assert scene.memory() < after_one + 100


@pytest.mark.linux
@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("length", [4_000, 30_000])
@pytest.mark.parametrize("asks", [True, False])
def test_long_credentials_cost_next_to_nothing(name, length, asks) -> None:
    """A stranger that sends another one each time, taken or refused, does not keep the server from answering others."""
    kind = {"receiver": Receiver, "gateway": Gateway}[name]
    with kind(tokens=["own-token-1"] if asks else []) as server:
        before = processor_seconds(server.pid)
        wanted = 401 if asks or length > MAX_CREDENTIAL else 200
        for number in range(40):
            headers = {"Authorization": f"Bearer {number:0{length}}"}
            assert server.post(event({"job.name": "100%25"}), headers=headers).status == wanted
        assert processor_seconds(server.pid) - before < 1.5
        assert server.request("GET", "/healthz" if name == "gateway" else "/").status == 200


def processor_seconds(pid):
    """Return what a process has used of processors."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
