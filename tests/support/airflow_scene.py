"""A running Airflow whose lineage goes to a receiver, as the README says to set it up: one connection, nothing else.

scene = Scene(airflow)
with scene.receiver() as receiver:
    runs = scene.run("succeeds", "fails")
    events = receiver.wait_for_events(len(expected("succeeds", "fails")))
    assert told(events) == expected("succeeds", "fails")
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import signal
import sqlite3
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from support.airflow import Airflow
from support.airflow_processes import free_port, tail, wait_until
from support.receiver import Receiver
from support.spooled import Spooled, spooled

TOKEN = "first-token-of-the-airflow-tests"
CONNECTION = "truewatch_default"
# What each DAG's run tells, in a table: the event's type and the job.
EVENTS: Mapping[str, Sequence[tuple[str, str]]] = {
    "succeeds": [
        ("START", "succeeds"),
        ("START", "succeeds.one"),
        ("COMPLETE", "succeeds.one"),
        ("COMPLETE", "succeeds"),
    ],
    "fails": [
        ("START", "fails"),
        ("START", "fails.wrong"),
        ("FAIL", "fails.wrong"),
        ("FAIL", "fails"),
    ],
    "retries": [
        ("START", "retries"),
        ("START", "retries.second_time_lucky"),
        ("FAIL", "retries.second_time_lucky"),
        ("START", "retries.second_time_lucky"),
        ("COMPLETE", "retries.second_time_lucky"),
        ("COMPLETE", "retries"),
    ],
    "dies": [
        ("START", "dies"),
        ("START", "dies.killed_once"),
        ("FAIL", "dies.killed_once"),
        ("START", "dies.killed_once"),
        ("COMPLETE", "dies.killed_once"),
        ("COMPLETE", "dies"),
    ],
    "sql": [
        ("START", "sql"),
        ("START", "sql.create"),
        ("START", "sql.create.query.1"),
        ("COMPLETE", "sql.create.query.1"),
        ("START", "sql.create.query.2"),
        ("COMPLETE", "sql.create.query.2"),
        ("COMPLETE", "sql.create"),
        ("START", "sql.fill"),
        ("START", "sql.fill.query.1"),
        ("COMPLETE", "sql.fill.query.1"),
        ("COMPLETE", "sql.fill"),
        ("COMPLETE", "sql"),
    ],
    "maps": [
        ("START", "maps"),
        *(("START", "maps.each"), ("COMPLETE", "maps.each")) * 3,
        ("COMPLETE", "maps"),
    ],
    "produces": [
        ("START", "produces"),
        ("START", "produces.write"),
        ("COMPLETE", "produces.write"),
        ("COMPLETE", "produces"),
        # The asset that it changes starts another DAG.
        ("START", "consumes"),
        ("START", "consumes.read"),
        ("COMPLETE", "consumes.read"),
        ("COMPLETE", "consumes"),
    ],
}
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+")


class Scene:
    """An Airflow and the address that its connection names.

    Args:
        airflow: It, running.
        port: Where the receiver is to be; 0 for a free one.

    Attributes:
        url: Where its events go; a receiver is there while ``receiver()`` is entered.
    """

    def __init__(self, airflow: Airflow, port: int = 0) -> None:
        self.airflow = airflow
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._numbers = itertools.count(1)
        warehouse = airflow.home / "warehouse.db"
        airflow.cli("connections", "add", "warehouse", "--conn-type", "sqlite", "--conn-host", warehouse)
        self.connect(TOKEN)

    @property
    def spool(self) -> Path:
        """Give the folder of the spool."""
        return self.airflow.home / "truewatch-lineage"

    @property
    def program(self) -> Path:
        """Give the command ``truewatch-lineage`` of Airflow's environment."""
        return self.airflow.environment.python.parent / "truewatch-lineage"

    def spooled(self) -> Spooled:
        """Count what the spool holds."""
        return spooled(self.spool)

    def wait_for_spooled(self, count: int) -> None:
        """Wait until so many events wait in the spool: the scheduler tells a run's end after it has ended."""
        wait_until(lambda: self.spooled().pending == count, 30, lambda: f"{self.spooled()}, not {count}")

    def reset(self) -> None:
        """Empty the spool, whatever a failed test has left in it, and open its destination."""
        waiting = self.command("spool", "list", "--json").stdout.splitlines()
        self.command("spool", "drop", *(str(json.loads(line)["id"]) for line in waiting))
        self.command("spool", "resume")

    def connect(self, token: str) -> None:
        """Make the connection, or give it another token."""
        if self.airflow.query("select 1 from connection where conn_id = ?", CONNECTION):
            self.airflow.cli("connections", "delete", CONNECTION)
        fields = ["--conn-type", "truewatch", "--conn-host", self.url, "--conn-password", token]
        self.airflow.cli("connections", "add", CONNECTION, *fields)

    def receiver(self, token: str = TOKEN) -> Receiver:
        """Return a receiver at ``url``, to be entered."""
        return Receiver(tokens=[token], port=self.port)

    def run(self, *dags: str, timeout: float = 120) -> dict[str, str]:
        """Run DAGs at the same time, wait for their ends, and return the id of each one's run."""
        runs = {dag: f"run-{next(self._numbers)}" for dag in dags}
        for dag, run_id in runs.items():
            self.airflow.trigger(dag, run_id=run_id)
        for dag, run_id in runs.items():
            self.airflow.wait(dag, run_id, timeout)
        return runs

    def seconds(self, runs: Mapping[str, str]) -> list[float]:
        """Return the seconds that each try of each task took, listeners included, by the first and last line logged."""
        return [_between(lines[0], lines[-1]) for lines in self._logs(runs)]

    def emits(self, runs: Mapping[str, str]) -> list[float]:
        """Return the seconds that each START and each end of a task's try took to emit, as its log has it."""
        found = []
        for lines in self._logs(runs):
            begun = None
            for line in lines:
                if "OpenLineageClient will use" in line:
                    begun = line
                elif "Successfully emitted" in line and begun:
                    found.append(_between(begun, line))
                    begun = None
        return found

    def _logs(self, runs: Mapping[str, str]) -> Iterator[list[str]]:
        """Yield the lines with a time of each try's log."""
        for dag, run_id in runs.items():
            for log in sorted((self.airflow.home / "logs" / f"dag_id={dag}" / f"run_id={run_id}").rglob("*.log")):
                yield [line for line in log.read_text("utf-8").splitlines() if _STAMP.search(line)]

    def command(self, *args: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run ``truewatch-lineage`` in Airflow's environment; a failure shows in the result."""
        return subprocess.run(
            [self.program, *args],
            cwd=self.airflow.home,
            env=self.airflow.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    @contextmanager
    def courier(self) -> Iterator[None]:
        """Run a courier, as beside an Airflow whose tasks leave events behind."""
        command = [str(self.program), "courier", "--airflow-conn-id", CONNECTION]
        with (self.airflow.home / "courier.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.airflow.home,
                env=self.airflow.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            yield
        finally:
            process.terminate()
            code = process.wait(20)
        # Everything may have arrived before the courier was there to be asked to stop.
        assert code in {0, -signal.SIGTERM}, tail(self.airflow.home / "courier.log")

    def attempts(self) -> int:
        """Count the attempts made at what waits in the spool."""
        with contextlib.closing(sqlite3.connect(self.spool / "spool.db")) as database:
            count: int = database.execute("select total(attempts) from event").fetchone()[0]
            return count

    def files_with(self, secret: str) -> list[str]:
        """Return the files of Airflow, its logs and the spool among them, that hold a secret."""
        files = (path for path in self.airflow.home.rglob("*") if path.is_file() and not path.is_symlink())
        return [str(path) for path in files if secret.encode() in path.read_bytes()]


def _between(one: str, other: str) -> float:
    start, end = (datetime.fromisoformat(found.group()) for line in (one, other) if (found := _STAMP.search(line)))
    return (end - start).total_seconds()


def expected(*dags: str) -> Counter[tuple[str, str]]:
    """Count the events that one run of each DAG tells."""
    return Counter(event for dag in dags for event in EVENTS[dag])


def told(events: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Count events that a receiver stored, each by its type and job; one that came twice counts twice."""
    found: Counter[tuple[str, str]] = Counter()
    for event in events:
        found[event["event"]["eventType"], event["event"]["job"]["name"]] += 1 + event["duplicates"]
    return found


def out_of_order(events: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the runs whose events did not arrive as they were emitted, START first; by run id, their types."""
    runs = defaultdict(list)
    for event in events:
        runs[event["event"]["run"]["runId"]].append(event["event"]["eventType"])
    return {run: types for run, types in runs.items() if types[:1] != ["START"] or len(types) != 2}
