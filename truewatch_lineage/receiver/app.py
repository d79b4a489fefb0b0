"""The receiver's application, wired: the destinations' intake, the API, the page, and what stands before them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from starlette.types import ASGIApp, Scope

from truewatch_lineage.receiver import pages
from truewatch_lineage.receiver.api import Api
from truewatch_lineage.receiver.faults import FaultScript
from truewatch_lineage.receiver.intake import Intake
from truewatch_lineage.receiver.live import Live
from truewatch_lineage.receiver.paths import is_open, label
from truewatch_lineage.receiver.rules import ALL_RULES, OWNER
from truewatch_lineage.receiver.stats import Stats
from truewatch_lineage.receiver.store import Store
from truewatch_lineage.serving import application
from truewatch_lineage.serving.answers import Answer, Refusal
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.guards import AccessLog, Doorkeeper


def build_app(
    store: Store,
    gate: Gate,
    live: Live,
    *,
    strict: bool = False,
    loopback: bool = True,
    tee: Callable[[bytes], None] | None = None,
) -> ASGIApp:
    """Wire the receiver.

    Args:
        store: Where events are kept.
        gate: The tokens.
        live: The live updates.
        strict: Whether formats that real events break are errors.
        loopback: Whether it is bound to loopback.
        tee: Is given the bytes of each accepted event, in a thread of its own.

    Returns:
        An ASGI application, to be served with ``BoundedProtocol``.
    """
    stats, faults = Stats(), FaultScript()
    store.listeners.append(live.committed)
    intake = {rules.path: Intake(rules, gate, store, faults, strict=strict, tee=tee) for rules in ALL_RULES}

    @contextlib.asynccontextmanager
    async def lifespan() -> AsyncIterator[dict[str, object]]:
        sweeping = asyncio.create_task(store.keep_sweeping())
        yield {"counters": stats}
        sweeping.cancel()

    routes = [*Api(store, faults, stats, live).routes(), *pages.routes()]
    app = application.build(intake, routes, lifespan, owner=OWNER)
    return AccessLog(doorkeeper(app, gate, loopback=loopback), stats, label)


def doorkeeper(app: ASGIApp, gate: Gate, *, loopback: bool) -> Doorkeeper:
    """Put before an application what guards the API and the page; the intake has its own rules."""
    return Doorkeeper(app, gate, owner=OWNER, loopback=loopback, is_open=is_open, refuse=_at_the_door)


def _at_the_door(scope: Scope, refusal: Refusal) -> Answer:
    asks = refusal.status == pages.ASKS and scope["path"] == "/"
    answer = refusal.answer(OWNER)
    return pages.door(answer.headers) if asks else answer
