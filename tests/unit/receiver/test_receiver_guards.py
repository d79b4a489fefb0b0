"""Off loopback the token guards the API too; what can't be tested there by binding is tested by ASGI scopes."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from truewatch_lineage.receiver.app import doorkeeper
from truewatch_lineage.receiver.rules import ALL_RULES, OWNER
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.guards import is_loopback

TOKEN = "local-test-token"


def status_of(path, headers=(), query=b"", *, gate, loopback=False):
    """Return the status that a request gets; 200 is what stands behind the doorkeeper."""
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "query_string": query, "headers": list(headers), "scheme": "http"}
    # In a thread of its own: the browser tests' driver keeps a loop running in the one of the tests.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(doorkeeper(app, gate, loopback=loopback)(scope, None, send))).result()
    return sent[0]["status"]


OFF_LOOPBACK = [
    ("/api/events", (), b"", 401),
    ("/api/stats", [(b"x-token", b"wrong")], b"", 401),
    ("/api/stats", [(b"x-token", TOKEN.encode())], b"", 200),
    ("/api/stats", [(b"authorization", b"Bearer " + TOKEN.encode())], b"", 200),
    ("/api/stats", (), b"token=" + TOKEN.encode(), 200),
    ("/", (), b"", 401),
    ("/metrics", (), b"", 401),
    ("/healthz", (), b"", 200),
    *[(rules.path, (), b"", 200) for rules in ALL_RULES],
]


@pytest.mark.parametrize(("path", "headers", "query", "status"), OFF_LOOPBACK)
def test_off_loopback_the_api_asks_for_a_token(path, headers, query, status):
    """The intake has its own rules, and a container's probe needs no token."""
    assert status_of(path, headers, query, gate=Gate([TOKEN], owner=OWNER)) == status


@pytest.mark.parametrize("loopback", [True, False])
def test_without_a_token_the_api_is_open(loopback):
    """--no-token means it, and loopback needs none."""
    assert status_of("/api/stats", [(b"host", b"localhost")], gate=Gate(owner=OWNER), loopback=loopback) == 200


def test_on_loopback_the_token_guards_only_the_intake():
    """Section 8: "the token guards the intake, and with another --host the API and page too"."""
    assert status_of("/api/stats", [(b"host", b"localhost")], gate=Gate([TOKEN], owner=OWNER), loopback=True) == 200


HOSTS = [
    ("127.0.0.1", True),
    ("127.8.9.1", True),
    ("::1", True),
    ("[::1]", True),
    ("LOCALHOST", True),
    ("x.localhost", True),
    ("0.0.0.0", False),
    ("::", False),
    ("10.0.0.1", False),
    ("localhost.example", False),
    ("", False),
]


@pytest.mark.parametrize(("host", "expected"), HOSTS)
def test_loopback_is_recognised(host, expected):
    """RFC 1122, RFC 4291 and RFC 6761: 127/8, ::1, localhost and what is below it."""
    assert is_loopback(host) is expected


def test_a_gate_does_not_show_its_tokens():
    """Its repr only counts them."""
    assert TOKEN not in repr(Gate([TOKEN], owner=OWNER))
