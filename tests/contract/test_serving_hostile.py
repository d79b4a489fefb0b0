"""Clients made to hurt, at the receiver and at the gateway: nobody else notices."""

from __future__ import annotations

import json
import threading
import time

import pytest
from support.scenes import SERVERS, serving
from support.served import DATAWAY
from tables.hostile_requests import UNMEANT, wide
from tables.receiver_rules import event


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
