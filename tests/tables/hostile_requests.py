"""Requests made to hurt a server, and bodies that can be no event; the receiver and the gateway share them."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

from support.served import DATAWAY
from tables.receiver_rules import EVENT, event

MIB = 1024 * 1024
BODY = json.dumps(EVENT).encode()
EVENT_START = BODY[:-1]
HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n"
_PATH = DATAWAY.encode()


def padded(size: int) -> bytes:
    """Return the event padded to exactly ``size`` bytes of JSON."""
    return BODY[:-1] + b" " * (size - len(BODY)) + b"}"


def named(filler: int, payload: bytes) -> bytes:
    """Return a gzip member of exactly ``filler`` bytes more, all in its header's file name (RFC 1952, 2.3)."""
    packed = gzip.compress(payload, mtime=0)
    return packed[:3] + b"\x08" + packed[4:10] + b"x" * (filler - 1) + b"\0" + packed[10:]


def bomb(size: int) -> bytes:
    """Return the gzip of ``size`` MiB of blanks."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(b" " * MIB) for _ in range(size)) + packer.flush()


def table(name: str, **facets: Any) -> dict[str, Any]:
    """Return a dataset with facets."""
    return {"namespace": "db", "name": name, "facets": facets}


def wide(columns: int, origins: int) -> dict[str, Any]:
    """Return an event of ``columns`` columns that each come from ``origins`` fields."""
    inputs = [{"namespace": "db", "name": "in", "field": f"x{number}"} for number in range(origins)]
    fields = {f"c{number}": {"inputFields": inputs} for number in range(columns)}
    return event({"outputs": [table("wide", columnLineage={"fields": fields})]})


BROKEN_GZIP = [
    ("plain text", BODY),
    ("cut", gzip.compress(BODY)[:-9]),
    ("no checksum", gzip.compress(BODY)[:-8]),
    ("wrong checksum", gzip.compress(BODY)[:-8] + bytes(8)),
    ("garbage behind", gzip.compress(BODY) + b"garbage"),
    ("zlib", zlib.compress(BODY)),
    ("empty", b""),
    ("second member cut", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])[:-1]),
    ("too many members", gzip.compress(b"") * 2000 + gzip.compress(BODY)),
]

MALFORMED = [
    HEAD % (_PATH, b"Host: other\r\n"),
    HEAD % (_PATH, b"".join(b"X-%d: y\r\n" % number for number in range(20_000))),
    b"nonsense\r\n\r\n",
    b"POST / HTTP/1.1\r\n\r\n",
    HEAD % (_PATH, b"Content-Length: -1\r\n"),
    HEAD % (_PATH, b"Content-Length: 1\r\nContent-Length: 2\r\n"),
    HEAD % (_PATH, b"Transfer-Encoding: chunked\r\n") + b"zz\r\n",
    HEAD % (_PATH, b"X: " + b"x" * 1_000_000 + b"\r\n"),
    b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
]
"""No HTTP, or too much of it."""

_CHUNKED = HEAD % (_PATH, b"Transfer-Encoding: chunked\r\n") + b"2\r\n{}\r\n"
ENDLESS = [
    ("a trailer", _CHUNKED + b"0\r\nX: "),
    ("trailers", _CHUNKED + b"0\r\n" + b"X: y\r\n" * 30_000),
    ("a chunk's extension", _CHUNKED + b"2;a="),
    ("a field of the head", HEAD[:-2] % (_PATH, b"X: ")),
]
"""What begins something that never ends."""

SLOW = [
    ("nothing", [b""]),
    ("half a head", [b"POST /v1"]),
    ("a dripping head", [b"POST ", *[b"/x"] * 40]),
    ("half a body", [HEAD % (_PATH, b"Content-Length: 9999\r\n"), b"{"]),
    ("a dripping body", [HEAD % (_PATH, b"Content-Length: 9999\r\n"), *[b"{"] * 40]),
    ("after an early answer", [HEAD % (b"/nowhere", b"Content-Length: 9999\r\n"), *[b"{"] * 40]),
    ("half a pipelined body", [(HEAD % (_PATH, b"Content-Length: 2\r\n")) * 2, b"{}"]),
]
"""What a slow client sends, in pieces."""

# name, body, the code of the receiver's refusal, the gateway's status
UNMEANT: list[tuple[str, Any, str, int]] = [
    (
        "10,000 keys at the top level",
        {**EVENT, **{f"k{number}": 1 for number in range(10_000)}},
        "tooManyKeys",
        200,  # no destination's page forbids them
    ),
    ("deep objects", EVENT_START + b',"x":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}", "invalidJson", 400),
    ("nesting just readable", EVENT_START + b',"x":' + b"[" * 260 + b"]" * 260 + b"}", "nestedTooDeep", 400),
    ("a huge integer", EVENT_START + b',"x":' + b"9" * 100_000 + b"}", "invalidJson", 400),
    ("a huge exponent", EVENT_START + b',"x":1e999999}', "invalidJson", 200),  # mended: an infinity is null
    ("the job twice", EVENT_START + b',"job":{"namespace":"a","name":"b"}}', "duplicateKey", 400),
    ("a key twice, deep within", EVENT_START + b',"x":{"y":[{"a":1,"a":2}]}}', "duplicateKey", 400),
    ("no UTF-8", EVENT_START + b',"x":"\xff"}', "invalidJson", 400),
    ("a lone surrogate", EVENT_START + b',"x":"\\ud800"}', "invalidJson", 200),  # mended: U+FFFD
]

LARGE: list[tuple[str, Any]] = [
    ("a facet of 10,000 keys", event({"run.facets": {"x": {f"k{number}": number for number in range(10_000)}}})),
    ("10,000 columns", event({"outputs": [table("t", schema={"fields": [{"name": f"c{n}"} for n in range(10_000)]})]})),
    ("10,000 inputs", event({"inputs": [{"namespace": "db", "name": f"t{number}"} for number in range(10_000)]})),
    ("names of a million characters", event({"job.name": "x" * MIB, "outputs": [table("y" * MIB)]})),
    ("190 levels", json.loads(EVENT_START + b',"x":' + b"[" * 190 + b"]" * 190 + b"}")),
    ("a text that is all quotation marks", event({"run.facets": {"x": {"y": '":' * 100_000}}})),
]
"""Events that are only large, or odd: they are taken."""
