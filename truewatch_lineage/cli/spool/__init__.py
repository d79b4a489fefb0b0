"""``truewatch-lineage spool``: what waits, why, and what to do with it."""

from __future__ import annotations

from typing import Final

import click

from truewatch_lineage.cli.lazy import LazyGroup, Place

EPILOG: Final = """\b
Examples:
  truewatch-lineage spool status
  truewatch-lineage spool trace 4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a
  truewatch-lineage spool drain --timeout 120
"""
_HERE: Final = "truewatch_lineage.cli.spool"
_LOOK, _MEND = f"{_HERE}.look", f"{_HERE}.mend"
_PLACES: Final = {
    "status": Place(_LOOK, "Counts, and how each destination stands.", "status"),
    "list": Place(_LOOK, "What waits, or the dead letters, a line each.", "list_"),
    "show": Place(_LOOK, "Events as they will be sent, and what happened to them.", "show"),
    "trace": Place(_LOOK, "What happened to the events of a run or a job.", "trace"),
    "drain": Place(f"{_HERE}.drain", "Deliver now what can be delivered."),
    "resume": Place(_MEND, "Try a paused or parked destination at once.", "resume"),
    "rebind": Place(f"{_HERE}.rebind", "Give events of other settings to the present ones."),
    "replay": Place(_MEND, "Send dead letters again, in their old place.", "replay"),
    "drop": Place(_MEND, "Remove events for good.", "drop"),
    "export": Place(_LOOK, "Write events as NDJSON, which send can read.", "export"),
}


@click.group("spool", cls=LazyGroup, places=_PLACES, epilog=EPILOG)
def command() -> None:
    """Show, deliver and mend what waits.

    Status, list, show, trace and export need no destination's settings.
    """
