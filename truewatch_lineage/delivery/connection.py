"""Connections: urllib3's, for TLS and CONNECT, on sockets that keep the attempt's deadline; and reading an answer.

Requests are written here and answers read by ``http.client`` alone, and not by urllib3's pools: ``urlopen`` logs the
target at DEBUG, a query token included, and the lock of a pool's queue may be held by a lost thread in a forked child.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.util.url import Url

from truewatch_lineage.delivery.proxy import Proxy
from truewatch_lineage.delivery.sockets import open_socket
from truewatch_lineage.protocol import MAX_ANSWER_BYTES

_SWITCHING_PROTOCOLS: Final = 101
_INTERIM: Final = range(100, 200)
_SUCCESSES: Final = range(200, 300)
_LENGTH: Final = re.compile(r"[0-9]{1,19}")
_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
"""A chunk's size and its extensions (RFC 9112, 7.1); some servers fill the size up with spaces."""
_LONGEST_CHUNK_LINE: Final = 65_536


class ProxyRefusedError(OSError):
    """The proxy did not open a tunnel.

    Args:
        status: What it answered to CONNECT.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"CONNECT was answered {status}")
        self.status = status


class Connection(HTTPConnection):
    """A connection by http.

    Attributes:
        connect_request: What opens a tunnel through a proxy.
        tunnelled: Whether a proxy has opened one.
    """

    connect_request = b""
    tunnelled = False

    def _new_conn(self) -> socket.socket:
        return open_socket(self._dns_host, self.port)

    def _tunnel(self) -> None:
        # http.client's own tells the status in an exception's text only, and in older versions leaves the socket open.
        self.sock.sendall(self.connect_request)
        response = _Response(self.sock, method="CONNECT")
        try:
            response.begin()
        finally:
            response.close()
        if response.status not in _SUCCESSES:
            raise ProxyRefusedError(response.status)
        self.tunnelled = True


class TlsConnection(Connection, HTTPSConnection):
    """A connection by https."""


def direct(host: str, port: int, context: ssl.SSLContext | None) -> Connection:
    """Make a connection, not yet open, to the destination or to a proxy that forwards; by https with a context."""
    return Connection(host, port) if context is None else TlsConnection(host, port, ssl_context=context)


def tunnel(
    host: str, port: int, context: ssl.SSLContext, proxy: Proxy, proxy_context: ssl.SSLContext | None
) -> Connection:
    """Make a connection by https through a proxy's CONNECT, not yet open.

    Args:
        host: The destination's.
        port: The destination's.
        context: For TLS with the destination.
        proxy: The proxy.
        proxy_context: For TLS with the proxy itself, where it is spoken to by https.
    """
    connection = TlsConnection(
        proxy.host,
        proxy.port,
        ssl_context=context,
        proxy=Url(proxy.scheme, host=proxy.host, port=proxy.port),
        proxy_config=ProxyConfig(proxy_context, False, None, None),
    )
    connection.set_tunnel(host, port, scheme=proxy.scheme)
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    fields = {"Host": authority, **proxy.headers}
    lines = [f"CONNECT {authority} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "\r\n"]
    connection.connect_request = "\r\n".join(lines).encode("ascii")
    return connection


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: 200 to 999, or 101.
        headers: By lower-case names.
        body: At most ``MAX_ANSWER_BYTES``, as it came: no content coding is undone.
        reusable: Whether all of it was read and the connection stays open.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    reusable: bool


def read_answer(sock: socket.socket) -> Answer:
    """Read the answer to a POST, interim answers (1xx) passed over, of its body 64 KiB at most.

    Raises:
        OSError: The connection broke, or the deadline passed (``TimeoutError``).
        http.client.HTTPException: It is no HTTP, or is cut off (``IncompleteRead``).
    """
    response = _Response(sock, method="POST")
    try:
        response.begin()
        response.check_length()
        expected = response.length
        body = response.read(MAX_ANSWER_BYTES)
        if expected is not None and len(body) < min(expected, MAX_ANSWER_BYTES):
            raise http.client.IncompleteRead(body, expected - len(body))
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, headers, body, response.isclosed() and not response.will_close)
    finally:
        response.close()


class _Response(http.client.HTTPResponse):
    """An answer whose interim answers are all passed over (RFC 9110, 15.2), and whose head and sizes must be whole.

    ``http.client`` reads sizes by ``int``, which takes a sign, ``0x``, spaces and underscores too; it then reads a
    chunk of -1 bytes to the end of the stream, however long that is.
    """

    def __init__(self, sock: socket.socket, method: str) -> None:
        super().__init__(sock, method=method)
        self._lines = self.fp = _Lines(self.fp.detach())

    def begin(self) -> None:
        super().begin()
        while self.status in _INTERIM and self.status != _SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]  # begin() reads a head only where there is none
            super().begin()
        self._lines.in_head = False

    def check_length(self) -> None:
        """Refuse a Content-Length that is no number, or several (RFC 9112, 6.3, rule 5: "unrecoverable error").

        Raises:
            http.client.HTTPException: It is such.
        """
        lengths = {text.strip() for text in self.headers.get_all("content-length", ())}
        if not self.chunked and (len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths))):
            raise http.client.HTTPException("The length of the answer is no number.")

    def _read_next_chunk_size(self) -> int:
        line = self._lines.readline(_LONGEST_CHUNK_LINE)
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            raise http.client.IncompleteRead(b"")
        return int(found[1], 16)


class _Lines(io.BufferedReader):
    """A reader that takes a head cut off by the end of the stream for what it is; ``http.client`` would accept it."""

    in_head = True
    _begun = False

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if self.in_head and self._begun and not line.endswith(b"\n") and len(line) != size:
            raise http.client.IncompleteRead(line)
        self._begun = True
        return line
