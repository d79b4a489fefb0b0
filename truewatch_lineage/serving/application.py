"""An application of routes, with a short way for the paths that take events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from truewatch_lineage.serving.answers import Refusal

_CODES = {404: "unknownPath", 405: "methodNotAllowed"}

Lifespan = Callable[[], AbstractAsyncContextManager[Mapping[str, Any]]]


def build(intake: Mapping[str, ASGIApp], routes: Sequence[Route], lifespan: Lifespan, *, owner: str) -> ASGIApp:
    """Wire an application.

    Args:
        intake: What takes a POST, by path.
        routes: The others.
        lifespan: Is entered for as long as the server runs; gives the application's state.
        owner: The namespace of ``error_code`` in refusals.
    """
    there = f"There is no such path. Events are taken by POST on {', '.join(intake)}."

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)  # noqa: S101 - registered for this class only
        answer = error.answer(owner)
        return Response(answer.body, answer.status, dict(answer.headers))

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
        code = _CODES.get(error.status_code, "failed")
        message = there if error.status_code == HTTPStatus.NOT_FOUND else str(error.detail)
        return await refused(request, Refusal(error.status_code, code, message, error.headers))

    app = Starlette(
        routes=[*(Route(path, endpoint, methods=["POST"]) for path, endpoint in intake.items()), *routes],
        lifespan=lambda _app: lifespan(),
        exception_handlers={HTTPException: failed, Refusal: refused},
    )
    # A destination has exactly one spelling of its path; a redirect would hide a wrong url.
    app.router.redirect_slashes = False
    return _Shortcut(intake, app)


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
