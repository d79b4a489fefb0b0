"""The page in Airflow 2: a blueprint of its webserver, for signed-in users who may see plugins."""

from __future__ import annotations

from typing import Final

from airflow.auth.managers.models.resource_details import AccessView
from airflow.www.auth import has_access_view
from flask import Blueprint, Response, request

from truewatch_lineage_airflow.ui import PREFIX, page, status

_HOME: Final = "../"
"""Airflow's own UI, whatever path it is served below."""


def make_blueprint() -> Blueprint:
    """Return the blueprint; whoever is not signed in is sent to the login."""
    made = Blueprint("truewatch_lineage", __name__, url_prefix=PREFIX)
    guard = has_access_view(AccessView.PLUGINS)
    made.add_url_rule("/", "status", guard(_status))
    made.add_url_rule("/run", "run", guard(_run))
    return made


def _status() -> Response:
    return _answer(page.status_page(status.overview(), home=_HOME))


def _run() -> Response:
    return _answer(page.run_page(status.trace(request.args.get("what", "").strip()), home=_HOME))


def _answer(made: page.Page) -> Response:
    return Response(made.html, headers=dict(made.headers), mimetype="text/html")
