"""Tells the recorder's process what dbt does, without ever making dbt wait."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.words import counted

_START: Final = (
    # Without the working folder on the path: a dbt project may hold a file named as a module is.
    "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
    "from truewatch_lineage_dbt.recording import main; main()"
)
MARGIN: Final = 10.0
"""Seconds beyond the recorder's own budget after which nobody waits for it any more."""

STORE_SECONDS: Final = 2.0
"""Seconds that a run that is being killed is given to store its last events."""

REAP_SECONDS: Final = 0.5
"""Seconds that a recorder which has reported is given to be gone."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the lineage of a run.

    Attributes:
        events: How many were stored.
        waiting: Whether some of them are not delivered yet.
        warnings: What was warned of.
        refused: Why no lineage was taken at all, or None.
        is_off: Whether lineage is switched off, so that there is nothing to say.
        is_late: Whether nobody waited for the recorder's own report.
        is_broken: Whether the recorder died on its way.
        for_courier: Whether delivery is left to a courier, so that what is stored is all that was asked for.
    """

    events: int = 0
    waiting: bool = False
    warnings: tuple[str, ...] = field(default=())
    refused: str | None = None
    is_off: bool = False
    is_late: bool = False
    is_broken: bool = False
    for_courier: bool = False

    def line(self) -> str | None:
        """Return the one line that is shown, or None where there is nothing to say."""
        if self.is_off:
            return None
        if self.is_broken:
            return "Not all lineage was stored, since its recorder has died; what was is delivered or waits."
        if self.is_late:
            return "Not all is delivered yet. `truewatch-lineage spool status` tells what waits."
        if self.refused is not None:
            return f"No lineage was sent: {' '.join(self.refused.split())}"
        said = " ".join(" ".join(warning.split()) for warning in self.warnings[:1])
        if self.for_courier:
            return f"{counted(self.events, 'event')} stored for a courier.{' ' + said if said else ''}"
        if self.waiting:
            said = said or "`truewatch-lineage spool status` tells why."
            return f"{counted(self.events, 'event')} stored, not all delivered yet. {said}"
        return f"{counted(self.events, 'event')} delivered.{' ' + said if said else ''}"


class Reporter:
    """The way to one recorder's process; made when a run begins, used from any thread.

    A process that can't be started, or that dies, costs lineage and nothing else.
    """

    def __init__(self) -> None:
        self._messages: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._fault: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a fixed program
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C for dbt must not end what records it
            )
        except OSError as error:
            self._fault = f"its recorder can't be started: {error.strerror or type(error).__name__}."
            return
        self._writer = threading.Thread(target=self._write, name="truewatch-lineage-reporter", daemon=True)
        self._writer.start()

    def tell(self, kind: str, **fields: Any) -> None:
        """Hand a message over; costs microseconds, and never waits."""
        self._messages.put({"kind": kind, **fields})

    def finish(self) -> Report:
        """Wait, after an ``end``, until the recorder has stored and for a bounded time delivered everything.

        A Ctrl-C, or a `hurry` from another thread, ends the wait, not the storing.
        """
        if self._process is None:
            return Report(refused=self._fault)
        said: dict[str, Any] = {}
        until = time.monotonic() + MARGIN
        lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(lines,), name="truewatch-lineage-report", daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt, queue.Empty):
            while "refused" not in said and "report" not in said:
                line = lines.get(timeout=max(0.0, until + said.get("budget", 0.0) - time.monotonic()))
                if line is None:
                    break
                said |= line
        self.hurry()
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            self._process.wait(REAP_SECONDS)
        return _report(said, is_broken=self._process.returncode not in {None, 0})

    def hurry(self) -> None:
        """Let the recorder end as soon as all is stored, without a wait for delivery but for a last try."""
        self._messages.put(None)

    def abandon(self) -> None:
        """Wait, for a moment only, until the recorder has stored what it was told: this process is being killed."""
        self.hurry()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STORE_SECONDS)

    def _write(self) -> None:
        stdin = self._process.stdin if self._process else None
        with contextlib.suppress(OSError):  # the recorder has died; `finish` finds that out
            for message in iter(self._messages.get, None):
                if stdin is not None:
                    stdin.write(json.dumps(message, default=str).encode() + b"\n")
                    stdin.flush()
        with contextlib.suppress(OSError):
            if stdin is not None:
                stdin.close()

    def _read(self, lines: queue.SimpleQueue[dict[str, Any] | None]) -> None:
        if self._process is not None and self._process.stdout is not None:
            with self._process.stdout as stdout:
                for line in stdout:
                    with contextlib.suppress(ValueError):
                        lines.put(json.loads(line))
        lines.put(None)


def _report(said: Mapping[str, Any], *, is_broken: bool) -> Report:
    if "refused" in said:
        return Report(refused=said["refused"], is_off=said["refused"] is None)
    if "report" in said:
        report = said["report"]
        return Report(**{**report, "warnings": tuple(report["warnings"])})
    if "budget" in said:
        return Report(is_late=True, is_broken=is_broken)
    return Report(refused="its recorder has failed.")
