"""Events made to hurt: a clear 4xx or a bounded cost, and nobody else notices."""

from __future__ import annotations

import json
import time

import pytest
from support.receiver import Receiver
from tables.hostile_requests import EVENT_START, LARGE, UNMEANT, wide


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


@pytest.mark.parametrize(("body", "code"), [row[1:3] for row in UNMEANT], ids=[row[0] for row in UNMEANT])
def test_what_cannot_be_meant_is_refused(receiver, body, code) -> None:
    """400 with a code, at once; the payload is not kept."""
    began = time.monotonic()
    reply = receiver.post(body)

    assert (reply.status, reply.json["error_code"]) == (400, f"dataway.{code}")
    assert time.monotonic() - began < 5


TAKEN = [*LARGE, ("240 levels", json.loads(EVENT_START + b',"x":' + b"[" * 240 + b"]" * 240 + b"}"))]


@pytest.mark.parametrize("body", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_what_is_only_large_is_taken(receiver, body) -> None:
    """It is an event by the page's rules, so it is kept, and its records are bounded."""
    reply = receiver.post(body)

    assert reply.status == 200
    shown = receiver.request("GET", f"/api/events/{reply.json['event_id']}", timeout=30)
    assert shown.status == 200
    assert sum(shown.json["records"].values()) <= 10_000


def test_what_is_not_projected_is_said(receiver) -> None:
    """300 columns from 300 fields each are 90,000 edges: 10,000 records are made, and record and verdict say so."""
    reply = receiver.post(wide(300, 300))

    shown = receiver.request("GET", f"/api/events/{reply.json['event_id']}", timeout=30).json

    assert sum(shown["records"].values()) == 10_000
    assert shown["record_list"][0]["records_omitted"] == 90_000 + 3 - 10_000
    assert any("more than 10000 records" in item["message"] for item in shown["verdicts"]["dataway"]["warnings"])
