"""A server in a child process that prints its url once it is ready, and a client of the standard library alone."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

READY_SECONDS = 20
STOP_SECONDS = 10
DATAWAY = "/v1/write/openlineage"
DATAKIT = "/openlineage/api/v1/lineage"
PORTAL = "/api/data-registry/lineage"
OPENLINEAGE = "/api/v1/lineage"

_Server = TypeVar("_Server", bound="Served")  # Self is in typing from 3.11 on


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


class Served:
    """A server as a child process on a free loopback port.

    Args:
        name: What it is called in failures.
        tokens: Tokens it accepts; none to ask for none.
        port: 0 for a free one, kept over restarts.
        env: Its environment; None for this process's.

    Attributes:
        url: ``http://127.0.0.1:PORT`` once started.
        folder: For its files; it outlives restarts.
        log: What it wrote to stderr.
    """

    def __init__(
        self, name: str, *, tokens: Sequence[str], port: int = 0, env: Mapping[str, str] | None = None
    ) -> None:
        self._name = name
        self._folder = tempfile.TemporaryDirectory(prefix=f"test-{name}-")
        self._token = tokens[0] if tokens else None
        self._env = env
        self._tls: ssl.SSLContext | None = None
        self.folder = Path(self._folder.name)
        self.log = self.folder / "stderr.txt"
        self.port = port
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """Return what is run; it takes ``self.port``."""
        raise NotImplementedError

    def __enter__(self: _Server) -> _Server:  # noqa: PYI019 - as above
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
        assert self._process is not None, f"the {self._name} is not running"
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it accepts connections; AssertionError with its stderr if it does not."""
        assert self._process is None, f"the {self._name} is running"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=self._env
            )
        self.url = self._ready_line()
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, number: signal.Signals = signal.SIGTERM, timeout: float = STOP_SECONDS) -> int:
        """End it with a signal and return its exit code; 0 if it was not running."""
        return self._end(number, timeout)

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal and go on."""
        os.kill(self.pid, number)

    def wait(self, timeout: float = STOP_SECONDS) -> int:
        """Wait until it ends by itself, and return its exit code."""
        return self._end(None, timeout)

    def kill(self) -> None:
        """End it with SIGKILL, as a power-off of the process."""
        self._end(signal.SIGKILL, STOP_SECONDS)

    def restart(self) -> None:
        """Start it again, after ``stop`` or ``kill`` or from running, on the same port with the same files."""
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
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 10,
    ) -> Reply:
        """Make one request on a connection of its own; raises what ``http.client`` raises."""
        with contextlib.closing(self.connection(timeout)) as client:
            client.request(method, path, body, dict(headers or {}))
            answer = client.getresponse()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, fields, answer.read())

    def connection(self, timeout: float = 10) -> http.client.HTTPConnection:
        """Return a connection to it, for many requests."""
        if self._tls is not None:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def raw(self, *pieces: bytes, pause: float = 0.0, timeout: float = 10) -> bytes:
        """Write pieces to a socket and return all that comes back until it closes, or b"" for a reset."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as client:
            try:
                for piece in pieces:
                    client.sendall(piece)
                    time.sleep(pause)
                return b"".join(iter(lambda: client.recv(65536), b""))
            except ConnectionError:
                return b""

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

    def show(self, path: str, query: str | None, x_token: str | None, authorization: str | None, body: bytes) -> Reply:
        """Send an event with exactly these credentials, each where it is not None."""
        headers = {"X-Token": x_token, "Authorization": authorization}
        target = path if query is None else f"{path}?token={quote(query, safe='')}"
        return self.request("POST", target, body, {name: value for name, value in headers.items() if value is not None})

    def _ready_line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        select.select([self._process.stdout], [], [], READY_SECONDS)
        if self._process.poll() is None and select.select([self._process.stdout], [], [], 0)[0]:
            line = self._process.stdout.readline().decode().strip()
            if line:
                return line
        self._end(signal.SIGKILL, STOP_SECONDS)
        raise AssertionError(f"the {self._name} did not start: {self.stderr()}")

    def _end(self, number: signal.Signals | None, timeout: float) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()
