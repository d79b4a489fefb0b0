"""The local receiver in a child process, and a client of it that needs the standard library only.

with Receiver(tokens=["local-test-token"]) as receiver:
    receiver.faults([{"status": 503, "times": 2}])
    ...                                  # send to receiver.url
    receiver.wait_for_events(3)
    receiver.kill()                      # kill -9
    receiver.restart()                   # same port, same events
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from support.served import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Reply, Served

__all__ = ["DATAKIT", "DATAWAY", "OPENLINEAGE", "PORTAL", "Receiver", "Reply"]


class Receiver(Served):
    """``truewatch-lineage receive`` as a child process on a free loopback port.

    Args:
        tokens: Tokens it accepts; none to ask for none.
        strict: Whether it is started with ``--strict``.
        data: Its file of events; by default one in a temporary folder that outlives restarts.
        port: 0 for a free one, kept over restarts.
        args: More arguments of the command.
        program: What Python runs; another that ends in the same command can change the receiver first.

    Attributes:
        data: As given, or made.
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
        super().__init__("receiver", tokens=tokens, port=port)
        self._program = program
        self._args = [*args, *(["--strict"] if strict else [])]
        for token in tokens:
            self._args += ["--token", token]
        self.data = data or self.folder / "events.sqlite"

    def command(self) -> list[str]:
        """Return what is run."""
        program = [sys.executable, *self._program]
        return [*program, "--port", str(self.port), "--data", str(self.data), *self._args]

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
