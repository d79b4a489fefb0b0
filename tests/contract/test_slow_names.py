"""Slow name resolution ends at the deadline like everything else."""

from __future__ import annotations

import socket
import time

import pytest
from support.destinations import send, sender
from support.raw_server import RawServer

from truewatch_lineage.delivery import sockets
from truewatch_lineage.delivery.outcome import Verdict
from truewatch_lineage.delivery.resolve import Resolver

NAME = "lineage.example"


@pytest.fixture
def names(monkeypatch):
    """Replace the name service by one that takes ``names["delay"]`` seconds and knows one name: this machine."""
    known = {"delay": 0.0, "asked": 0}
    real = socket.getaddrinfo

    def fake(host, port, *args, **more):
        known["asked"] += 1
        time.sleep(known["delay"])
        return real("127.0.0.1" if host == NAME else host, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    monkeypatch.setattr(sockets, "RESOLVER", Resolver())
    return known


def test_a_slow_name_service_costs_no_more_than_the_deadline(names) -> None:
    """Nothing was sent, and the reason names the name."""
    names["delay"] = 1.5
    with RawServer() as server, sender(f"http://{NAME}:{server.port}") as to:
        started = time.monotonic()
        outcome = send(to, 0.3)
        elapsed = time.monotonic() - started

        assert (outcome.verdict, outcome.ambiguous) == (Verdict.RETRY, False)
        assert NAME in outcome.reason
        assert elapsed < 0.6
        assert send(to, 5).verdict is Verdict.DELIVERED
        assert names["asked"] == 1


def test_a_name_that_is_not_known_is_a_retry() -> None:
    """RFC 6761, 6.4: ``.invalid`` never resolves. An outage looks the same, so it is a retry."""
    with sender("http://no-such-host.invalid") as to:
        outcome = send(to, 5)

    assert outcome.verdict is Verdict.RETRY
    assert "no-such-host.invalid" in outcome.reason


def _two_addresses(monkeypatch, port: int) -> None:
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: both)


def test_the_next_address_is_tried_where_the_first_refuses(names, monkeypatch) -> None:
    """A name may lead to several machines, one of them down."""
    with RawServer() as server, sender(f"http://{NAME}:{server.port}") as to:
        _two_addresses(monkeypatch, server.port)
        assert send(to).verdict is Verdict.DELIVERED


@pytest.mark.linux
def test_an_address_that_swallows_packets_leaves_time_for_the_next(names, monkeypatch) -> None:
    """Each gets its share of the time: IPv6 that leads nowhere is common."""
    with RawServer() as server, sender(f"http://{NAME}:{server.port}") as to, socket.socket() as full:
        full.bind(("127.0.0.2", server.port))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        _two_addresses(monkeypatch, server.port)
        verdict = send(to, 1).verdict
        for one in waiting:
            one.close()

    assert verdict is Verdict.DELIVERED
