"""truewatch-dbt where dbt is another program: its outcome is dbt's, whatever dbt, a signal or the settings do."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from support.dbt_stand_in import StandIn

BROKEN = {"TRUEWATCH_LINEAGE_URL": "", "OPENLINEAGE__TRANSPORT__TYPE": "http"}
UNKNOWN = {"TRUEWATCH_LINEAGE_URL": "", "OPENLINEAGE__TRANSPORT__TYPE": "no.such.T"}
WAIT_S = 20

ROWS = {
    "all is well": ("sys.exit(0)", "run", {}, 0, "COMPLETE"),
    "a model fails": ("sys.exit(1)", "run", {}, 1, "FAIL"),
    "no run_results": ("sys.exit(2)", "build", {}, 2, "FAIL"),
    "an exit code of its own": ("sys.exit(77)", "test", {}, 77, "FAIL"),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", "run", {}, 137, "ABORT"),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", "run", {}, 143, "ABORT"),
    "SIGSEGV": ("os.kill(os.getpid(), signal.SIGSEGV)", "run", {}, 139, "ABORT"),
    "broken results, no manifest": ("(target / 'run_results.json').write_text('{broken')", "run", {}, 0, "COMPLETE"),
    "empty results and manifest": (
        "[(target / f'{name}.json').write_text('{}') for name in ('run_results', 'manifest')]", "run", {}, 0, "COMPLETE"
    ),
    "flags before the subcommand": ("sys.exit(0)", "--profiles-dir . run", {}, 0, "COMPLETE"),
    "no lineage in the command": ("sys.exit(0)", "deps", {}, 0, None),
    "a version without a project": ("os.remove('dbt_project.yml')", "--version", {}, 0, None),
    "broken settings": ("sys.exit(0)", "run", BROKEN, 0, None),
    "broken settings and a failing model": ("sys.exit(1)", "run", BROKEN, 1, None),
    "an unknown transport": ("sys.exit(0)", "run", UNKNOWN, 0, None),
    "switched off, with an unknown transport": (
        "sys.exit(0)", "run", {**UNKNOWN, "OPENLINEAGE_DISABLED": "true"}, 0, None
    ),
    "no settings at all": ("sys.exit(0)", "run", {"TRUEWATCH_LINEAGE_URL": ""}, 0, None),
    "a spool that can't be": ("sys.exit(0)", "run", {"TRUEWATCH_LINEAGE_SPOOL_DIR": "/dev/null/x"}, 0, None),
    "an interpreter that warns": ("sys.exit(3)", "run", {"PYTHONWARNINGS": "error"}, 3, "FAIL"),
}  # fmt: skip
"""What dbt does, the arguments, more variables, the exit code, and how the run ends in the events."""


@pytest.fixture
def dbt(tmp_path):
    return StandIn(tmp_path)


@pytest.mark.parametrize(("code", "args", "env", "expected", "end"), ROWS.values(), ids=ROWS)
def test_the_outcome_is_dbts(dbt, code, args, env, expected, end) -> None:
    """Dbt always runs, with its arguments; its code and output are passed on; ours is one line on stderr at most."""
    dbt.install(f"print(json.dumps(sys.argv[1:]), flush=True)\n{code}")
    ran = dbt.run(*args.split(), env=env)
    assert (ran.code, ran.out) == (expected, json.dumps(args.split()) + "\n")
    lines = ran.err.splitlines()
    assert len(lines) <= 1, ran.err
    assert all(line.startswith("truewatch-lineage: ") for line in lines)
    assert [event["eventType"] for event in dbt.events()] == (["START", end] if end else [])
    assert bool(lines) == (end is not None or (args == "run" and "OPENLINEAGE_DISABLED" not in env))


def test_what_dbt_reads_and_writes_is_passed_through(dbt) -> None:
    """Bytes in and out, both streams, and arguments that a shell would have to quote."""
    dbt.install("sys.stdout.write(sys.stdin.read()); sys.stderr.write(repr(sys.argv[1:]))")
    args = ("run", "--vars", '{"a b": "ü $HOME"}', "--select", "", "*")
    ran = dbt.run(*args, stdin="a\r\n\x00ü")
    assert ran.out == "a\n\x00ü"  # text mode of this test, not of the command
    assert ran.err.startswith(repr(list(args)))


def test_there_is_a_message_where_there_is_no_dbt(dbt) -> None:
    """The code is a shell's for a command that is not there."""
    dbt.install("")
    ran = dbt.run("run", env={"PATH": "/nowhere"})
    assert ran.code == 127
    assert "There is no dbt" in ran.err
    assert not dbt.events()


