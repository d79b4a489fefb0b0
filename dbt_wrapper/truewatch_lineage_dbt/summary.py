"""How a run's lineage ends: the run's state by dbt's exit code, and the one line on stderr."""

from __future__ import annotations

import contextlib
import os
import sys

from truewatch_lineage_dbt.reporter import Report, Reporter
from truewatch_lineage_dbt.times import now

PREFIX = "truewatch-lineage: "


def conclude(reporter: Reporter, code: int, *, interrupted: bool, message: str | None = None) -> None:
    """End a run, wait for a bounded time until its events are delivered, and say what became of them.

    Args:
        reporter: Of the run.
        code: dbt's exit code.
        interrupted: Whether somebody stopped dbt.
        message: What dbt said of its error.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):  # gone or closed, as dbt's own exit finds
        sys.stdout.flush()
    state = "COMPLETE" if code == 0 else "ABORT" if interrupted else "FAIL"
    reporter.tell("end", state=state, at=now(), message=_reason(code, message, interrupted=interrupted))
    show(reporter.finish())


def show(report: Report) -> None:
    """Write a report's line to stderr."""
    line = report.line()
    if line is not None:
        warn(line)


def warn(line: str) -> None:
    """Write a line to stderr, where there is one that takes it."""
    text, own = f"{PREFIX}{line}\n", sys.__stderr__
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if own is not None and sys.stderr is own:
            # Its buffer would keep what can't be written, and the interpreter end by 120 in the place of dbt's code.
            os.write(own.fileno(), text.encode(errors="backslashreplace"))
        else:
            sys.stderr.write(text)
            sys.stderr.flush()


def _reason(code: int, message: str | None, *, interrupted: bool) -> str | None:
    if code == 0:
        return None
    return message or ("dbt was interrupted." if interrupted else f"dbt ended with exit code {code}.")
