"""Hears tasks start and end: a pod that vanishes takes its spool along, so what is due is delivered before."""

from __future__ import annotations

import contextlib
import importlib
import logging
from typing import Any, Final

from airflow.listeners import hookimpl

from truewatch_lineage.errors import TruewatchLineageError
from truewatch_lineage_airflow import late_default

log = logging.getLogger(__name__)

MARKERS: Final = frozenset({"TaskRunnerMarker", "TaskCommandMarker"})
"""How Airflow 3 and Airflow 2 say that a task's process ends; the fork for its last event has ended by then."""


class TaskListener:
    """Of everything else that starts and ends, such as the scheduler, it takes no notice."""

    @hookimpl  # type: ignore[untyped-decorator]  # Airflow is untyped here
    def on_starting(self, component: Any) -> None:
        """Import the transport once, before the forks that emit the task's events would each import it."""
        if type(component).__name__ in MARKERS:
            with contextlib.suppress(Exception):  # the outermost guard; whoever emits will say what is wrong
                importlib.import_module("truewatch_lineage_airflow.transport")

    @hookimpl  # type: ignore[untyped-decorator]  # Airflow is untyped here
    def before_stopping(self, component: Any) -> None:
        """Deliver what is due for at most ``exit_budget`` seconds, and report the spool's figures."""
        if type(component).__name__ not in MARKERS:
            return
        try:
            from truewatch_lineage_airflow.task_end import finish  # noqa: PLC0415 - only the end of a task needs it

            for own in late_default.own_transports():
                finish(own.settings, own.name)
        except Exception as error:  # noqa: BLE001 - the outermost guard: the task has done its work
            # Another's text may quote a setting, so only its class is told.
            told = error if isinstance(error, TruewatchLineageError) else type(error).__name__
            log.warning("Lineage stays in the spool at the end of the task: %s", told)


LISTENER: Final = TaskListener()