def test_a_dbt_that_is_this_command_is_passed_over(dbt, tmp_path) -> None:
    """A link named dbt to truewatch-dbt, in a folder before dbt's own, must not run itself for ever."""
    dbt.install("sys.exit(5)")
    links = tmp_path / "links"
    links.mkdir()
    script = tmp_path / "truewatch-dbt"
    script.write_text(
        f"#!{sys.executable}\nimport sys; sys.modules['dbt'] = None\n"
        "from truewatch_lineage_dbt.main import main; main()\n"
    )
    script.chmod(0o755)
    (links / "dbt").symlink_to(script)
    path = f"{links}{os.pathsep}{dbt.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    status = os.spawnve(os.P_WAIT, str(script), ["truewatch-dbt", "deps"], dbt.variables({"PATH": path}))
    assert status == 5


@pytest.mark.parametrize("script", ['exec truewatch-dbt "$@"', '"/opt/bin/truewatch-dbt" "$@"'])
def test_a_dbt_that_calls_this_command_is_passed_over(dbt, tmp_path, script) -> None:
    """A script named dbt that was put before dbt's own must not call itself for ever; a folder's name says nothing."""
    dbt.install("sys.exit(5)  # /opt/truewatch-dbt/bin/python")
    shims = tmp_path / "shims"
    shims.mkdir()
    shims.joinpath("dbt").write_text(f"#!/bin/sh\n{script}\n")
    shims.joinpath("dbt").chmod(0o755)
    path = f"{shims}{os.pathsep}{dbt.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert dbt.run("deps", env={"PATH": path}).code == 5


def test_a_plugin_in_that_dbt_is_kept_from_sending_the_run_again(dbt) -> None:
    """The variable that switches it on is hidden from dbt."""
    dbt.install("print(os.environ.get('TRUEWATCH_LINEAGE_DBT_PLUGIN'))")
    assert dbt.run("run", env={"TRUEWATCH_LINEAGE_DBT_PLUGIN": "1"}).out == "None\n"


def test_events_come_from_the_artefacts_of_this_run(dbt) -> None:
    """Nodes are told between the run's START and its end; those of an earlier run are not told again."""
    dbt.install(
        """
        node = {"unique_id": "model.demo.a", "resource_type": "model", "name": "a", "alias": "a", "database": "d",
                "schema": "s", "package_name": "demo", "depends_on": {"nodes": []}, "config": {}, "columns": {}}
        timing = [{"name": "execute", "started_at": "2026-11-29T12:00:00Z", "completed_at": "2026-11-29T12:00:01Z"}]
        result = {"unique_id": "model.demo.a", "status": "success", "timing": timing, "adapter_response": {}}
        if "--write" in sys.argv:
            manifest = {"nodes": {"model.demo.a": node}, "metadata": {"adapter_type": "postgres"}}
            (target / "manifest.json").write_text(json.dumps(manifest))
            results = {"results": [result], "metadata": {"invocation_id": "0192aaaa-0000-7000-8000-000000000001"}}
            (target / "run_results.json").write_text(json.dumps(results))
        """
    )
    dbt.run("run", "--write")
    assert [event["eventType"] for event in dbt.events()] == ["START", "START", "COMPLETE", "COMPLETE"]
    time.sleep(0.1)  # a file of the first run must be older than the second
    dbt.run("run")
    assert [event["eventType"] for event in dbt.events()[4:]] == ["START", "COMPLETE"]


COUNTING = """
seen = []
def note(number, frame):
    seen.append(signal.Signals(number).name)
    pathlib.Path("seen").write_text(" ".join(seen))
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"):
    signal.signal(getattr(signal, name), note)
pathlib.Path("ready").write_text(str(os.getpid()))
until = time.monotonic() + 20
while len(seen) < int(sys.argv[-1]) and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.5)  # for a signal too many
sys.exit(len(seen) + 10)
"""


def _wait_for(path, what=lambda text: text):
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if path.exists() and what(path.read_text()):
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path.name} has not come")


