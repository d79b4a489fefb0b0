"""Run each case of a script in a fork of a process that has imported Airflow already: to import it takes a second."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable


class Kept(logging.Handler):
    """Keeps what this package logs from now on."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        for name in ("truewatch_lineage", "truewatch_lineage_airflow"):
            logging.getLogger(name).addHandler(self)
            logging.getLogger(name).setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(f"{record.levelname} {record.getMessage()}")


def run_each(outcome: Callable[[dict], dict]) -> None:
    """Print the outcome of each case of ``sys.argv[1]``, a JSON list of mappings, as a line of JSON."""
    for case in json.loads(sys.argv[1]):
        sys.stdout.write(f"{_in_child(outcome, case)}\n")
        sys.stdout.flush()  # or the next child would write it once more


def _in_child(outcome: Callable[[dict], dict], case: dict) -> str:
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(outcome(case)).encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        line = answer.read()
    os.wait()
    return line
