"""What Airflow's UI shows of this package; each function imports what it needs when Airflow asks for it.

A task's process asks for none of this, so that it pays for neither FastAPI nor Flask.
"""

# ruff: noqa: PLC0415 - late imports are what this module is for
from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

TITLE: Final = "TrueWatch Lineage"
PREFIX: Final = "/truewatch-lineage"
"""Where the page is, below the url of Airflow's UI."""

_ROUTE: Final = PREFIX.removeprefix("/")


def fastapi_apps() -> list[dict[str, Any]]:
    """Return the plugin's ``fastapi_apps``; none in Airflow 2, which has no FastAPI."""
    if _version() < (3, 0):
        return []
    from truewatch_lineage_airflow.ui.fastapi_app import make_app

    return [{"app": make_app(), "url_prefix": PREFIX, "name": TITLE}]


def external_views() -> list[dict[str, Any]]:
    """Return the plugin's ``external_views``: the entry of the navigation, from Airflow 3.1 on."""
    if _version() < (3, 1):
        return []
    # The href has no slash at its start, so that it also holds where Airflow is served below a path.
    return [{"name": TITLE, "href": f"{_ROUTE}/", "destination": "nav", "category": "browse", "url_route": _ROUTE}]


def menu_items() -> list[dict[str, Any]]:
    """Return the plugin's ``appbuilder_menu_items``: the entry of the navigation before Airflow 3.1.

    Airflow 3.0's API server does not start with one where the FAB provider is not installed.
    """
    version = _version()
    if version >= (3, 1) or (version >= (3, 0) and find_spec("airflow.providers.fab") is None):
        return []
    href = f"{_ROUTE}/" if version >= (3, 0) else "truewatch_lineage.status"  # Airflow 2 makes a url of an endpoint
    return [{"name": TITLE, "category": "Browse", "href": href}]


def flask_blueprints() -> list[Any]:
    """Return the plugin's ``flask_blueprints``; none in Airflow 3."""
    if _version() >= (3, 0):
        return []
    from truewatch_lineage_airflow.ui.blueprint import make_blueprint

    return [make_blueprint()]


def extra_links() -> list[Any]:
    """Return the plugin's ``global_operator_extra_links``."""
    from truewatch_lineage_airflow.ui.links import LineageLink

    return [LineageLink()]


def _version() -> tuple[int, int]:
    from airflow import __version__

    major, minor, *_ = __version__.split(".")
    return int(major), int(minor)