def _event_types(dbt):
    """Return the types of a run's events; the recorder outlives a command that a signal has hurried."""
    deadline = time.monotonic() + WAIT_S
    while len(found := dbt.events()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    return [event["eventType"] for event in found]


@pytest.mark.parametrize("whom", ["group", "process"])
@pytest.mark.parametrize("names", ["SIGINT", "SIGINT SIGINT", "SIGTERM", "SIGUSR1 SIGINT"])
def test_a_signal_reaches_dbt_once(dbt, names, whom) -> None:
    """Sent to this process alone it is passed on; sent to the group, as by a terminal, it is not doubled."""
    dbt.install(COUNTING)
    sent = names.split()
    with dbt.started("run", str(len(sent))) as process:
        _wait_for(dbt.project / "ready")
        for count, name in enumerate(sent, start=1):
            (os.killpg if whom == "group" else os.kill)(process.pid, getattr(signal, name))
            _wait_for(dbt.project / "seen", lambda text, count=count: len(text.split()) >= count)
            time.sleep(0.3)
        code = process.wait(WAIT_S)
    seen = (dbt.project / "seen").read_text().split()
    # A SIGTERM to the group comes twice, as a plain dbt that it kills can't tell.
    assert sorted(set(seen)) == sorted(set(sent))
    assert seen.count("SIGINT") == sent.count("SIGINT")
    assert code == len(seen) + 10
    assert _event_types(dbt) == ["START", "ABORT" if {"SIGINT", "SIGTERM"} & set(sent) else "FAIL"]


def test_a_dbt_that_a_signal_kills_takes_the_command_with_it(dbt) -> None:
    """SIGTERM to the command alone: dbt dies of it, the code says so, and the run is an ABORT."""
    dbt.install("pathlib.Path('ready').write_text(str(os.getpid())); time.sleep(60)")
    with dbt.started("run") as process:
        child = int(_wait_for(dbt.project / "ready"))
        process.terminate()
        assert process.wait(WAIT_S) == 143
    assert not _is_alive(child)
    assert _event_types(dbt) == ["START", "ABORT"]


@pytest.mark.linux
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel must end the child")
def test_no_dbt_is_left_where_the_command_is_killed(dbt) -> None:
    """SIGKILL leaves the command no time: the kernel ends dbt, and the recorder the run."""
    dbt.install("pathlib.Path('ready').write_text(str(os.getpid())); time.sleep(60)")
    with dbt.started("run") as process:
        child = int(_wait_for(dbt.project / "ready"))
        deadline = time.monotonic() + WAIT_S
        while not dbt.events() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        assert process.wait(WAIT_S) == -signal.SIGKILL
        while (_is_alive(child) or len(dbt.events()) < 2) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not _is_alive(child)
    assert [event["eventType"] for event in dbt.events()] == ["START", "ABORT"]


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_recorder_that_dies_costs_lineage_only(dbt, tmp_path) -> None:
    """The command says so in one line, and ends as dbt does."""
    broken = tmp_path / "broken"
    broken.mkdir()
    broken.joinpath("orjson.py").write_text("raise SystemExit(9)")
    dbt.install("sys.exit(4)")
    ran = dbt.run("run", env={"PYTHONPATH": str(broken)})
    assert (ran.code, ran.err) == (4, "truewatch-lineage: No lineage was sent: its recorder has failed.\n")


RECORDER = """
def recorder():
    until, children = time.monotonic() + 20, pathlib.Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children")
    while time.monotonic() < until and not pathlib.Path(os.environ["TRUEWATCH_LINEAGE_SPOOL_DIR"]).exists():
        time.sleep(0.05)
    time.sleep(1)  # until it has taken the run's START
    for pid in map(int, children.read_text().split()):
        if b"recording" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
"""
proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the recorder is found by Linux's /proc")


@proc
def test_a_recorder_that_is_killed_on_its_way_is_told_of(dbt) -> None:
    """As by a machine that is out of memory: what it had not stored yet is lost, so that no word may promise it."""
    dbt.install(RECORDER + "os.kill(recorder(), signal.SIGKILL)\nsys.exit(4)")
    ran = dbt.run("run")
    assert (ran.code, len(ran.err.splitlines())) == (4, 1)
    assert "its recorder has died" in ran.err


@proc
def test_a_recorder_that_is_told_to_stop_closes_the_run_first(dbt) -> None:
    """A manager of services, such as systemd, tells all processes of one at once."""
    stops = "[os.kill(pid, number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]"
    dbt.install(f"{RECORDER}pid = recorder()\n{stops}\ntime.sleep(0.3)\nos.kill(os.getpid(), signal.SIGTERM)")
    assert dbt.run("run").code == 143
    assert [event["eventType"] for event in dbt.events()] == ["START", "ABORT"]


def test_a_module_in_the_project_is_not_taken_for_another(dbt) -> None:
    """The working folder is not on the recorder's path: a project may hold a file of any name."""
    dbt.install("sys.exit(0)")
    for name in ("orjson", "queue", "logging", "yaml"):
        dbt.project.joinpath(f"{name}.py").write_text("raise SystemExit(9)")
    assert dbt.run("run").code == 0
    assert len(dbt.events()) == 2
