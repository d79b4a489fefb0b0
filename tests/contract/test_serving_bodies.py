"""Bodies as they come over the wire, to the receiver and to the gateway: compressed, chunked, broken, or too slow."""

from __future__ import annotations

import gzip
import json
import socket
import time
from pathlib import Path

import pytest
from support.scenes import SERVERS, serving
from support.served import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL
from tables.hostile_requests import BODY, BROKEN_GZIP, HEAD, MALFORMED, MIB, SLOW, bomb, named
from tables.receiver_rules import EVENT, event

IMPATIENT = "from truewatch_lineage.serving import connection as c; c.HEAD_SECONDS = c.BODY_SECONDS = 0.5; "


@pytest.fixture(scope="module", params=SERVERS)
def running(request):
    """Each of the servers."""
    with serving(request.param) as found:
        yield found


@pytest.fixture
def scene(running):
    """One of them, with nothing taken yet."""
    running.before = len(running.all_events())
    return running


@pytest.mark.parametrize("path", [DATAWAY, DATAKIT, PORTAL, OPENLINEAGE])
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_taken(scene, path, encoding):
    """T: "Content-Encoding: gzip is supported"."""
    changed = event({"job.name": f"{path} {encoding}"})
    body = gzip.compress(json.dumps(changed).encode())
    reply = scene.server.post(body, path, {"Content-Encoding": encoding})
    assert reply.status == (201 if path in {PORTAL, OPENLINEAGE} else 200)
    assert [one["job"] for one in scene.events()] == [changed["job"]]


def test_several_members_are_one_event(scene):
    """RFC 1952, 2.2: "A gzip file consists of a series of "members"", and decodes to their concatenation."""
    body = json.dumps(event({"job.name": "members"})).encode()
    packed = b"".join(gzip.compress(part) for part in [body[:10], b"", body[10:50], body[50:]])
    assert scene.server.post(packed, headers={"Content-Encoding": "gzip"}).status == 200
    assert scene.events() == [json.loads(body)]


def test_chunks_are_joined(scene):
    """RFC 9112, 7.1: a chunked body, here with an extension and a trailer."""
    body = json.dumps(event({"job.name": "chunks"})).encode()
    chunks = b"5;a=b\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (body[:5], len(body) - 5, body[5:])
    fields = b"Transfer-Encoding: chunked\r\nConnection: close\r\n"
    assert scene.server.raw(HEAD % (DATAWAY.encode(), fields) + chunks).startswith(b"HTTP/1.1 200")
    assert scene.events() == [json.loads(body)]


def test_a_client_that_asks_before_it_sends_is_told_to_go_on(scene):
    """RFC 9110, 10.1.1: curl and Java's client ask so before a large body."""
    body = json.dumps(event({"job.name": "expected"})).encode()
    fields = b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", scene.server.port), timeout=10) as client:
        client.sendall(HEAD % (DATAWAY.encode(), fields))
        assert client.recv(65536).startswith(b"HTTP/1.1 100")
        client.sendall(body)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
    assert scene.events() == [json.loads(body)]


def test_one_connection_serves_many_requests(scene):
    """Kept alive and even pipelined requests are all answered."""
    request = HEAD % (DATAWAY.encode(), b"Content-Length: %d\r\n" % len(BODY)) + BODY
    last = HEAD % (DATAKIT.encode(), b"Connection: close\r\nContent-Length: %d\r\n" % len(BODY)) + BODY
    assert scene.server.raw(request * 3 + last).count(b"HTTP/1.1 200") == 4


@pytest.mark.parametrize("body", [row[1] for row in BROKEN_GZIP], ids=[row[0] for row in BROKEN_GZIP])
def test_broken_gzip_is_refused(scene, body):
    """What can't be decoded whole is a 400, and nothing of it is stored."""
    reply = scene.server.post(body, headers={"Content-Encoding": "gzip"})
    assert (reply.status, reply.json["error_code"].partition(".")[2]) == (400, "brokenGzip")
    assert scene.events() == []


@pytest.mark.parametrize("encoding", ["deflate", "br", "gzip, gzip"])
def test_other_encodings_are_refused(scene, encoding):
    """RFC 9110, 15.5.16: 415 for a Content-Encoding that is not supported."""
    reply = scene.server.post(BODY, headers={"Content-Encoding": encoding})
    assert (reply.status, reply.json["error_code"].partition(".")[2]) == (415, "unsupportedEncoding")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("over", "status"), [(-1, 200), (0, 200), (1, 413)])
