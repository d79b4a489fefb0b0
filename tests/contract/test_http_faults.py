"""What a peer or the network does wrong becomes a result, in time; nothing is raised, followed or read without end."""

from __future__ import annotations

import resource
import socket
import threading
import time
from dataclasses import replace

import pytest
from support.destinations import EVENT_GZ, destination, send, sender
from support.raw_server import (
    Behaviour,
    RawServer,
    answer,
    close,
    cut,
    delay,
    drip,
    early,
    gzip_bomb,
    hang,
    huge,
    message,
    on_accept,
    reset,
    verbatim,
)

from truewatch_lineage.delivery.http import Fault, HttpClient
from truewatch_lineage.delivery.outcome import Verdict
from truewatch_lineage.protocol import MAX_ANSWER_BYTES

SLACK = 0.3
SHORT = 0.4
WHOLE = message(200, body={"status": "ok"})


def _post(url: str, seconds: float = 5.0, body: bytes = EVENT_GZ, headers=None):
    """Make one request with a client of its own."""
    client = HttpClient(destination(url), 1)
    try:
        return client.post(body, headers or {}, deadline=time.monotonic() + seconds)
    finally:
        client.close()


def _chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    sized = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + sized + end


BREAKS = {
    "reset on accept": (on_accept(reset()), Fault.RESET),
    "close on accept": (on_accept(close()), Fault.RESET),
    "reset before the answer": (reset(), Fault.RESET),
    "close without an answer": (close(), Fault.RESET),
    "cut in the status line": (verbatim(b"HTT"), Fault.PROTOCOL),
    "cut after the status line": (verbatim(b"HTTP/1.1 200 OK\r\n"), Fault.TRUNCATED),
    "cut in a header": (verbatim(b"HTTP/1.1 200 OK\r\nContent-Le"), Fault.TRUNCATED),
    "cut in the body": (cut(), Fault.TRUNCATED),
    "cut in a chunk": (verbatim(_chunked(b"{}", end=b"5\r\nab")), Fault.TRUNCATED),
    "cut between chunks": (verbatim(_chunked(b"{}", end=b"")), Fault.TRUNCATED),
    "no HTTP": (verbatim(b"SSH-2.0-OpenSSH_9.6\r\n"), Fault.PROTOCOL),
    "no status": (verbatim(b"HTTP/1.1 abc\r\n\r\n"), Fault.PROTOCOL),
    "a chunk without a size": (verbatim(_chunked(end=b"zz\r\n")), Fault.TRUNCATED),
    **{
        f"a chunk of {size!r}": (verbatim(_chunked(end=size.encode() + b"\r\nab\r\n0\r\n\r\n")), Fault.TRUNCATED)
        for size in ("-1", "-0", "+2", "0x2", " 2", "0_2", "", "²", "0" * 17)
    },
    **{
        f"a length of {length!r}": (verbatim(message(200, {"Content-Length": length}, b"ab")), Fault.PROTOCOL)
        for length in ("-1", "+2", "0x2", "0_2", "2.0", "", "2, 2", "9" * 20, "9" * 5000)
    },
    "two lengths": (verbatim(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab"), Fault.PROTOCOL),
    "a line without an end": (verbatim(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000), Fault.PROTOCOL),
    "too many headers": (verbatim(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"), Fault.PROTOCOL),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_answer_is_a_retry_and_may_have_arrived(name) -> None:
    """Whatever breaks once the request is under way is tried again, and known to be ambiguous."""
    behaviour, fault = BREAKS[name]
    with RawServer([behaviour, behaviour]) as server:
        result = _post(server.url)
        with sender(server.url) as to:
            outcome = send(to)

    assert (result.status, result.fault) == (None, fault)
    assert f"127.0.0.1:{server.port}" in result.detail
    assert outcome.verdict is Verdict.RETRY
    # A reset may come so early that the connection never was one.
    assert outcome.ambiguous or name == "reset on accept"


DELAYS = {
    "hang on accept": on_accept(hang()),
    "hang": hang(),
    "drip the status line": drip(WHOLE, 0.02),
    "drip the headers": drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 90, 0.01, 6),
    "drip the body": drip(message(200, {"Content-Length": "1000"}, b"x"), 0.01),
    "drip chunks": drip(_chunked(*[b"x"] * 100), 0.01),
    "interim answers without end": drip(b"HTTP/1.1 102 Processing\r\n\r\n" * 1000, 0.001, 28),
    "stop in the body": verbatim(message(200, {"Content-Length": "1000"}, b"x"), close=False),
    "read nothing": early(delay(SHORT * 3, close())),
}


@pytest.mark.parametrize("name", DELAYS)
def test_the_deadline_is_total(name) -> None:
    """Each misbehaviour ends at the deadline, however often a byte arrives before; the request may have arrived."""
    body = bytes(32 * 1024 * 1024) if name == "read nothing" else EVENT_GZ
    with RawServer([DELAYS[name]]) as server:
        started = time.monotonic()
        result = _post(server.url, SHORT, body)
        elapsed = time.monotonic() - started

    assert result.fault is Fault.TIMEOUT
    assert result.detail == f"no answer from 127.0.0.1:{server.port} within 0.4 s"
    assert SHORT * 0.9 <= elapsed <= SHORT + SLACK
    assert result.sent


def test_the_destinations_timeout_counts_where_the_caller_has_more_time() -> None:
    """A sender gives an attempt at most the destination's timeout."""
    with RawServer([hang()]) as server, sender(server.url, timeout=SHORT) as to:
        started = time.monotonic()
        outcome = send(to, 30)

    assert outcome.verdict is Verdict.RETRY
    assert time.monotonic() - started <= SHORT + SLACK


def test_no_time_left_means_no_request() -> None:
    """A deadline that has passed is a timeout, without a connection."""
    with RawServer() as server, sender(server.url) as to:
        outcome = send(to, -1)

        assert (outcome.verdict, outcome.ambiguous) == (Verdict.RETRY, False)
        assert server.connections == 0


def test_a_refused_connection_is_told_at_once() -> None:
    """Nobody listens: no wait, a retry, and nothing was sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    started = time.monotonic()
    result = _post(f"http://127.0.0.1:{port}")

    assert (result.fault, result.detail, result.sent) == (Fault.REFUSED, f"refused by 127.0.0.1:{port}", False)
    assert time.monotonic() - started < SLACK


def test_an_address_that_swallows_packets_is_a_timeout() -> None:
    """A listener whose backlog is full never completes a handshake."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)
        started = time.monotonic()
        result = _post(f"http://127.0.0.1:{address[1]}", SHORT)
        elapsed = time.monotonic() - started
        for one in waiting:
            one.close()

    assert (result.fault, result.sent) == (Fault.TIMEOUT, False)
    assert elapsed <= SHORT + SLACK


def test_a_huge_answer_costs_neither_time_nor_memory() -> None:
    """Of 100 MB the first 64 KiB are read, the event is delivered, and the connection is closed."""
    with RawServer([huge(), answer()]) as server, sender(server.url) as to:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.monotonic()
        assert send(to).verdict is Verdict.DELIVERED
        assert time.monotonic() - started < 1
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024
        assert send(to).verdict is Verdict.DELIVERED
        assert server.connections == 2


@pytest.mark.parametrize(
    ("head", "size", "verdict"),
    [
        ("Transfer-Encoding: chunked\r\n\r\n-1\r\n", None, Verdict.RETRY),
        ("Content-Length: -1\r\n\r\n", None, Verdict.RETRY),
        ("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", MAX_ANSWER_BYTES, Verdict.DELIVERED),
        ("Content-Length: 9223372036854775807\r\n\r\n", MAX_ANSWER_BYTES, Verdict.DELIVERED),
        ("\r\n", MAX_ANSWER_BYTES, Verdict.DELIVERED),
    ],
    ids=["chunk of -1", "length of -1", "huge chunk", "huge length", "no length"],
)
def test_no_size_makes_us_read_without_limit(head, size, verdict) -> None:
    """Whatever an answer says of its size, 64 KiB of its body are read at most, of 100 MB that are there."""

    def flood(exchange) -> bool:
        exchange.send(b"HTTP/1.1 200 OK\r\n" + head.encode())
        for _ in range(1600):
            exchange.send(b" " * 65536)
        return False

    with RawServer([Behaviour(flood), Behaviour(flood)]) as server, sender(server.url) as to:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = _post(server.url)
        assert len(result.body) == (size or 0)
        assert send(to).verdict is verdict
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_a_gzip_bomb_stays_packed() -> None:
    """What an answer's body decodes to is never found out."""
    with RawServer([gzip_bomb(64 * 1024 * 1024)]) as server:
        result = _post(server.url)

    assert result.status == 200
    assert result.body.startswith(b"\x1f\x8b")
    assert len(result.body) <= MAX_ANSWER_BYTES
    assert server.requests[0].header("Accept-Encoding") is None


@pytest.mark.parametrize(
    ("raw", "body", "connections"),
    [
        (_chunked(b"ab", b"cd"), b"abcd", 1),
        (_chunked(b"ab", end=b"0\r\nX-Trailer: y\r\n\r\n"), b"ab", 1),
        (_chunked(end=b"2;a=b;c\r\nab\r\n0000000000000002  \r\ncd\r\n0;x\r\n\r\n"), b"abcd", 1),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", b"{}", 1),
        (_chunked(bytes(MAX_ANSWER_BYTES)), bytes(MAX_ANSWER_BYTES), 2),
        (message(200, body=bytes(MAX_ANSWER_BYTES)), bytes(MAX_ANSWER_BYTES), 1),
        (message(200, body=bytes(MAX_ANSWER_BYTES + 1)), bytes(MAX_ANSWER_BYTES), 2),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", 1),
        (message(200, {"Connection": "close"}, b"{}"), b"{}", 2),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"{}", 2),
        (message(200, body=b"{}") + b"HTTP/1.1 500 Smuggled\r\n\r\n", b"{}", None),
    ],
    ids=[
        *("chunked", "trailer", "extensions", "a length twice", "64 KiB in chunks", "64 KiB", "more", "204", "close"),
        *("HTTP/1.0", "more than asked for"),
    ],
)
def test_a_connection_read_to_its_end_is_used_again(raw, body, connections) -> None:
    """One that is not, or that the answer says will close, is closed."""
    with RawServer([verbatim(raw, close=False), answer(200, body=b"second")]) as server:
        client = HttpClient(destination(server.url), 1)
        first = client.post(EVENT_GZ, {}, deadline=time.monotonic() + 5)
        second = client.post(EVENT_GZ, {}, deadline=time.monotonic() + 5)
        client.close()

        assert (first.fault, first.body) == (None, body)
        assert second.body == b"second"
        assert connections in {None, server.connections}


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    """RFC 9112, 6.3: otherwise the length is determined by the number of octets received before closing."""
    with RawServer([verbatim(b"HTTP/1.1 200 OK\r\n\r\n{}")]) as server:
        result = _post(server.url)

    assert (result.status, result.body, result.fault) == (200, b"{}", None)


def test_connections_are_kept_and_counted() -> None:
    """Twenty events, one after the other, need one connection."""
    with RawServer() as server, sender(server.url) as to:
        assert [send(to).verdict for _ in range(20)] == [Verdict.DELIVERED] * 20
        assert server.connections == 1


def test_never_more_connections_than_allowed() -> None:
    """Eight threads share two connections; each of them gets its turn."""
    with RawServer(default=delay(0.01, answer())) as server, sender(server.url, connections=2) as to:
        verdicts = []
        threads = [threading.Thread(target=lambda: verdicts.append(send(to).verdict)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert verdicts == [Verdict.DELIVERED] * 8
        assert server.connections <= 2


def test_waiting_for_a_connection_ends_at_the_deadline() -> None:
    """All are in use: a timeout, without a request."""
    with RawServer([hang()]) as server, sender(server.url, connections=1) as to:
        blocker = threading.Thread(target=send, args=(to, SHORT * 2))
        blocker.start()
        server.wait_for(1)
        started = time.monotonic()
        outcome = send(to, SHORT)
        elapsed = time.monotonic() - started
        blocker.join()

    assert (outcome.verdict, outcome.ambiguous) == (Verdict.RETRY, False)
    assert elapsed <= SHORT + SLACK


def test_a_kept_connection_does_not_keep_the_deadline_of_before() -> None:
    """A short attempt after a long one, over the same connection, whose large body nobody takes."""
    with RawServer([answer(), early(delay(2, close()))]) as server:
        client = HttpClient(destination(server.url), 1)
        assert client.post(EVENT_GZ, {}, deadline=time.monotonic() + 5).status == 200
        started = time.monotonic()
        result = client.post(bytes(32 * 1024 * 1024), {}, deadline=started + SHORT)
        elapsed = time.monotonic() - started
        client.close()

        assert server.connections == 1
    assert result.fault is Fault.TIMEOUT
    assert elapsed <= SHORT + SLACK


def test_a_connection_that_the_server_has_closed_is_not_used_again() -> None:
    """The stale connection is noticed before the request, so that nothing is ambiguous."""
    with RawServer([answer(close=True), answer()]) as server, sender(server.url) as to:
        assert send(to).verdict is Verdict.DELIVERED
        time.sleep(0.05)
        assert send(to).verdict is Verdict.DELIVERED
        assert server.connections == 2


def test_an_early_answer_counts_though_the_body_was_not_taken() -> None:
    """A server may refuse 413 and close before it has read all of a large body."""

    def refuse(exchange):
        exchange.send(message(413, {"Connection": "close"}))
        exchange.sock.shutdown(socket.SHUT_WR)
        exchange.pause(0.1)
        return False

    with RawServer([Behaviour(refuse, "head")]) as server:
        result = _post(server.url, body=bytes(8 * 1024 * 1024))

    assert (result.status, result.fault) == (413, None)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(status) -> None:
    """Neither the event nor the token reaches the other host; the message names it without its query."""
    with RawServer() as other:
        target = f"{other.url}/elsewhere?next=1"
        with RawServer([answer(status, {"Location": target})]) as server, sender(server.url) as to:
            outcome = send(to)

            assert outcome.verdict is Verdict.PARK
            assert f"redirected to {other.url}/elsewhere)" in outcome.reason
            assert len(server.requests) == 1
        assert other.connections == 0


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("/moved?token=1#x", "redirected to {url}/moved"),
        ("//other.example/x", "redirected to http://other.example/x"),
        ("https://user:secret@other.example/x", "redirected to https://other.example/x"),
        ("https://[::1]:8443/x", "redirected to https://[::1]:8443/x"),
        ("https://[::1", "redirected to what is no url"),
        ("javascript:alert(1)", "redirected to what is no url"),
        ("https://x.example/" + "y" * 5000, "redirected to https://x.example/" + "y" * 182),
    ],
)
def test_where_a_redirect_points_is_shown_without_secrets(location, shown) -> None:
    """Relative ones are resolved; query, fragment and credentials are left out; long ones are cut."""
    with RawServer([answer(302, {"Location": location})]) as server:
        assert _post(server.url).detail == shown.format(url=server.url)


@pytest.mark.parametrize(
    "headers", [{"X-Bad": "a\r\nX-Smuggled: 1"}, {"X-Bad": "a\0"}, {"X-Bad": "ü"}, {"X Bad": "a"}, {"X-Bad\r\nY": "a"}]
)
def test_an_illegal_header_never_reaches_the_wire(headers) -> None:
    """The event stays, the destination is parked, and the value is not echoed."""
    with RawServer() as server:
        result = _post(server.url, headers=headers)

        assert result.fault is Fault.SETTINGS
        assert "Smuggled" not in result.detail
        assert server.connections == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/a b", "http://127.0.0.1:9/ü", "ftp://127.0.0.1:9/", "http://:9/"])
def test_a_url_that_can_not_be_asked_for_is_a_setting_to_mend(url) -> None:
    """Nothing is guessed: the result names the setting."""
    client = HttpClient(replace(destination(""), url=url), 1)

    assert client.post(b"", {}, deadline=time.monotonic() + 1).fault is Fault.SETTINGS
