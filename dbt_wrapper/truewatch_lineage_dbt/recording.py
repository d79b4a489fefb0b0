"""The recorder's process: reads messages from its standard input, stores what they mean, and reports.

It is a process of its own so that nothing of lineage can slow, stop or bring down dbt: neither a parser's time, nor its
memory, nor a fault. What goes in: JSON lines, `Recorder.tell`'s messages. What comes out, JSON lines as well:
``{"refused": why}`` where lineage can't be taken, or ``{"budget": seconds}``, then ``{"report": …}``. Where the input
ends without an ``end``, dbt was killed. Where it ends, nobody waits any more.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, NoReturn

from truewatch_lineage.errors import TruewatchLineageError

DEFAULT_BUDGET: Final = 5.0
"""Seconds of delivery at the end, for a sink that has no ``exit_budget`` of its own."""

_STOPPING: Final = ("SIGINT", "SIGTERM", "SIGHUP")

LAST_SECONDS: Final = 1.0
"""Seconds of delivery once nobody waits, so that a run that was killed is seen to have ended; the rest is spooled."""


class _Warnings(logging.Handler):
    """Keeps what the package warns of, for the one line that is shown at the end."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class _Input:
    """Reads messages in a thread, so that the end of the input is noticed in the middle of anything."""

    def __init__(self, stream: BinaryIO) -> None:
        self.messages: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self.is_over = False
        self.is_stored = False
        self._stream = stream
        threading.Thread(target=self._read, name="truewatch-lineage-input", daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(ValueError):  # the last line of a process that was killed in the middle of it
            for line in self._stream:
                message = json.loads(line)
                self.messages.put(message)
                if message["kind"] == "end":
                    self.messages.put(None)
        self.messages.put(None)
        self.is_over = True
        if self.is_stored:
            os._exit(0)  # all is stored, and nobody waits for its delivery


def main() -> NoReturn:
    """Serve one run of dbt."""
    _outlive_signals()
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not mix with the reports
    warnings = _Warnings()
    logging.getLogger("truewatch_lineage").addHandler(warnings)
    source = _Input(sys.stdin.buffer)
    try:
        _serve(source, stream, warnings)
    except TruewatchLineageError as error:
        _say(stream, refused=str(error))
    os._exit(0)  # all is stored and closed, and somebody waits


def _outlive_signals() -> None:
    """Go on where all processes of a service are told to stop at once: dbt is, and then the run has to be closed.

    The end of the input ends this process. The handlers do nothing, but unlike ignored signals are no child's.
    """
    for name in _STOPPING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)


def _serve(source: _Input, stream: BinaryIO, warnings: _Warnings) -> None:
    from truewatch_lineage_dbt.recorder import Recorder  # noqa: PLC0415 - while the first messages are on their way
    from truewatch_lineage_dbt.settings import open_sink  # noqa: PLC0415 - as above

    sink = open_sink(os.environ)
    if sink is None:
        _say(stream, refused=None)
        return
    settings = getattr(sink, "settings", None)  # OpenLineage's own transports have none
    budget = getattr(settings, "exit_budget", DEFAULT_BUDGET)
    _say(stream, budget=budget)
    recorder = Recorder(sink, os.environ)
    for message in iter(source.messages.get, None):
        recorder.tell(message)
    recorder.close()
    source.is_stored = True
    is_empty = sink.close(min(budget, LAST_SECONDS) if source.is_over else budget)
    for_courier = getattr(settings, "delivery", None) == "spool"
    report = {"events": recorder.count, "waiting": not is_empty, "for_courier": for_courier}
    _say(stream, report={**report, "warnings": warnings.lines})


def _say(stream: BinaryIO, **fields: Any) -> None:
    try:
        stream.write(json.dumps(fields).encode() + b"\n")
    except OSError:  # dbt's process has gone
        return
