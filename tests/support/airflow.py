"""A real Airflow: migrated database, scheduler with LocalExecutor, DAG processor and API server, all on loopback.

with Airflow(environment("3"), tmp_path) as airflow:
    airflow.cli("connections", "add", "truewatch_default", "--conn-type", "truewatch", …)
    airflow.trigger("succeeds", run_id="one")
    airflow.wait("succeeds", "one")                  # "success"; AssertionError with the logs' ends if it hangs
    airflow.tasks("succeeds", "one")                 # [Task(task_id="one", try_number=1, state="success", …)]
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.airflow_environments import VERSIONS, Environment, environment
from support.airflow_processes import Processes, free_port, tail, wait_until
from support.repository import ROOT

__all__ = ["VERSIONS", "Airflow", "Environment", "Task", "environment"]

START_SECONDS = 120
RUN_SECONDS = 120
COMMANDS = ROOT / "tests" / "airflow" / "inside" / "commands.py"
ENDED = ("success", "failed")
# What makes it quick: little is there to look at, so it can be looked at often.
QUICK = {
    "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
    "AIRFLOW__CORE__PARALLELISM": "4",
    "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
    "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
    "AIRFLOW__SCHEDULER__JOB_HEARTBEAT_SEC": "2",
    "AIRFLOW__SCHEDULER__ENABLE_HEALTH_CHECK": "False",
    "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
}


@dataclass(frozen=True)
class Task:
    """One try of a task of a DAG run, as Airflow's database has it; ``duration`` in seconds."""

    task_id: str
    map_index: int
    try_number: int
    state: str | None
    duration: float | None