def test_a_body_has_at_most_64_mib_as_received(scene, over, status, chunked):
    """T: "a 64 MiB limit on the received body, measured before decompression"."""
    body = named(64 * MIB + over - len(gzip.compress(BODY)), BODY)
    assert len(body) == 64 * MIB + over
    headers = {"Content-Encoding": "gzip"}
    sent = iter([body[: 32 * MIB], body[32 * MIB :]]) if chunked else body
    reply = scene.server.request("POST", DATAKIT, sent, headers, timeout=30)
    assert reply.status == status
    assert status == 200 or reply.json["error_code"].endswith(".bodyTooLarge")


@pytest.mark.linux
def test_a_bomb_is_stopped_at_the_limit(scene):
    """256 MiB in 0.25 MiB is refused without being decoded: the process does not grow by it."""
    body = bomb(256)
    Path(f"/proc/{scene.server.pid}/clear_refs").write_text("5")  # forgets the peak of other tests
    before = scene.memory()
    began = time.monotonic()
    for path in (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE):
        assert scene.server.post(body, path, {"Content-Encoding": "gzip"}).status == 413
    assert time.monotonic() - began < 5
    peak = Path(f"/proc/{scene.server.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
    assert int(peak) / 1024 < before + 150


def test_an_offered_protocol_is_declined(scene):
    """Java's client offers HTTP/2 in every request: it is answered as if it had not, and the connection goes on."""
    offered = event({"job.name": "offered"})
    body = json.dumps(offered).encode()
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
    request = head % (DATAWAY.encode(), offer, len(body)) + body
    with socket.create_connection(("127.0.0.1", scene.server.port), timeout=10) as client:
        for parts in ([request], [request[:-9], request[-9:]], [request[:50], request[50:]]):
            for part in parts:
                client.sendall(part)
                time.sleep(0.05)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(0.05)  # the answer's body may come after its head
    assert scene.events()[-1] == offered
    closing = HEAD % (DATAWAY.encode(), offer.replace(b": Upgrade", b": close, Upgrade") + b"Content-Length: 2\r\n")
    assert scene.server.raw(closing + b"{}").startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("request_bytes", MALFORMED)
def test_malformed_http_is_answered_400(scene, request_bytes):
    """A far too large head, contradicting lengths and nonsense end in 400 or a reset, never in a stored event."""
    answer = scene.server.raw(request_bytes)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    assert scene.events() == []
    assert scene.server.post(EVENT).status == 200


@pytest.mark.parametrize("size", [1_000, 5_000])
def test_a_head_in_pieces_may_be_as_large_as_one_in_a_piece(scene, size):
    """Up to 64 KiB, of which each byte counts once."""
    fields = [b"X-%d: %s\r\n" % (number, b"y" * size) for number in range(60_000 // size)]
    head, body = HEAD % (DATAWAY.encode(), b"Connection: close\r\nContent-Length: %d\r\n" % len(BODY)), BODY
    pieces = [head[:-2], *fields, b"\r\n" + body]
    assert scene.server.raw(*pieces, pause=0.01).startswith(b"HTTP/1.1 200")
    assert scene.server.raw(*pieces[:-1], *fields, pieces[-1], pause=0.01)[:12] in {b"", b"HTTP/1.1 400"}


@pytest.mark.parametrize("name", SERVERS)
def test_what_is_no_request_is_counted_and_leaves_a_line(name):
    """As any other request that fails; the gateway's has the address, once a minute."""
    with serving(name) as scene:
        for request_bytes in MALFORMED:
            scene.server.raw(request_bytes)
        log = scene.server.wait_for_log("unreadable other 400 0 ms")
        assert name == "receiver" or "from 127.0.0.1 http.unreadable: Invalid HTTP request received." in log
        shown = scene.server.request("GET", "/metrics").body.decode()
        counted = {line.rpartition("{")[2].partition("}")[0]: line.split()[-1] for line in shown.splitlines()}
        # Of the nine, the one with a broken chunk has begun as a request.
        assert counted['path="other",status="400"'] == "8"
        assert counted[f'path="{DATAWAY}",status="dropped"'] == "1"


def test_half_a_body_stores_nothing(scene):
    """A client that leaves in the middle has sent nothing."""
    with socket.create_connection(("127.0.0.1", scene.server.port)) as client:
        client.sendall(HEAD % (DATAWAY.encode(), b"Content-Length: %d\r\n" % len(BODY)) + BODY[:-1])
    assert scene.server.post(event({"job.name": "whole"})).status == 200
    assert [one["job"]["name"] for one in scene.events()] == ["whole"]


@pytest.mark.parametrize("name", SERVERS)
def test_slow_requests_are_cut_off(name):
    """A head and a body have deadlines, here half a second; others are served meanwhile."""
    with serving(name, IMPATIENT) as scene:
        for what, pieces in SLOW:
            began = time.monotonic()
            scene.server.raw(*pieces, pause=0.05)
            assert time.monotonic() - began < 2.5, what
            assert scene.server.post(EVENT).status == 200, what
