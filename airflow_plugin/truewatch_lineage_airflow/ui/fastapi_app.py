"""The page in Airflow 3: an application below its API server, for signed-in users who may see plugins."""

from __future__ import annotations

from typing import Final

from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import requires_access_view
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse

from truewatch_lineage_airflow.ui import TITLE, page, status

_REFUSALS: Final = {401: "Sign in to Airflow first.", 403: "You may not see plugins in this Airflow."}


def make_app() -> FastAPI:
    """Return the application; Airflow mounts it, and routes of plugins are open unless they ask who is there."""
    guard = Depends(requires_access_view(AccessView.PLUGINS))
    app = FastAPI(title=TITLE, docs_url=None, redoc_url=None, openapi_url=None, dependencies=[guard])
    app.add_api_route("/", _status, methods=["GET"], response_class=HTMLResponse)
    app.add_api_route("/run", _run, methods=["GET"], response_class=HTMLResponse)
    app.add_exception_handler(HTTPException, _refused)
    return app


def _status() -> HTMLResponse:
    return _answer(page.status_page(status.overview()))


def _run(what: str = "") -> HTMLResponse:
    return _answer(page.run_page(status.trace(what.strip())))


async def _refused(_: Request, error: Exception) -> HTMLResponse:
    code = getattr(error, "status_code", 500)
    return _answer(page.refused_page(_REFUSALS.get(code, "Airflow does not answer this.")), code)


def _answer(made: page.Page, code: int = 200) -> HTMLResponse:
    return HTMLResponse(made.html, code, dict(made.headers))
