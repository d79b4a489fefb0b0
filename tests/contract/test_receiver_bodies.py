"""Bodies as they come over the wire: compressed, chunked, too large, broken, or too slow."""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from pathlib import Path

import pytest
from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Receiver, Reply
from tables.receiver_rules import EVENT, event

MIB = 1024 * 1024
BODY = json.dumps(EVENT).encode()
HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n"
IMPATIENT = (
    "from truewatch_lineage.serving import connection as c;"
    "c.HEAD_SECONDS = c.BODY_SECONDS = 0.5;"
    "from truewatch_lineage.cli.receive import command; command()"
)


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


@pytest.fixture(autouse=True)
def empty(receiver):
    """Begin with nothing stored."""
    receiver.clear()


def padded(size):
    """Return the event padded to exactly ``size`` bytes of JSON."""
    return BODY[:-1] + b" " * (size - len(BODY)) + b"}"


def named(filler, payload):
    """Return a gzip member of exactly ``filler`` bytes more, all in its header's file name (RFC 1952, 2.3)."""
    packed = gzip.compress(payload, mtime=0)
    return packed[:3] + b"\x08" + packed[4:10] + b"x" * (filler - 1) + b"\0" + packed[10:]


def raw(receiver, *pieces, pause=0.0, timeout=10.0):
    """Write pieces to a socket and return all that comes back until it closes, or b"" for a reset."""
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=timeout) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
                time.sleep(pause)
            return b"".join(iter(lambda: client.recv(65536), b""))
        except ConnectionError:
            return b""


def code(reply: Reply):
    """Return status and error code."""
    return reply.status, reply.json.get("error_code")


@pytest.mark.parametrize("path", [DATAWAY, DATAKIT, PORTAL, OPENLINEAGE])
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_taken(receiver, path, encoding):
    """T: "Content-Encoding: gzip is supported"."""
    reply = receiver.post(gzip.compress(BODY), path, {"Content-Encoding": encoding})
    assert reply.status in {200, 201}
    assert receiver.events()[0]["event"] == EVENT


def test_several_members_are_one_event(receiver):
    """RFC 1952, 2.2: "A gzip file consists of a series of "members"", and decodes to their concatenation."""
    parts = [BODY[:10], b"", BODY[10:50], BODY[50:]]
    packed = b"".join(gzip.compress(part) for part in parts)
    assert receiver.post(packed, headers={"Content-Encoding": "gzip"}).status == 200
    assert receiver.events()[0]["event"] == EVENT


def test_chunks_are_joined(receiver):
    """RFC 9112, 7.1: a chunked body, here with an extension and a trailer."""
    chunks = b"5;a=b\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
    fields = b"Transfer-Encoding: chunked\r\nConnection: close\r\n"
    assert raw(receiver, HEAD % (DATAWAY.encode(), fields) + chunks).startswith(b"HTTP/1.1 200")
    assert receiver.events()[0]["event"] == EVENT


def test_one_connection_serves_many_requests(receiver):
    """Kept alive and even pipelined requests are all answered."""
    request = HEAD % (DATAWAY.encode(), b"Content-Length: %d\r\n" % len(BODY)) + BODY
    last = HEAD % (DATAKIT.encode(), b"Connection: close\r\nContent-Length: %d\r\n" % len(BODY)) + BODY
    assert raw(receiver, request * 3 + last).count(b"HTTP/1.1 200") == 4


BROKEN = [
    ("plain text", BODY, "brokenGzip"),
    ("cut", gzip.compress(BODY)[:-9], "brokenGzip"),
    ("no checksum", gzip.compress(BODY)[:-8], "brokenGzip"),
    ("wrong checksum", gzip.compress(BODY)[:-8] + bytes(8), "brokenGzip"),
    ("garbage behind", gzip.compress(BODY) + b"garbage", "brokenGzip"),
    ("zlib", zlib.compress(BODY), "brokenGzip"),
    ("empty", b"", "brokenGzip"),
    ("second member cut", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])[:-1], "brokenGzip"),
    ("too many members", gzip.compress(b"") * 2000 + gzip.compress(BODY), "brokenGzip"),
    ("compressed twice", gzip.compress(gzip.compress(BODY)), "invalidJson"),
]


@pytest.mark.parametrize(("_name", "body", "expected"), BROKEN, ids=[row[0] for row in BROKEN])
def test_broken_gzip_is_refused(receiver, _name, body, expected):
    """What can't be decoded whole is a 400, and nothing of it is stored."""
    assert code(receiver.post(body, headers={"Content-Encoding": "gzip"})) == (400, f"dataway.{expected}")
    assert receiver.events() == []


