"""The page's files, served as they lie in the package; nothing of an event is in them."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from truewatch_lineage.serving.answers import Answer, Refusal

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
STATIC: Final = "/static/"
ASKS: Final = 401
_PACKAGE: Final = "truewatch_lineage.receiver"


def routes() -> list[Route]:
    """Return the routes of ``/`` and ``/static/{name}``."""
    return [Route("/", _index), Route(STATIC + "{name}", _static)]


def door(headers: Mapping[str, str]) -> Answer:
    """Return the page for a request without the token: it asks for it, and shows nothing before.

    Its files hold nothing that arrived, so they need no token; what they show comes from the API, which does.

    Args:
        headers: Those of the refusal.
    """
    page = _file("page", "index.html")
    return Answer(ASKS, bytes(page.body), {**headers, **HEADERS, "Content-Type": "text/html; charset=utf-8"})


async def _index(_request: Request) -> Response:
    return _file("page", "index.html")


async def _static(request: Request) -> Response:
    return _file("page", "static", request.path_params["name"])


def _file(*path: str) -> Response:
    found = files(_PACKAGE)
    for name in path:
        # A name comes from the request: it may only choose among what lies in the folder.
        found = next((file for file in found.iterdir() if file.name == name), found.joinpath("absent"))
        if not (found.is_file() or found.is_dir()):
            raise Refusal(404, "unknownPath", "There is no such page.")
    media_type = mimetypes.guess_type(path[-1])[0] or "application/octet-stream"
    return Response(found.read_bytes(), media_type=media_type, headers=HEADERS)
