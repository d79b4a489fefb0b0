"""Records runs of dbt that no command of ours starts, where dbt is called as a library.

dbt's plugin manager makes the plugin once profile and project are resolved, in every invocation. So it can't see what
comes before, a bad profile or ``dbt_project.yml``, nor the process's exit code; a Ctrl-C and an error it sees.
"""

from __future__ import annotations

import sys
from typing import Any

import click
from dbt.plugins import dbtPlugin
from dbt_common.events.event_manager_client import get_event_manager
from dbt_common.invocation import get_invocation_id

from truewatch_lineage_dbt.callbacks import Listener
from truewatch_lineage_dbt.invocation import JOB_COMMANDS, RUN_COMMANDS
from truewatch_lineage_dbt.summary import conclude, warn


class TrueWatchLineagePlugin(dbtPlugin):  # type: ignore[misc]  # dbt is not there when types are checked
    """Adds a listener to the invocation that dbt makes it for; idle where ``truewatch-dbt`` listens already."""

    def initialize(self) -> None:
        """Begin to record; a fault costs the lineage, not the run."""
        try:
            _attach()
        except Exception as error:  # noqa: BLE001 - dbt would end by whatever its plugins raise
            warn(f"No lineage was sent: {type(error).__name__} in the plugin.")


class _LibraryListener(Listener):
    """Ends the run by what dbt says of its end, since nobody sees an exit code."""

    def _completed(self, message: Any) -> None:
        if self.reporter is not None:
            self.resolve()
            code = 0 if message.data.success else 1
            conclude(self.reporter, code, interrupted=self.was_interrupted, message=self.error)
            self.reporter = None
        self._handlers.clear()  # the next invocation in this process has a listener of its own


def _attach() -> None:
    context = click.get_current_context(silent=True)
    obj = context.obj if context is not None else None
    if not isinstance(obj, dict) or any(isinstance(one, Listener) for one in obj.get("callbacks") or ()):
        return
    command = getattr(obj.get("flags"), "WHICH", None)
    if command in RUN_COMMANDS | JOB_COMMANDS:
        listener = _LibraryListener(obj, tuple(obj.get("dbt_runner_command_args") or sys.argv[1:]))
        listener.begin_invocation(command, get_invocation_id())
        get_event_manager().add_callback(listener)
