"""The processes of one Airflow: started, found again by its home, stopped, and none left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 15
POLL_SECONDS = 0.05


def free_port() -> int:
    """Return a port on 127.0.0.1 that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_until(true: Callable[[], bool], seconds: float, what: Callable[[], str]) -> None:
    """Look until something is true; AssertionError with ``what()`` after ``seconds``."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"after {seconds} s: {what()}"
        time.sleep(POLL_SECONDS)


def processes_of(home: Path) -> dict[int, str]:
    """Return pid and command of each process of the Airflow whose ``AIRFLOW_HOME`` is ``home``, whoever started it."""
    wanted = f"AIRFLOW_HOME={home}\0".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found[int(folder.name)] = command
    return found


class Processes:
    """The long-lived processes of one Airflow.

    Args:
        home: Its ``AIRFLOW_HOME``; each process's output goes to ``home/NAME.log``.
        variables: Their whole environment.
    """

    def __init__(self, home: Path, variables: Mapping[str, str]) -> None:
        self._home = home
        self._variables = dict(variables)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a process, in a session of its own, so that a signal to the tests doesn't reach it."""
        with self.log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                cwd=self._home,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def log(self, name: str) -> Path:
        """Return the file of a process's output."""
        return self._home / f"{name}.log"

    def check(self) -> None:
        """Raise AssertionError with its output's end where a process has ended."""
        for name, process in self._running.items():
            assert process.poll() is None, f"{name} ended with {process.returncode}:\n{tail(self.log(name))}"

    def stop(self) -> None:
        """End them all: by SIGTERM, then SIGKILL, and whatever they left behind."""
        for process in self._running.values():
            process.terminate()
        end = time.monotonic() + STOP_SECONDS
        for process in self._running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
        self._kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()
        wait_until(lambda: not processes_of(self._home), STOP_SECONDS, lambda: str(processes_of(self._home)))

    def _kill(self) -> None:
        for pid in processes_of(self._home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def tail(path: Path, size: int = 4000) -> str:
    """Return the last ``size`` bytes of a file as text; nothing where there is no such file."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()[-size:].decode(errors="replace")
    return ""
