"""How large an event each destination takes; `test_serving_bodies.py` has what holds for the gateway too."""

from __future__ import annotations

import gzip

import pytest
from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Receiver
from tables.hostile_requests import BODY, MIB, padded


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


@pytest.mark.parametrize("path", [DATAWAY, DATAKIT])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("size", "status"), [(8 * MIB - 1, 200), (8 * MIB, 200), (8 * MIB + 1, 413)])
def test_an_event_has_at_most_8_mib_decoded(receiver, path, packed, size, status):
    """T: "downstream still limits each decoded event to 8 MiB"."""
    body = gzip.compress(padded(size), 1) if packed else padded(size)
    reply = receiver.post(body, path, {"Content-Encoding": "gzip"} if packed else {})
    assert reply.status == status
    assert status == 200 or reply.json["error_code"].endswith(".eventTooLarge")


@pytest.mark.parametrize("path", [PORTAL, OPENLINEAGE])
def test_where_no_limit_is_known_larger_events_are_taken(receiver, path):
    """P names no limit; only the receiver's own 64 MiB holds."""
    assert receiver.post(gzip.compress(padded(9 * MIB), 1), path, {"Content-Encoding": "gzip"}).status == 201


def test_what_was_compressed_twice_is_no_json(receiver):
    """It is decompressed once, as it says."""
    reply = receiver.post(gzip.compress(gzip.compress(BODY)), headers={"Content-Encoding": "gzip"})
    assert (reply.status, reply.json["error_code"]) == (400, "dataway.invalidJson")
