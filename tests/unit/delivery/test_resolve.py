"""Name resolution within a deadline. The name service is a fake here: a slow or failing one can't be had otherwise."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from truewatch_lineage.delivery.resolve import CACHE_SECONDS, NameTimeoutError, Resolver, is_loopback

ADDRESS = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 443))]


class NameService:
    """Answers after ``delay`` seconds, or fails."""

    def __init__(self, delay: float = 0.0, *, fails: bool = False) -> None:
        self.delay = delay
        self.fails = fails
        self.asked: list[str] = []

    def __call__(self, host, port, **_):
        self.asked.append(host)
        time.sleep(self.delay)
        if self.fails:
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        return ADDRESS


@pytest.fixture
def service(monkeypatch):
    """Replace the machine's name service."""
    fake = NameService()
    monkeypatch.setattr(socket, "getaddrinfo", fake)
    return fake


def _ask(resolver: Resolver, seconds: float = 1.0, host: str = "lineage.example"):
    return resolver.resolve(host, 443, time.monotonic() + seconds)


def test_an_answer_is_kept_for_a_while(service, monkeypatch) -> None:
    """Two connections in a row ask once; after half a minute the name may have moved."""
    resolver = Resolver()
    assert [_ask(resolver), _ask(resolver)] == [ADDRESS, ADDRESS]
    assert len(service.asked) == 1

    later = time.monotonic() + CACHE_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    _ask(resolver)
    assert len(service.asked) == 2


def test_a_forgotten_name_is_asked_for_again(service) -> None:
    """Where no address could be reached the next attempt asks anew."""
    resolver = Resolver()
    _ask(resolver)
    resolver.forget("lineage.example", 443)
    _ask(resolver)

    assert len(service.asked) == 2


def test_a_slow_service_is_waited_for_until_the_deadline_by_one_thread(service) -> None:
    """Three attempts in a row share one pending question, whose late answer serves the next."""
    service.delay = 0.5
    resolver = Resolver()
    for _ in range(3):
        started = time.monotonic()
        with pytest.raises(NameTimeoutError):
            _ask(resolver, 0.1)
        assert time.monotonic() - started < 0.4

    assert _ask(resolver, 2) == ADDRESS
    assert len(service.asked) == 1


def test_a_failure_is_told_and_not_kept(service) -> None:
    """The next attempt asks again."""
    service.fails = True
    resolver = Resolver()
    with pytest.raises(socket.gaierror):
        _ask(resolver)
    service.fails = False

    assert _ask(resolver) == ADDRESS


def test_addresses_and_localhost_are_not_asked_for(monkeypatch) -> None:
    """RFC 6761, 6.3: localhost is always loopback; no thread is started for either."""
    monkeypatch.setattr(threading.Thread, "start", lambda _self: pytest.fail("a thread was started"))
    resolver = Resolver()

    assert [info[4][0] for info in _ask(resolver, host="localhost")] == ["127.0.0.1", "::1"]
    assert [info[4][0] for info in _ask(resolver, host="192.0.2.7")] == ["192.0.2.7"]
    assert [info[4][0] for info in _ask(resolver, host="::1")] == ["::1"]


def test_while_the_interpreter_ends_an_old_answer_is_used(service, monkeypatch) -> None:
    """From Python 3.12 on no thread starts then; without an old answer the name can't be resolved."""

    def refuse(_self) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    resolver = Resolver()
    _ask(resolver)
    later = time.monotonic() + CACHE_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert _ask(resolver) == ADDRESS
    with pytest.raises(socket.gaierror):
        _ask(resolver, host="other.example")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("datakit.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("", False),
    ],
)
def test_loopback_is_known_by_its_form(host, expected) -> None:
    """No name is looked up for it."""
    assert is_loopback(host) is expected
