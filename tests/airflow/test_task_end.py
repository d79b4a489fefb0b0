"""What the end of a task does in Airflow's own process: a bounded delivery, then gauges; and when it does nothing."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.airflow import VERSIONS, environment
from support.events import tree
from support.raw_server import Behaviour, RawServer, answer, hang
from support.spooled import spooled

from truewatch_lineage.config import load
from truewatch_lineage.pipeline import Pipeline

INSIDE = Path(__file__).parent / "inside" / "ending.py"
TOKEN = "a-token-of-the-tests-of-task-ends"
TRANSPORT = "AIRFLOW__OPENLINEAGE__TRANSPORT"
PORT = "AIRFLOW__METRICS__STATSD_PORT"
GAUGES = ("pending", "dead", "delivered", "oldest_age_seconds")
EVENTS = 3
BUSY_S = 8.0
"""What a busy machine may add to a budget; with the short one it is still less than an attempt may take by itself."""

WIDE_S = 600.0


@dataclass(frozen=True)
class Case:
    """How things stand at the end of a task, and what comes of it.

    ``stopped``: the destination's state and the seconds until its next try. ``sent``: how many events reach it.
    ``told``: what the one line in the log says, or None for silence.
    """

    sent: int = 0
    budget: float = 20.0
    events: int = EVENTS
    stopped: tuple[str, float] | None = None
    answers: Behaviour = field(default_factory=lambda: answer(200, body={}))
    env: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] | None = None
    marker: str = "task"
    name: str | None = None
    by_connection: bool = False
    told: str | None = None


COMPOSITE = {"type": "composite", "transports": {"tw": {"type": "truewatch_lineage.TrueWatchTransport"}}}
CASES = {
    "events are due": Case(sent=EVENTS),
    "events are due, and the settings are a connection's": Case(sent=EVENTS, by_connection=True),
    "events are due, and the transport is one of a composite": Case(sent=EVENTS, params=COMPOSITE, name="tw"),
    "nothing waits": Case(events=0),
    "the destination is paused": Case(stopped=("paused", WIDE_S)),
    "the destination is parked": Case(stopped=("parked", WIDE_S)),
    "the probe of a parked destination is due": Case(sent=EVENTS, stopped=("parked", -1.0), told="delivered again"),
    "a courier delivers": Case(env={"TRUEWATCH_LINEAGE_DELIVERY": "spool"}),
    "we are disabled": Case(env={"AIRFLOW__TRUEWATCH__DISABLED": "true"}),
    "something else ends": Case(marker="SchedulerJob"),
    "the destination hangs": Case(sent=EVENTS, budget=1.0, answers=hang(), told="waits, retry at"),
    "the destination refuses": Case(sent=EVENTS, answers=answer(401), told="stopped until"),
    "a setting is wrong": Case(env={"AIRFLOW__TRUEWATCH__URLL": "x"}, told="urll"),
}
DELIVERED = [name for name, case in CASES.items() if case.sent == EVENTS and case.told in {None, "delivered again"}]


@dataclass(frozen=True)
class End:
    """How a case went."""

    seconds: float
    logged: list[str]
    ready: bool
    requests: list[Any]
    connections: int
    pending: int


@pytest.fixture(scope="module", params=VERSIONS)
def ends(request, tmp_path_factory) -> dict[str, End]:
    """Give how each case went, all in children of one process: to import Airflow takes a second."""
    home = tmp_path_factory.mktemp("home")
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(RawServer(default=case.answers)) for name, case in CASES.items()}
        folders = {name: home / str(index) for index, name in enumerate(CASES)}
        cases = [_prepared(case, folders[name], servers[name].url) for name, case in CASES.items()]
        found = dict(zip(CASES, _run(request.param, home, cases), strict=True))
        return {
            name: End(
                one["seconds"],
                one["logged"],
                one["ready"],
                servers[name].requests,
                servers[name].connections,
                spooled(folders[name]).pending,
            )
            for name, one in found.items()
        }


def _run(version: str, home: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ended = environment(version).run(INSIDE, json.dumps(cases), home=home)
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == len(cases), ended.stderr
    return lines


def _prepared(case: Case, folder: Path, url: str) -> dict[str, Any]:
    """Fill a spool as tasks before have left it, and return what the process is given."""
    _fill(folder, url, case.events, case.name)
    if case.stopped:
        with contextlib.closing(sqlite3.connect(folder / "spool.db")) as database, database:
            state, after = case.stopped
            database.execute("UPDATE destination SET state = ?, until = ?", (state, time.time() + after))
    env = {"TRUEWATCH_LINEAGE_SPOOL_DIR": str(folder), "TRUEWATCH_LINEAGE_EXIT_BUDGET": str(case.budget), **case.env}
    if case.by_connection:
        connection = {"conn_type": "truewatch", "host": url, "password": TOKEN}
        env["AIRFLOW_CONN_TRUEWATCH_DEFAULT"] = json.dumps(connection)
    else:
        env |= {"TRUEWATCH_LINEAGE_URL": url, "TRUEWATCH_LINEAGE_TOKEN": TOKEN}
    if case.params:
        env[TRANSPORT] = json.dumps(case.params)
    return {"env": env, "marker": case.marker}


def _fill(folder: Path, url: str, events: int, name: str | None = None) -> None:
    written = {"url": url, "token": TOKEN, "spool_dir": str(folder), "delivery": "spool"}
    pipeline = Pipeline(load(written, environ={}).named(name))
    for number in range(events):
        pipeline.emit(tree(run={"runId": f"4a8f90a7-79c0-4f80-89e7-6b6c5d4fc{number:03}"}))
    if not events:  # a spool that has delivered all it had
        pipeline.emit(tree())
        pipeline.close()
        with contextlib.closing(sqlite3.connect(folder / "spool.db")) as database, database:
            database.execute("DELETE FROM event")
    pipeline.close()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", CASES)
def test_the_end_of_a_task_delivers_what_is_due_within_its_budget(ends, name) -> None:
    """What is due is sent, nothing where the destination is stopped or it is another's turn, never past the budget."""
    case, end = CASES[name], ends[name]

    assert len(end.requests) == case.sent
    assert (end.connections == 0) == (case.sent == 0)
    assert end.seconds < case.budget + BUSY_S
    assert end.pending == (0 if name in DELIVERED else case.events)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", CASES)
