"""Connections in a file that Airflow reads through a secrets backend, so that tests can change and hide them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from support.airflow_environments import Environment
from support.airflow_processes import wait_until
from support.repository import ROOT

INSIDE = ROOT / "tests" / "airflow" / "inside"
STEP_SECONDS = 60


class Connections:
    """The file, and processes that emit by what it says.

    Args:
        environment: Their Airflow.
        home: Their ``AIRFLOW_HOME`` and working folder.
    """

    def __init__(self, environment: Environment, home: Path) -> None:
        self.environment = environment
        self.home = home
        self.file = home / "connections.json"
        self.spool = home / "truewatch-lineage"
        backend = {"connections_file_path": str(self.file)}
        self.env = {
            "PYTHONPATH": str(INSIDE),
            "TRUEWATCH_LINEAGE_DELIVERY_BUDGET": "30",  # a busy machine's
            "AIRFLOW__SECRETS__BACKEND": "file_backend.FileBackend",
            "AIRFLOW__SECRETS__BACKEND_KWARGS": json.dumps(backend),
        }

    def write(self, url: str, token: str, conn_id: str = "truewatch_default", **extra: Any) -> None:
        """Let the file hold one connection."""
        connection = {"conn_type": "truewatch", "host": url, "password": token, "extra": json.dumps(extra)}
        self.file.write_text(json.dumps({conn_id: connection}), encoding="utf-8")

    def emit(self, *steps: str, **env: str) -> CompletedProcess[str]:
        """Take the steps of ``inside/emitting.py``; AssertionError with what it said where it fails."""
        done = self.environment.run(INSIDE / "emitting.py", *steps, home=self.home, env={**self.env, **env})
        assert done.returncode == 0, done.stderr
        return done

    @contextmanager
    def emitting(self, *steps: str, **env: str) -> Iterator[Future[CompletedProcess[str]]]:
        """As `emit`, meanwhile going on with a ``with`` block, which may use `reached`."""
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(self.emit, *steps, **env)
            yield done
            done.result()

    def reached(self, name: str) -> None:
        """Wait until a process waits for a file."""
        wait_until((self.home / f"{name}.asked").exists, STEP_SECONDS, lambda: f"{name} was not reached")

    def command(self, *args: str) -> CompletedProcess[str]:
        """Run ``truewatch-lineage`` beside that Airflow."""
        command = "from truewatch_lineage.cli import main; main(prog_name='truewatch-lineage')"
        return self.environment.run(command, *args, home=self.home, env=self.env)

    def pending(self) -> int:
        """Return how many events wait in the spool."""
        status = self.command("spool", "status", "--json")
        return int(json.loads(status.stdout)["pending"])
