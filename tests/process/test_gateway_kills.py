"""kill -9 of the gateway, and of the destination, while clients send: what was answered 2xx arrives, in order."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from collections import defaultdict

import pytest
from support.figures import show
from support.gateway import Gateway
from support.receiver import Receiver
from support.served import DATAWAY, OPENLINEAGE
from tables.receiver_rules import event

CLIENTS = 6
FLYING = 64
"""Deliveries that may be in flight at once: the gateway's own default."""

LENGTH = 5
"""Events of a run."""


class Client(threading.Thread):
    """Sends one run after the other, each event until it is answered 2xx.

    Attributes:
        answered: Of each event that was, the name of its run and its number in it.
        unsure: How often it had to send again without knowing what became of it.
    """

    def __init__(self, gateway: Gateway, name: str) -> None:
        super().__init__()
        self._gateway = gateway
        self._prefix = name
        self.ended = threading.Event()
        self.answered: list[tuple[str, int]] = []
        self.unsure = 0

    def run(self) -> None:
        """Send until told to end, and finish the run then."""
        number = 0
        while not self.ended.is_set():
            self._send_run(f"{self._prefix}-{number}")
            number += 1

    def _send_run(self, run: str) -> None:
        connection = self._gateway.connection(timeout=5)
        for number in range(LENGTH):
            body = json.dumps(event({"run.runId": run, "run.facets": {"n": {"number": number}}})).encode()
            while not self._is_answered(connection, body):
                connection.close()
                time.sleep(0.02)
                connection = self._gateway.connection(timeout=5)
            self.answered.append((run, number))
        connection.close()

    def _is_answered(self, connection: http.client.HTTPConnection, body: bytes) -> bool:
        try:
            connection.request("POST", random.choice((DATAWAY, OPENLINEAGE)), body)
            answer = connection.getresponse()
            answer.read()
        except ConnectionRefusedError:
            return False
        except (OSError, http.client.HTTPException):
            self.unsure += 1
            return False
        return answer.status in {200, 201}


@contextlib.contextmanager
def clients(gateway):
    """Let clients send for a ``with`` block; each run is whole at its end."""
    running = [Client(gateway, f"client-{number}") for number in range(CLIENTS)]
    for client in running:
        client.start()
    try:
        yield running
    finally:
        for client in running:
            client.ended.set()
        for client in running:
            client.join()


def numbers_by_run(receiver):
    """Return the numbers of each run's events in the order in which they first arrived."""
    found = defaultdict(list)
    for one in receiver.events():
        found[one["run_id"]].append(one["event"]["run"]["facets"]["n"]["number"])
    return found


@pytest.mark.parametrize("beside", [False, True], ids=["delivering", "with a courier beside it"])
@pytest.mark.parametrize(
    ("kills", "durability"), [(6, "process"), pytest.param(60, "power", marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_what_was_answered_arrives_in_order_whatever_is_killed(kills, durability, beside, capsys):
    """The accounting rule, through kills of the gateway, and of its courier, and some of the destination."""
    dice = random.Random(7)
    settings = {"durability": durability, "delivery": "spool" if beside else "auto"}
    with Receiver() as receiver, Gateway(receiver.url, env=settings) as gateway, contextlib.ExitStack() as couriers:
        with clients(gateway) as running:
            for kill in range(kills):
                if beside and kill % 2 == 0:
                    couriers.close()
                    couriers.enter_context(gateway.courier())
                time.sleep(dice.uniform(0.1, 0.5))
                gateway.kill()
                if kill % 3 == 2:
                    receiver.kill()
                    receiver.start()
                gateway.start()
            time.sleep(0.5)
        gateway.wait_until_empty(60)
        answered = {one for client in running for one in client.answered}
        unsure = sum(client.unsure for client in running)
        found = numbers_by_run(receiver)
        stats = receiver.stats()
        spooled = gateway.spooled()
    received = {(run, number) for run, numbers in found.items() for number in numbers}
    assert len(answered) > 100
    assert not answered - received
    assert (spooled.dead, spooled.tombstones) == (0, 0)
    assert all(numbers == sorted(numbers) for numbers in found.values())
    # Each kill, of any of them, may repeat what was in flight; each request that was not answered may be stored twice.
    assert stats["duplicates"] <= (kills + kills // 3 + beside * kills // 2) * FLYING + unsure
    counted = f"{len(answered):,} events answered, {kills} kills, {stats['duplicates']} duplicates"
    show(capsys, f"{counted}, {unsure} requests unsure")
