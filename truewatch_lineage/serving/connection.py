"""One TCP connection: held to deadlines, and open to being dropped on command."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from truewatch_lineage.serving.guards import AccessLog

Part = Literal["head", "body"]

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
"""A request's head must be whole this long after its first byte, or the connection's start."""

BODY_SECONDS = 60.0
"""A body must be whole this long after its head: 64 MiB at about 1 MiB/s."""

_OFFER = {b"upgrade", b"connection", b"http2-settings"}


class Connection:
    """What a request may do to its own connection.

    Args:
        transport: The socket's.

    Attributes:
        delaying: Whether the request waits on purpose, so that nothing is lost by closing.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._closed = asyncio.Event()
        self.delaying = False

    async def abort(self) -> None:
        """Close at once, throwing away what is not sent yet, and wait until it is closed."""
        self._transport.abort()
        await self._closed.wait()

    async def finish(self) -> None:
        """Send what was written, close, and wait until it is closed."""
        self._transport.close()
        await self._closed.wait()

    async def closes_within(self, seconds: float) -> bool:
        """Wait; return True as soon as the client has left, False after ``seconds``."""
        self.delaying = True
        try:
            await asyncio.wait_for(self._closed.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        finally:
            self.delaying = False
        return True

    def mark_closed(self) -> None:
        """Wake whoever waits for the end."""
        self._closed.set()


def connection_of(scope: Scope) -> Connection:
    """Return the connection that a request came on."""
    connection: Connection = scope["state"]["connection"]
    return connection


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's faster protocol with bounds that it does not have: the head's size, and deadlines for head and body.

    The application's state holds ``access_log``; each request's state gets ``connection``.
    """

    app_state: Mapping[str, Any]  # type: ignore[assignment]
    _deadline: asyncio.TimerHandle | None = None
    _watched: Part | None = None
    _expected: Part | None = "head"
    _field_bytes = 0
    _unended_bytes = 0
    _is_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the connection's first deadline."""
        super().connection_made(transport)
        self._link = Connection(transport)
        self._access_log: AccessLog = self.app_state["access_log"]
        self.app_state = {**self.app_state, "connection": self._link}
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End what belongs to the connection."""
        self._expected = None
        self._watch()
        super().connection_lost(exc)
        self._link.mark_closed()

    def data_received(self, data: bytes) -> None:
        """Take bytes and set the deadline of what must come next."""
        self._unset_keepalive_if_required()
        self._is_body = False
        self._feed(data)
        if self._expected is not None and not self._is_body:
            # Counted besides the fields, since one of the head or the trailers that never ends is no field yet.
            self._unended_bytes += len(data)
            if self._unended_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The request's head is too large.")
        self._watch()

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and note it; where a body breaks off the application notes its request itself."""
        super().send_400_response(msg)
        if self._expected != "body":
            self._access_log.unreadable(self.client, msg)

    def _decline(self, rest: bytes) -> None:
        """Read a request that offers another protocol as if it did not (RFC 9110, 7.8 lets a server ignore the offer).

        Java's client offers HTTP/2 so in every request, and the parser takes what follows the head for that protocol.
        """
        if self.parser.get_method() == b"CONNECT":
            self.send_400_response("This server is no proxy.")
            return
        kept = [b"%s: %s\r\n" % field for field in self.headers if field[0] not in _OFFER]
        closes = any(name == b"connection" and b"close" in value.lower() for name, value in self.headers)
        kept += [b"connection: close\r\n"] if closes else []
        head = b"%s %s HTTP/1.1\r\n%s\r\n" % (self.parser.get_method(), self.url, b"".join(kept))
        self.parser = httptools.HttpRequestParser(self)
        self._feed(head + rest)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body; what is counted as a head begins anew, for what stands between pieces."""
        self._is_body = True
        self._field_bytes = self._unended_bytes = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._expected = "head"
        self._field_bytes = self._unended_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field; raises ValueError past the head's size, which the parser turns into a 400."""
        super().on_header(name, value)
        self._field_bytes += len(name) + len(value)
        if self._field_bytes > MAX_HEAD_BYTES:
            raise ValueError(self._field_bytes)

    def on_headers_complete(self) -> None:
        """Go on to the body; raises ValueError without exactly one Host, which RFC 9112, 3.2 makes a 400."""
        if self.parser.get_http_version() == "1.1" and sum(name == b"host" for name, _ in self.headers) != 1:
            raise ValueError
        self._expected = "body"
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request: what comes next has no deadline but uvicorn's for an idle connection."""
        self._expected = None
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on; a pipelined request whose body is not whole gets its deadline now."""
        super().on_response_complete()
        self._watch()

    def shutdown(self) -> None:
        """End with the server: at once where a body is still awaited or an answer delayed, else after the answer."""
        if self._link.delaying or self._expected == "body":
            self.transport.abort()
        else:
            super().shutdown()

    def _watch(self) -> None:
        # While an earlier request is being answered nothing is read, so that the client can't be late.
        part = None if self.pipeline or self.transport.is_closing() else self._expected
        if part is self._watched:
            return
        self._watched = part
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if part is not None:
            seconds = HEAD_SECONDS if part == "head" else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