def test_the_end_of_a_task_raises_nothing_and_tells_no_token(ends, name) -> None:
    """Whatever is wrong is one line in the task's log, and so is that it is mended."""
    case, logged = CASES[name], ends[name].logged

    assert len(logged) == (case.told is not None), logged
    assert case.told is None or case.told in logged[0]
    assert TOKEN not in json.dumps(logged)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", CASES)
def test_the_transport_is_imported_before_a_task_s_forks(ends, name) -> None:
    """Each event of a task is emitted in a fork, which would else import it anew; other processes need it not."""
    assert ends[name].ready == (CASES[name].marker == "task" and "disabled" not in name)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", DELIVERED)
def test_what_is_delivered_carries_the_token(ends, name) -> None:
    """The token comes from the same place as the transport's."""
    assert {request.header("Authorization") for request in ends[name].requests} == {f"Bearer {TOKEN}"}


PLAIN = {"AIRFLOW__METRICS__STATSD_ON": "True", "AIRFLOW__METRICS__STATSD_HOST": "127.0.0.1"}
HOST = re.sub("[^A-Za-z0-9_-]", "_", socket.gethostname())
METRICS = {
    "StatsD": (PLAIN, f"airflow.truewatch_lineage.{{gauge}}.default.{HOST}"),
    "StatsD with InfluxDB's tags": (
        {**PLAIN, "AIRFLOW__METRICS__STATSD_INFLUXDB_ENABLED": "True"},
        f"airflow.truewatch_lineage.{{gauge}},destination=default,host={socket.gethostname()}",
    ),
    "metrics that are off": ({"AIRFLOW__METRICS__STATSD_ON": "False"}, None),
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_spool_s_figures_reach_airflow_s_metrics(version, tmp_path) -> None:
    """Each task reports what waits, is dead, was delivered, and how old the oldest is, to a real socket; or nothing."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in METRICS]
        cases = []
        for listening, (name, (variables, _)) in zip(sockets, METRICS.items(), strict=True):
            listening.bind(("127.0.0.1", 0))
            case = Case(stopped=("paused", WIDE_S), env={**variables, PORT: str(listening.getsockname()[1])})
            cases.append(_prepared(case, tmp_path / name, "http://127.0.0.1:9"))
        _run(version, tmp_path, cases)
        received = [dict(_gauges(listening)) for listening in sockets]

    for gauges, (_, pattern) in zip(received, METRICS.values(), strict=True):
        names = [pattern.format(gauge=gauge) for gauge in GAUGES] if pattern else []
        assert sorted(gauges) == sorted(names)
        assert [gauges[name] for name in names[:3]] == [EVENTS, 0, 0][: len(names)]
        assert all(0 <= gauges[name] < WIDE_S for name in names[3:])


def _gauges(listening: socket.socket) -> Iterator[tuple[str, float]]:
    """Give the gauges of ours among what has arrived."""
    listening.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            for line in listening.recv(65536).decode().splitlines():
                name, _, value = line.partition(":")
                if "truewatch" in name and value.endswith("|g"):
                    yield name, float(value[:-2])


@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_no_spool_is_made_for_a_task_that_had_no_lineage(version, tmp_path) -> None:
    """Where no event was ever emitted, the end of a task leaves no folder behind."""
    folder = tmp_path / "spool"
    _run(version, tmp_path, [{"env": {"TRUEWATCH_LINEAGE_SPOOL_DIR": str(folder)}, "marker": "task"}])

    assert not folder.exists()
