"""What Airflow loads: the ``airflow.plugins`` entry point."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from airflow.plugins_manager import AirflowPlugin

from truewatch_lineage_airflow import late_default, ui

log = logging.getLogger(__name__)


class TrueWatchLineagePlugin(AirflowPlugin):  # type: ignore[misc]  # Airflow is untyped here
    """Sends the lineage of Airflow's tasks and DAG runs to TrueWatch or Spotify Portal.

    Airflow makes an object of it and asks that for its parts, so what only one kind of process needs is a property.
    """

    name = "truewatch_lineage"

    @classmethod
    def on_load(cls, *_args: Any, **_kwargs: Any) -> None:
        """Set the late default; runs in every process of Airflow, and again in the task SDK's plugin manager."""
        try:
            late_default.install()
        except Exception as error:  # noqa: BLE001 - the outermost guard: Airflow must start whatever this is
            # Its text may quote a setting, so only its class is told.
            log.warning("truewatch-lineage can't set itself up and sends nothing: %s", type(error).__name__)

    @property
    def listeners(self) -> list[Any]:
        """The listener that delivers at the end of a task, where a transport of ours is in use."""
        try:
            found = late_default.found_transport()
            if not late_default.is_in_use(found):
                return []
            from truewatch_lineage_airflow.listener import LISTENER  # noqa: PLC0415 - needs what other processes do not
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("truewatch-lineage does not deliver at the end of tasks: %s", type(error).__name__)
            return []
        return [LISTENER]

    @property
    def fastapi_apps(self) -> list[Any]:
        """The status page in Airflow 3."""
        return _shown(ui.fastapi_apps)

    @property
    def external_views(self) -> list[Any]:
        """The status page's entry in the navigation, from Airflow 3.1 on."""
        return _shown(ui.external_views)

    @property
    def flask_blueprints(self) -> list[Any]:
        """The status page in Airflow 2."""
        return _shown(ui.flask_blueprints)

    @property
    def appbuilder_menu_items(self) -> list[Any]:
        """The status page's entry in the navigation before Airflow 3.1."""
        return _shown(ui.menu_items)

    @property
    def global_operator_extra_links(self) -> list[Any]:
        """The link to its lineage that each task instance has."""
        return _shown(ui.extra_links)


def _shown(parts: Callable[[], list[Any]]) -> list[Any]:
    """Return parts of the UI; none where they can't be made, so that Airflow's own UI starts all the same."""
    try:
        return parts()
    except Exception:  # the outermost guard, as above; nothing here reads a setting that may be secret
        log.warning("truewatch-lineage shows nothing in this Airflow's UI.", exc_info=True)
        return []
