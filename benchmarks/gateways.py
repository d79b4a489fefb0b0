"""A gateway to be measured, and the events that it is given."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from load import request
from openlineage.client.serde import Serde
from samples import SAMPLES

NOWHERE = "http://127.0.0.1:9"
TOKEN = "not-a-real-token-0123456789"
SPOOL_BYTES = 16 << 30
READY_SECONDS = 20.0
MAIN = "from truewatch_lineage.cli import main; main()"


@dataclass(frozen=True)
class Event:
    """An event of which any number can be made: its runId is another one each time."""

    data: bytes
    run_id: bytes

    @classmethod
    def of(cls, size: str) -> Event:
        """Build one of a size of ``SAMPLES``."""
        event = SAMPLES[size]()
        return cls(Serde.to_json(event).encode(), str(event.run.runId).encode())

    def one(self, number: int) -> bytes:
        """Return the JSON of the event of a number."""
        return self.data.replace(self.run_id, run_id(number).encode())


def run_id(number: int) -> str:
    """Return the runId of a number."""
    return str(uuid.UUID(int=number + (4 << 76) + (8 << 60)))


def requests(size: str, coding: str, count: int) -> Callable[[int], bytes]:
    """Return what makes the request of a number; gzip is made before, since clients do it on machines of their own."""
    event = Event.of(size)
    if coding == "plain":
        return lambda number: request(event.one(number))
    made = [request(gzip.compress(event.one(number), 1), "Content-Encoding: gzip") for number in range(count)]
    return made.__getitem__


def settings(folder: Path, url: str) -> dict[str, str]:
    """Return the settings of a gateway that delivers to ``url``."""
    spool = {"spool_dir": str(folder / "spool"), "spool_max_bytes": str(SPOOL_BYTES)}
    return {"url": url, "token": TOKEN, "destination": "openlineage", **spool}


def command(folder: Path, url: str, *arguments: str) -> subprocess.Popen[str]:
    """Start one of our commands with these settings."""
    own = {f"TRUEWATCH_LINEAGE_{key.upper()}": value for key, value in settings(folder, url).items()}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **own},
        )


@contextmanager
def gateway(folder: Path, url: str, *options: str) -> Iterator[tuple[int, int]]:
    """Run a gateway; gives its port and process id."""
    with command(folder, url, "gateway", "--port", "0", *options) as process:
        try:
            assert process.stdout is not None
            told = re.search(r":(\d+)", process.stdout.readline())
            assert told, (folder / "log").read_text()
            yield int(told[1]), process.pid
        finally:
            process.kill()


@contextmanager
def courier(folder: Path, url: str) -> Iterator[int]:
    """Run a courier on the spool of a gateway; gives its process id once it delivers."""
    with command(folder, url, "courier") as process:
        try:
            deadline = time.monotonic() + READY_SECONDS
            while "Delivering from" not in (log := (folder / "log").read_text()):
                assert time.monotonic() < deadline, log
                time.sleep(0.05)
            yield process.pid
        finally:
            process.kill()