@pytest.mark.parametrize("encoding", ["deflate", "br", "gzip, gzip"])
def test_other_encodings_are_refused(receiver, encoding):
    """RFC 9110, 15.5.16: 415 for a Content-Encoding that is not supported."""
    assert code(receiver.post(BODY, headers={"Content-Encoding": encoding})) == (415, "dataway.unsupportedEncoding")


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


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("over", "status"), [(-1, 200), (0, 200), (1, 413)])
def test_a_body_has_at_most_64_mib_as_received(receiver, over, status, chunked):
    """T: "a 64 MiB limit on the received body, measured before decompression"."""
    body = named(64 * MIB + over - len(gzip.compress(BODY)), BODY)
    assert len(body) == 64 * MIB + over
    headers = {"Content-Encoding": "gzip"}
    sent = iter([body[: 32 * MIB], body[32 * MIB :]]) if chunked else body
    reply = receiver.request("POST", DATAKIT, sent, headers, timeout=30)
    assert reply.status == status
    assert status == 200 or reply.json["error_code"] == "datakit.bodyTooLarge"


@pytest.mark.linux
def test_a_bomb_is_stopped_at_the_limit(receiver):
    """256 MiB in 0.25 MiB is refused without being decoded: the process does not grow by it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b" " * MIB
    bomb = b"".join(packer.compress(block) for _ in range(256)) + packer.flush()
    began = time.monotonic()
    for path in (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE):
        assert receiver.post(bomb, path, {"Content-Encoding": "gzip"}).status == 413
    assert time.monotonic() - began < 5
    peak = Path(f"/proc/{receiver.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
    assert int(peak) * 1024 < 250 * MIB


def test_an_offered_protocol_is_declined(receiver):
    """Java's client offers HTTP/2 in every request: it is answered as if it had not, and the connection goes on."""
    body = json.dumps(EVENT).encode()
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
    request = head % (DATAWAY.encode(), offer, len(body)) + body
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=10) as client:
        for parts in ([request], [request[:-9], request[-9:]], [request[:50], request[50:]]):
            for part in parts:
                client.sendall(part)
                time.sleep(0.05)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
    assert receiver.events()[-1]["event"] == EVENT
    closing = HEAD % (DATAWAY.encode(), offer.replace(b": Upgrade", b": close, Upgrade") + b"Content-Length: 2\r\n")
    assert raw(receiver, closing + b"{}").startswith(b"HTTP/1.1 400")


MALFORMED = [
    HEAD % (DATAWAY.encode(), b"Host: other\r\n"),
    HEAD % (DATAWAY.encode(), b"".join(b"X-%d: y\r\n" % number for number in range(20_000))),
    b"nonsense\r\n\r\n",
    b"POST / HTTP/1.1\r\n\r\n",
    HEAD % (DATAWAY.encode(), b"Content-Length: -1\r\n"),
    HEAD % (DATAWAY.encode(), b"Content-Length: 1\r\nContent-Length: 2\r\n"),
    HEAD % (DATAWAY.encode(), b"Transfer-Encoding: chunked\r\n") + b"zz\r\n",
    HEAD % (DATAWAY.encode(), b"X: " + b"x" * 1_000_000 + b"\r\n"),
]


@pytest.mark.parametrize("request_bytes", MALFORMED)
def test_malformed_http_is_answered_400(receiver, request_bytes):
    """A far too large head, contradicting lengths and nonsense end in 400 or a reset, never in a stored event."""
    answer = raw(receiver, request_bytes)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    assert receiver.post(EVENT).status == 200


def test_half_a_body_stores_nothing(receiver):
    """A client that leaves in the middle has sent nothing."""
    with socket.create_connection(("127.0.0.1", receiver.port)) as client:
        client.sendall(HEAD % (DATAWAY.encode(), b"Content-Length: %d\r\n" % len(BODY)) + BODY[:-1])
    assert receiver.post(event({"job.name": "whole"})).status == 200
    assert [stored["job_name"] for stored in receiver.events()] == ["whole"]


SLOW = [
    ("nothing", [b""]),
    ("half a head", [b"POST /v1"]),
    ("a dripping head", [b"POST ", *[b"/x"] * 40]),
    ("half a body", [HEAD % (DATAWAY.encode(), b"Content-Length: 9999\r\n"), b"{"]),
    ("a dripping body", [HEAD % (DATAWAY.encode(), b"Content-Length: 9999\r\n"), *[b"{"] * 40]),
    ("after an early answer", [HEAD % (b"/nowhere", b"Content-Length: 9999\r\n"), *[b"{"] * 40]),
    ("half a pipelined body", [(HEAD % (DATAWAY.encode(), b"Content-Length: 2\r\n")) * 2, b"{}"]),
]


def test_slow_requests_are_cut_off():
    """A head and a body have deadlines, here half a second; others are served meanwhile."""
    with Receiver(program=["-c", IMPATIENT]) as receiver:
        for name, pieces in SLOW:
            began = time.monotonic()
            raw(receiver, *pieces, pause=0.05)
            assert time.monotonic() - began < 2.5, name
            assert receiver.post(EVENT).status == 200, name