class Airflow:
    """One running Airflow; see the module.

    Args:
        environment: What it runs in.
        home: An empty folder: its ``AIRFLOW_HOME``.
        env: Variables for all its processes.
        web: Whether Airflow 2 gets a webserver. Airflow 3 always has its API server, which tasks need.

    Attributes:
        port: Of API server or webserver on 127.0.0.1.
        api_url: ``http://127.0.0.1:PORT``.
    """

    def __init__(
        self, environment: Environment, home: Path, env: Mapping[str, str] | None = None, *, web: bool = False
    ) -> None:
        self.environment = environment
        self.home = home
        self.port = free_port()
        self.api_url = f"http://127.0.0.1:{self.port}"
        self._web = web or environment.major > 2
        self._env = {**QUICK, **self._addresses(), **(env or {})}
        self._processes = Processes(home, self.variables)
        self._commands: subprocess.Popen[str] | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Give the environment of its processes."""
        return self.environment.variables(self.home, self._env)

    def __enter__(self) -> Airflow:  # noqa: PYI034 - Self is in typing from 3.11 on
        try:
            self._migrate()
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End all its processes; logs stay in ``home``."""
        if self._commands is not None:
            self._commands.kill()
            self._commands.communicate()
            self._commands = None
        self._processes.stop()

    def cli(self, *args: str | Path) -> str:
        """Run an ``airflow`` command and return its output; AssertionError with it where it fails."""
        if self._commands is None:
            self._commands = self._commands_process()
        assert self._commands.stdin is not None
        assert self._commands.stdout is not None
        self._commands.stdin.write(json.dumps([str(arg) for arg in args]) + "\n")
        self._commands.stdin.flush()
        answer = self._commands.stdout.readline()
        assert answer, f"airflow's commands ended: {tail(self.home / 'commands.log')}"
        code, out = json.loads(answer)
        assert code == 0, f"airflow {' '.join(map(str, args))}: {out}"
        return str(out)

    def trigger(self, dag_id: str, *, run_id: str) -> None:
        """Trigger a run of a DAG, once Airflow has found the DAG."""
        known = "select 1 from dag join serialized_dag using (dag_id) where dag_id = ?"
        wait_until(lambda: bool(self.query(known, dag_id)), START_SECONDS, lambda: f"no DAG {dag_id}\n{self.logs()}")
        self.cli("dags", "trigger", dag_id, "--run-id", run_id)

    def wait(self, dag_id: str, run_id: str, timeout: float = RUN_SECONDS) -> str:
        """Wait until a DAG run has ended and return its state; AssertionError with tasks and logs where it hangs."""
        wait_until(
            lambda: self._check() and self.state(dag_id, run_id) in ENDED,
            timeout,
            lambda: f"{dag_id} {run_id} is {self.state(dag_id, run_id)}: {self.tasks(dag_id, run_id)}\n{self.logs()}",
        )
        return str(self.state(dag_id, run_id))

    def state(self, dag_id: str, run_id: str) -> str | None:
        """Return the state of a DAG run, or None where there is none."""
        rows = self.query("select state from dag_run where dag_id = ? and run_id = ?", dag_id, run_id)
        return rows[0][0] if rows else None

    def tasks(self, dag_id: str, run_id: str) -> list[Task]:
        """Return the last tries of a DAG run's tasks, in the order of their end."""
        columns = "task_id, map_index, try_number, state, duration"
        order = "where dag_id = ? and run_id = ? order by end_date"
        rows = self.query(f"select {columns} from task_instance {order}", dag_id, run_id)
        return [Task(*row) for row in rows]

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Read Airflow's database."""
        with contextlib.closing(sqlite3.connect(self.home / "airflow.db", timeout=60)) as connection:
            return connection.execute(statement, values).fetchall()

    def logs(self) -> str:
        """Return the ends of its processes' logs and of all tasks' logs, for a message."""
        parts = sorted(self.home.glob("*.log"))
        tasks = sorted((self.home / "logs").glob("dag_id=*/**/*.log"))
        return "\n".join(f"== {path.relative_to(self.home)}\n{tail(path)}" for path in [*parts, *tasks])

    def _addresses(self) -> dict[str, str]:
        """Return where the parts find each other; the secrets are the tests' own."""
        return {
            "AIRFLOW__API__BASE_URL": self.api_url,
            "AIRFLOW__API__SECRET_KEY": "a-secret-key-of-the-tests-for-sessions",
            "AIRFLOW__API_AUTH__JWT_SECRET": "a-secret-of-the-tests-" * 4,
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.api_url}/execution/",
            # Airflow 2 thinks that SQLite can't bear several processes; it can, where they wait for each other. Not in
            # WAL mode: a fork with an open connection then reads a malformed database.
            "_AIRFLOW__SKIP_DATABASE_EXECUTOR_COMPATIBILITY_CHECK": "1",
        }

    def _migrate(self) -> None:
        done = self.environment.airflow("db", "migrate", home=self.home, env=self._env)
        assert done.returncode == 0, f"airflow db migrate: {done.stdout}{done.stderr}"

    def _start(self) -> None:
        airflow = str(self.environment.python.parent / "airflow")
        if self._web:
            server = "api-server" if self.environment.major > 2 else "webserver"
            where = ["--port", str(self.port), f"--host{'' if server == 'api-server' else 'name'}", "127.0.0.1"]
            self._processes.start(server, [airflow, server, *where, "--workers", "1"])
        if self.environment.major > 2:
            self._processes.start("dag-processor", [airflow, "dag-processor"])
        self._processes.start("scheduler", [airflow, "scheduler", "--skip-serve-logs"])
        self._commands = self._commands_process()
        if self._web:
            wait_until(lambda: self._check() and self._answers(), START_SECONDS, self.logs)

    def _commands_process(self) -> subprocess.Popen[str]:
        with (self.home / "commands.log").open("ab") as log:
            return subprocess.Popen(
                [self.environment.python, COMMANDS],
                cwd=self.home,
                env=self.variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def _answers(self) -> bool:
        path = "/api/v2/monitor/health" if self.environment.major > 2 else "/health"
        try:
            with urllib.request.urlopen(self.api_url + path, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.2)
            return False

    def _check(self) -> bool:
        self._processes.check()
        return True
