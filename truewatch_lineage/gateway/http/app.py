"""The gateway's application, wired: the destinations' paths, what is told of it, and what stands before them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from starlette.types import ASGIApp

from truewatch_lineage.gateway.http.entrance import OWNER, PATHS, Entrance
from truewatch_lineage.gateway.http.failures import Failures
from truewatch_lineage.gateway.http.state import State
from truewatch_lineage.serving import application
from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.guards import AccessLog, Doorkeeper

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""They ask for no token: whoever runs containers has none to send."""

_KNOWN: Final = PROBES | PATHS.keys() | {"/metrics"}


def build_app(entrance: Entrance, state: State, gate: Gate, counters: Counters, *, loopback: bool) -> ASGIApp:
    """Wire the gateway.

    Args:
        entrance: Takes events.
        state: What is told of the gateway.
        gate: The tokens.
        counters: Of requests and connections.
        loopback: Whether it is bound to loopback.

    Returns:
        An ASGI application, to be served with ``BoundedProtocol``.
    """

    @contextlib.asynccontextmanager
    async def lifespan() -> AsyncIterator[dict[str, object]]:
        yield {"counters": counters}

    intake = {path: entrance.at(status) for path, status in PATHS.items()}
    app = application.build(intake, state.routes(), lifespan, owner=OWNER)
    door = Doorkeeper(app, gate, owner=OWNER, loopback=loopback, is_open=_is_open)
    return AccessLog(door, counters, _label, failed=Failures(gate, _KNOWN))


def _is_open(path: str) -> bool:
    return path in PROBES or path in PATHS  # where events are taken the token is asked for in any case


def _label(path: str) -> str:
    return path if path in _KNOWN else "other"
