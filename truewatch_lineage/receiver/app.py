"""The receiver's application, wired: the destinations' intake, the API, the page, and what stands before them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from truewatch_lineage.receiver import pages
from truewatch_lineage.receiver.api import Api
from truewatch_lineage.receiver.faults import FaultScript
from truewatch_lineage.receiver.intake import Intake
from truewatch_lineage.receiver.live import Live
from truewatch_lineage.receiver.paths import is_open, label
from truewatch_lineage.receiver.rules import ALL_RULES, OWNER
from truewatch_lineage.receiver.stats import Stats
from truewatch_lineage.receiver.store import Store
from truewatch_lineage.serving.answers import Answer, Refusal
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.guards import AccessLog, Doorkeeper

_CODES = {404: "unknownPath", 405: "methodNotAllowed"}


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
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, object]]:
        sweeping = asyncio.create_task(store.keep_sweeping())
        yield {"counters": stats}
        sweeping.cancel()

    app = Starlette(
        routes=[
            *(Route(path, endpoint, methods=["POST"]) for path, endpoint in intake.items()),
            *Api(store, faults, stats, live).routes(),
            *pages.routes(),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error, Refusal: _refused},
    )
    # A destination has exactly one spelling of its path; a redirect would hide a wrong url.
    app.router.redirect_slashes = False
    return AccessLog(doorkeeper(_Shortcut(intake, app), gate, loopback=loopback), stats, label)


def doorkeeper(app: ASGIApp, gate: Gate, *, loopback: bool) -> Doorkeeper:
    """Put before an application what guards the API and the page; the intake has its own rules."""
    return Doorkeeper(app, gate, owner=OWNER, loopback=loopback, is_open=is_open, refuse=_at_the_door)


def _at_the_door(scope: Scope, refusal: Refusal) -> Answer:
    asks = refusal.status == pages.ASKS and scope["path"] == "/"
    answer = refusal.answer(OWNER)
    return pages.door(answer.headers) if asks else answer


class _Shortcut:
    """Gives events to the intake at once: going through the routes costs a tenth of taking an event.

    Args:
        intake: By path.
        app: Takes everything else, other methods on these paths too.
    """

    def __init__(self, intake: Mapping[str, ASGIApp], app: ASGIApp) -> None:
        self._intake = intake
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = scope["type"] == "http" and scope["method"] == "POST"
        app = self._intake.get(scope["path"], self._app) if taken else self._app
        await app(scope, receive, send)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101 - registered for this class only
    answer = error.answer(OWNER)
    return Response(answer.body, answer.status, dict(answer.headers))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = _CODES.get(error.status_code, "failed")
    refusal = Refusal(error.status_code, code, str(error.detail), error.headers)
    return await _refused(request, refusal)
