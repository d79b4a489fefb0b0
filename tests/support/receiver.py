"""The local receiver in a child process, and a client of it that needs the standard library only.

with Receiver(tokens=["local-test-token"]) as receiver:
    receiver.faults([{"status": 503, "times": 2}])
    ...                                  # send to receiver.url
    receiver.wait_for_events(3)
    receiver.kill()                      # kill -9
    receiver.restart()                   # same port, same events
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

READY_SECONDS = 20
STOP_SECONDS = 10
DATAWAY = "/v1/write/openlineage"
DATAKIT = "/openlineage/api/v1/lineage"
PORTAL = "/api/data-registry/lineage"
OPENLINEAGE = "/api/v1/lineage"


@dataclass(frozen=True)
class Reply:
    """One answer; ``headers`` with lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Receiver:
    """``truewatch-lineage receive`` as a child process on a free loopback port.

    Args:
        tokens: Tokens it accepts; none to ask for none.
        strict: Whether it is started with ``--strict``.
        data: Its file of events; by default one in a temporary folder that outlives restarts.
        port: 0 for a free one, kept over restarts.
        args: More arguments of the command.
        program: What Python runs; another that ends in the same command can change the receiver first.

    Attributes:
        url: ``http://127.0.0.1:PORT`` once started.
    """

    def __init__(
        self,
        *,
        tokens: Sequence[str] = (),
        strict: bool = False,
        data: Path | None = None,
        port: int = 0,
        args: Sequence[str] = (),
        program: Sequence[str] = ("-m", "truewatch_lineage.cli.receive"),
    ) -> None:
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="test-receiver-")
        self._args = [*args, *(["--strict"] if strict else [])]
        for token in tokens:
            self._args += ["--token", token]
        self._token = tokens[0] if tokens else None
        self.data = data or Path(self._folder.name, "events.sqlite")
        self.log = Path(self._folder.name, "stderr.txt")
        self.port = port
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Receiver:  # noqa: PYI034 - Self is in typing from 3.11 on
        try:
            self.start()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        """The running child's process id."""
        assert self._process is not None, "the receiver is not running"
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it accepts connections; AssertionError with its stderr if it does not."""
        assert self._process is None, "the receiver is running"
        command = [sys.executable, *self._program]
        command += ["--port", str(self.port), "--data", str(self.data), *self._args]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.url = self._ready_line()
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal and return its exit code; 0 if it was not running."""
        return self._end(number)

    def kill(self) -> None:
        """End it with SIGKILL, as a power-off of the process."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Start it again, after ``stop`` or ``kill`` or from running, on the same port with the same events."""
        self.stop()
        self.start()

    def stderr(self) -> str:
        """Return what it logged so far."""
        return self.log.read_text("utf-8")

    def wait_for_log(self, text: str, timeout: float = 5) -> str:
        """Wait until ``text`` was logged and return the log: a line is written just after its answer is sent."""
        end = time.monotonic() + timeout
        while text not in (log := self.stderr()):
            assert time.monotonic() < end, f"no {text!r} in {log}"
            time.sleep(0.01)
        return log

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 10,
    ) -> Reply:
        """Make one request on a connection of its own; raises what ``http.client`` raises."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)) as client:
            client.request(method, path, body, dict(headers or {}))
            answer = client.getresponse()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, fields, answer.read())

    def post(
        self,
        event: object,
        path: str = DATAWAY,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 10,
    ) -> Reply:
        """Send an event (bytes, or anything JSON) with the first token unless ``headers`` name a credential."""
        body = event if isinstance(event, bytes) else json.dumps(event).encode()
        fields = dict(headers or {})
        if self._token and not {"authorization", "x-token"} & {name.lower() for name in fields}:
            fields["Authorization"] = f"Bearer {self._token}"
        return self.request("POST", path, body, fields, timeout=timeout)

    def events(self, **filters: str) -> list[dict[str, Any]]:
        """Return all stored events in the order of arrival.

        Each is ``{"seq", "destination", "arrived_at", "duplicates", "warnings", "event_id", "kind", "run_id", …,
        "event": {…}}``; ``filters`` are run_id, job_namespace, job_name and destination.
        """
        found: list[dict[str, Any]] = []
        after = 0
        while True:
            query = urlencode({**filters, "limit": 1000, "after": after})
            page = self._json("GET", f"/api/events?{query}")
            found += page["events"]
            if page["next"] is None:
                return found
            after = page["next"]

    def wait_for_events(self, count: int, timeout: float = 10, **filters: str) -> list[dict[str, Any]]:
        """Wait until at least ``count`` events are stored and return them; AssertionError after ``timeout``."""
        end = time.monotonic() + timeout
        while len(events := self.events(**filters)) < count:
            assert time.monotonic() < end, f"{len(events)} of {count} events after {timeout} s"
            time.sleep(0.02)
        return events

    def stats(self) -> dict[str, Any]:
        """Return ``{"requests": {path: {status: n}}, "stored", "duplicates", "connections": {"now", "peak"}}``."""
        answer: dict[str, Any] = self._json("GET", "/api/stats")
        return answer

    def statuses(self, path: str = DATAWAY) -> dict[str, int]:
        """Return how often each status (or ``dropped``) was answered on a path since the start."""
        found: dict[str, int] = self.stats()["requests"].get(path, {})
        return found

    def faults(self, script: Sequence[Mapping[str, Any]]) -> None:
        """Make it misbehave by a script; see ``truewatch_lineage.receiver.faults``."""
        self._json("POST", "/api/faults", json.dumps(list(script)).encode())

    def clear(self) -> None:
        """Forget events and faults; the counters of requests stay."""
        self._json("DELETE", "/api/events")
        self._json("DELETE", "/api/faults")

    def _json(self, method: str, path: str, body: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        reply = self.request(method, path, body, headers, timeout=30)
        assert reply.status == 200, f"{method} {path}: {reply.status} {reply.body!r}"
        return reply.json

    def _ready_line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        select.select([self._process.stdout], [], [], READY_SECONDS)
        if self._process.poll() is None and select.select([self._process.stdout], [], [], 0)[0]:
            line = self._process.stdout.readline().decode().strip()
            if line:
                return line
        self._end(signal.SIGKILL)
        raise AssertionError(f"the receiver did not start: {self.stderr()}")

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()
