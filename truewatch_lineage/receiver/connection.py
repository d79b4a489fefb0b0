"""One TCP connection: counted, held to deadlines, and open to being dropped on command."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from truewatch_lineage.receiver.stats import Stats

HEAD_SECONDS = 10.0
"""A request's head must be whole this long after its first byte, or the connection's start."""

BODY_SECONDS = 60.0
"""A body must be whole this long after its head: 64 MiB at about 1 MiB/s."""


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


class ReceiverProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for each request's head and body, which uvicorn does not have.

    The application's state must hold ``stats``; each request's state gets ``connection``.
    """

    app_state: Mapping[str, Any]  # type: ignore[assignment]
    _deadline: asyncio.TimerHandle | None = None
    _waiting_for: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and start its first deadline."""
        super().connection_made(transport)
        self._link = Connection(transport)
        self._stats: Stats = self.app_state["stats"]
        self._stats.connected()
        self.app_state = {**self.app_state, "connection": self._link}
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the connection out of the count."""
        self._stats.disconnected()
        self._expect(None)
        super().connection_lost(exc)
        self._link.mark_closed()

    def data_received(self, data: bytes) -> None:
        """Take bytes and set the deadline of what must come next."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on; a pipelined request whose body is not whole needs its deadline, an idle connection has uvicorn's."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def shutdown(self) -> None:
        """End with the server: at once where a body is still awaited or an answer delayed, else after the answer."""
        if self._link.delaying or self.conn.their_state is h11.SEND_BODY:
            self.transport.abort()
        else:
            super().shutdown()

    def _watch(self) -> None:
        state = self.conn.their_state
        self._expect(state if state in {h11.IDLE, h11.SEND_BODY} and not self.transport.is_closing() else None)

    def _expect(self, state: object) -> None:
        if state is self._waiting_for:
            return
        self._waiting_for = state
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if state is not None:
            seconds = HEAD_SECONDS if state is h11.IDLE else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
