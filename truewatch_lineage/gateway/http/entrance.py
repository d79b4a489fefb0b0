"""One event on its way in over HTTP: token, body, commit, answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from truewatch_lineage import protocol
from truewatch_lineage.protocol import MIB
from truewatch_lineage.serving.answers import Answer, ClientGoneError, Refusal
from truewatch_lineage.serving.bodies import Budget, Lease, read_body
from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.credentials import EVERYWHERE, Gate

OWNER: Final = "gateway"
"""What the gateway calls itself in messages, and the namespace of its ``error_code``."""

PATHS: Final = {
    protocol.DATAWAY_ENDPOINT: 200,
    protocol.DATAKIT_ENDPOINT: 200,
    protocol.PORTAL_ENDPOINT: 201,
    protocol.OPENLINEAGE_ENDPOINT: 201,
}
"""Where events are taken, and the status that says so: those of the destinations, so that any client is content."""

MAX_BYTES_IN_FLIGHT: Final = 256 * MIB
"""What the bodies of all requests together may take in memory."""

MAX_CONNECTIONS: Final = 4096
"""Above it events are refused, so that health and metrics can still be asked for."""

SPARE_CONNECTIONS: Final = 100
"""Above `MAX_CONNECTIONS` and these every request is refused."""

_BUSY: Final = {"Retry-After": "2", "Connection": "close"}


class Sink(Protocol):
    """Where events go."""

    async def add(self, data: bytes, secrets: Sequence[str]) -> None:
        """Store an event durably; raises ``Refusal``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large one event may be; trimming for a destination comes later.

    Attributes:
        max_received: Bytes as received.
        max_decoded: Bytes after decompression.
    """

    max_received: int = protocol.MAX_RECEIVED_BYTES
    max_decoded: int = protocol.MAX_RECEIVED_BYTES


class Entrance:
    """Takes events for all paths.

    Args:
        gate: The gateway's tokens.
        sink: Where events go.
        counters: How many connections there are.
        max_connections: Above it events are refused.

    Attributes:
        max_connections: As given.
        budget: Of the bytes in flight.
        active: Requests that are being handled.
        is_closed: Set once the gateway is to end: then no event is taken any more.
    """

    def __init__(self, gate: Gate, sink: Sink, counters: Counters, *, max_connections: int) -> None:
        self._gate = gate
        self._sink = sink
        self._counters = counters
        self.max_connections = max_connections
        self._limits = Limits()
        self.budget = Budget(MAX_BYTES_IN_FLIGHT)
        self.active = 0
        self.is_closed = False

    def at(self, status: int) -> ASGIApp:
        """Return the ASGI endpoint of a path whose success is ``status``."""
        success = Answer.json(status, {"status": "ok"})

        async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
            self.active += 1
            try:
                with self.budget.lease() as lease:
                    refusal = await self._take(scope, receive, lease)
                await (success if refusal is None else refusal.answer(OWNER)).send(send)
            except ClientGoneError:
                return
            finally:
                self.active -= 1

        return endpoint

    async def _take(self, scope: Scope, receive: Receive, lease: Lease) -> Refusal | None:
        try:
            self._gate.check(scope, EVERYWHERE)
            self._check_open()
            data = await read_body(scope, receive, self._limits, lease)
            _check_body(data)
            await self._sink.add(data, self._gate.secrets(scope))
        except Refusal as refusal:
            return refusal
        return None

    def _check_open(self) -> None:
        if self.is_closed:
            raise Refusal(503, "stopping", "The gateway is stopping; send the event again.", _BUSY)
        if self._counters.now > self.max_connections:
            raise Refusal(503, "tooManyConnections", "There are too many connections; send the event again.", _BUSY)


def _check_body(data: bytes) -> None:
    if not data:
        raise Refusal(400, "invalidEvent", "The body is empty.")
