"""The receiver's application, wired: the destinations' intake, the API, and what stands before both."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from truewatch_lineage.receiver.answers import Refusal
from truewatch_lineage.receiver.api import Api
from truewatch_lineage.receiver.auth import Gate
from truewatch_lineage.receiver.faults import FaultScript
from truewatch_lineage.receiver.guards import NAMESPACE, AccessLog, Doorkeeper
from truewatch_lineage.receiver.intake import Intake
from truewatch_lineage.receiver.rules import ALL_RULES
from truewatch_lineage.receiver.stats import Stats
from truewatch_lineage.receiver.store import Store

_CODES = {404: "unknownPath", 405: "methodNotAllowed"}


def build_app(store: Store, gate: Gate, *, strict: bool, loopback: bool) -> ASGIApp:
    """Wire the receiver.

    Args:
        store: Where events are kept.
        gate: The tokens.
        strict: Whether formats that real events break are errors.
        loopback: Whether it is bound to loopback.

    Returns:
        An ASGI application, to be served with ``ReceiverProtocol``.
    """
    stats, faults = Stats(), FaultScript()
    intake = [
        Route(rules.path, Intake(rules, gate, store, faults, strict=strict), methods=["POST"]) for rules in ALL_RULES
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, object]]:
        yield {"stats": stats}

    app = Starlette(
        routes=[*intake, *Api(store, faults, stats).routes()],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error, Refusal: _refused},
    )
    # A destination has exactly one spelling of its path; a redirect would hide a wrong url.
    app.router.redirect_slashes = False
    return AccessLog(Doorkeeper(app, gate, loopback=loopback), stats)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101 - registered for this class only
    answer = error.answer(NAMESPACE)
    return Response(answer.body, answer.status, dict(answer.headers))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = _CODES.get(error.status_code, "failed")
    refusal = Refusal(error.status_code, code, str(error.detail), error.headers)
    return await _refused(request, refusal)
