"""Processes that emit and deliver, forked from one warm parent, to be killed at any moment.

with Nursery(settings, folder) as nursery:
    pid = nursery.emitter(delivery="background")
    nursery.kill(pid)                            # kill -9
    nursery.acknowledged()                       # digests of all events whose emit() has returned

``python -m support.nursery`` is the parent: it takes one JSON object a line and answers each by one number. It is warm,
since importing the OpenLineage client takes longer than the child's whole life may.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from support.events import tree
from support.repository import ROOT

STEPS = ("START", "RUNNING", "RUNNING", "COMPLETE")
CONNECTIONS = 8


def digest(event: Mapping[str, Any]) -> str:
    """Return what tells events apart, whoever has serialised them: sha256 of JSON with sorted keys."""
    return hashlib.sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()


def run_events() -> Iterator[dict[str, Any]]:
    """Yield the events of run after run, each numbered in ``run.facets.place.number``."""
    while True:
        run = str(uuid.uuid4())
        for number, step in enumerate(STEPS):
            facet = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s", "number": number}
            yield tree(eventType=step, run={"runId": run, "facets": {"place": facet}})


class Nursery:
    """The warm parent and its children.

    Args:
        settings: Of the transport, for every child.
        folder: Where children write what they have emitted.
    """

    def __init__(self, settings: Mapping[str, Any], folder: Path) -> None:
        self._settings = dict(settings)
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Nursery:  # noqa: PYI034 - Self is in typing from 3.11 on
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "tests",
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()

    def emitter(self, *, delivery: str, count: int | None = None, pause: float = 0.0, close: bool = False) -> int:
        """Start a child that emits, for ever or ``count`` events, and return its pid; it ends by ``os._exit(0)``."""
        more = {"settings": {**self._settings, "delivery": delivery}, "folder": str(self._folder)}
        return self._ask(do="emit", count=count, pause=pause, close=close, **more)

    def courier(self) -> int:
        """Start a child that delivers until it is killed, and return its pid."""
        return self._ask(do="deliver", settings=self._settings)

    def kill(self, pid: int) -> None:
        """End a child by SIGKILL and reap it."""
        self._ask(do="kill", pid=pid)

    def wait(self, pid: int) -> int:
        """Wait for a child to end and return its exit code."""
        return self._ask(do="wait", pid=pid)

    def acknowledged(self) -> list[str]:
        """Return the digests of all events whose ``emit()`` has returned."""
        return [line.split()[0] for line in self._lines()]

    def slowest(self) -> float:
        """Return the seconds of the slowest ``emit()``."""
        return max(float(line.split()[1]) for line in self._lines())

    def _lines(self) -> list[str]:
        return [line for file in sorted(self._folder.glob("acks-*")) for line in file.read_text().splitlines()]

    def _ask(self, **request: object) -> int:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _emit(request: Mapping[str, Any]) -> None:
    from truewatch_lineage import TrueWatchTransport  # noqa: PLC0415 - for the parent, not for the tests

    transport = TrueWatchTransport(request["settings"])
    handle = os.open(f"{request['folder']}/acks-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for event in itertools.islice(run_events(), request["count"]):
        start = time.monotonic()
        transport.emit(event)
        seconds = time.monotonic() - start
        os.write(handle, f"{digest(event)} {seconds:.3f}\n".encode())  # one write: a kill leaves a whole line or none
        time.sleep(request["pause"])
    if request["close"]:
        transport.close()


def _deliver(request: Mapping[str, Any]) -> None:
    from truewatch_lineage.config import load  # noqa: PLC0415 - for the parent, not for the tests
    from truewatch_lineage.courier import Courier  # noqa: PLC0415
    from truewatch_lineage.spool import Store  # noqa: PLC0415

    settings = load(request["settings"])
    courier = Courier(Store(settings.spool_dir), settings.destinations, connections=CONNECTIONS)
    courier.start(poll=0.05)
    while True:
        signal.pause()


def _fork(action: Callable[[Mapping[str, Any]], None], request: Mapping[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            action(request)
            code = 0
        finally:
            os._exit(code)
    return pid


def _main() -> None:
    import truewatch_lineage.courier  # noqa: PLC0415 - warm: what children need is imported before they fork
    import truewatch_lineage.transport  # noqa: F401, PLC0415

    children: set[int] = set()
    for line in sys.stdin:
        request = json.loads(line)
        answer = request.get("pid", 0)
        if request["do"] in {"kill", "wait"}:
            if request["do"] == "kill":
                os.kill(answer, signal.SIGKILL)
            children.discard(answer)
            answer = os.waitstatus_to_exitcode(os.waitpid(answer, 0)[1])
        else:
            answer = _fork(_emit if request["do"] == "emit" else _deliver, request)
            children.add(answer)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    _main()
