"""What the status page shows: the spool of the machine that serves it, read when the page is asked for."""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.cli.opening import existing_store_of, user
from truewatch_lineage.config import load
from truewatch_lineage.errors import TruewatchLineageError
from truewatch_lineage.spool import Store, report

SHOWN: Final = 50
"""How many waiting events, dead letters and rows of a trace a page has at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """Whose spool it is.

    Attributes:
        host: The machine.
        user: The user of the process that serves the page.
        folder: The spool's folder, or None where the settings don't tell.
    """

    host: str
    user: str
    folder: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The spool as a whole.

    Attributes:
        place: Whose it is.
        problem: Why nothing can be shown, and what to do about it; None where all is well.
        counts: As ``spool status --json`` has them (design, section 7); empty where there is a problem.
        waiting: The oldest of what waits, as ``spool list --json`` has it.
        dead: The oldest dead letters, likewise.
    """

    place: Place
    problem: TruewatchLineageError | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    dead: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of the events of a run or a job.

    Attributes:
        place: Whose spool was asked.
        what: The runId or job that was asked for.
        problem: Why nothing can be shown, and what to do about it; None where all is well.
        rows: The newest of them, in the order of emit, as ``spool trace --json`` has them.
        total: How many there are.
    """

    place: Place
    what: str
    problem: TruewatchLineageError | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0

    @property
    def tally(self) -> dict[str, int]:
        """How many of the shown rows are in each state."""
        states = [row["state"] for row in self.rows]
        return {state: states.count(state) for state in ("delivered", "pending", "dead") if state in states}


def overview() -> Overview:
    """Look at the spool of this machine. What is wrong with it is a part of the answer, and not raised."""
    try:
        with _spool() as store:
            return Overview(
                _place(str(store.folder)),
                counts=report.status(store),
                waiting=list(report.listed(store, limit=SHOWN)),
                dead=list(report.listed(store, dead=True, limit=SHOWN)),
            )
    except TruewatchLineageError as error:
        return Overview(_place(getattr(error, "path", None)), problem=error)


def trace(what: str) -> Trace:
    """Look for the events of a run or a job in the spool of this machine; nothing is raised, as in `overview`.

    Args:
        what: A runId, a job as ``namespace/name``, or a job's name alone.
    """
    try:
        with _spool() as store:
            rows = report.traced(store, what)
            return Trace(_place(str(store.folder)), what, rows=rows[-SHOWN:], total=len(rows))
    except TruewatchLineageError as error:
        return Trace(_place(getattr(error, "path", None)), what, problem=error)


def _spool() -> AbstractContextManager[Store]:
    return existing_store_of(load(need_destination=False))


def _place(folder: str | None) -> Place:
    return Place(socket.gethostname(), user(), folder)
