"""What is told of dbt's own events, and that nothing in it reaches dbt."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from truewatch_lineage_dbt.callbacks import Listener

AT = "2026-11-29T12:00:00.000001Z"


class Told:
    """Takes messages in a recorder's place."""

    def __init__(self):
        self.messages = []

    def tell(self, kind, **fields):
        self.messages.append({"kind": kind, **fields})


def _message(name, **data):
    """Make an event with the attributes of dbt's messages."""
    moment = SimpleNamespace(ToJsonString=lambda: AT)
    return SimpleNamespace(info=SimpleNamespace(name=name, ts=moment, invocation_id="i"), data=SimpleNamespace(**data))


def _node(**fields):
    names = {"unique_id": "model.p.a", "node_started_at": "2026-11-29T12:00:01.5", "node_finished_at": ""}
    return SimpleNamespace(**{**names, **fields})


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def listener(told):
    """A listener of a run that has begun, whose dbt has a manifest and compiled SQL."""
    compiled = SimpleNamespace(nodes={"model.p.a": SimpleNamespace(compiled_code="select 1")})
    made = Listener({"manifest": compiled})
    made.reporter = told
    made._is_resolved = True
    return made


def test_a_node_is_told_with_its_times_in_utc(listener, told) -> None:
    """Dbt gives them without an offset; where it gives none, the event's own time counts."""
    result = SimpleNamespace(status="success", message="OK", num_failures=0, adapter_response={"rows_affected": 3.0})
    listener(_message("NodeStart", node_info=_node()))
    listener(_message("NodeFinished", node_info=_node(), run_result=result))
    started, finished = told.messages
    assert started == {"kind": "node_started", "id": "model.p.a", "at": "2026-11-29T12:00:01.5Z"}
    assert finished["outcome"]["ended"] == AT
    assert finished["outcome"]["adapter_response"] == {"rows_affected": 3.0}
    assert finished["code"] == "select 1"


def test_a_fault_in_a_thread_of_dbt_is_an_error_of_its_node(listener, told) -> None:
    """Dbt tells it by an event of its own, in the place of the node's end."""
    listener(_message("GenericExceptionOnRun", node_info=_node(), exc="boom"))
    assert told.messages[0]["outcome"] == {"status": "error", "ended": AT, "message": "boom"}


def test_what_ended_dbt_is_kept(listener) -> None:
    """The error's text, and whether it was a Ctrl-C."""
    listener(_message("MainEncounteredError", exc="Compilation Error"))
    listener(_message("MainStackTrace", stack_trace="Traceback …\nValueError: KeyboardInterrupt"))
    assert (listener.error, listener.was_interrupted) == ("Compilation Error", False)
    listener(_message("MainStackTrace", stack_trace="Traceback …\nKeyboardInterrupt\n"))
    assert listener.was_interrupted


@pytest.mark.parametrize("fault", [ValueError, SystemExit, GeneratorExit, MemoryError])
def test_nothing_is_raised_into_dbt(listener, fault) -> None:
    """A callback that raises hangs dbt: whatever it is, it stays here."""

    def fail(kind, **fields):
        raise fault

    listener.reporter = SimpleNamespace(tell=fail)
    listener(_message("NodeStart", node_info=_node()))
    listener(SimpleNamespace())  # no event at all


def test_a_ctrl_c_in_a_callback_is_dbts(listener) -> None:
    """In the main thread, the only one that Ctrl-C reaches, it goes on as it would beside the callback."""

    def interrupt(kind, **fields):
        raise KeyboardInterrupt

    listener.reporter = SimpleNamespace(tell=interrupt)
    with pytest.raises(KeyboardInterrupt):
        listener(_message("NodeStart", node_info=_node()))
    raised = []
    monitored = threading.Thread(target=lambda: raised.append(listener(_message("NodeStart", node_info=_node()))))
    monitored.start()
    monitored.join()
    assert raised == [None]


@pytest.mark.parametrize("command", ["deps", "debug", "list", "parse", "clean", None])
def test_a_command_without_lineage_starts_nothing(command) -> None:
    """No process, no signal handler: dbt alone."""
    listener = Listener({"flags": SimpleNamespace(WHICH=command)}, began=lambda: pytest.fail("has begun"))
    listener(_message("MainReportArgs"))
    listener(_message("NodeStart", node_info=_node()))
    assert listener.reporter is None


def test_events_that_say_nothing_cost_nothing(listener, told) -> None:
    """Most of dbt's events are of no interest, such as one a statement."""
    for name in ("SQLQuery", "SQLQueryStatus", "Formatting", "CommandCompleted"):
        listener(_message(name))
    assert told.messages == []


def test_where_deferred_nodes_stand_is_told(told) -> None:
    """Of --defer and clone, since dbt leaves it out of its artefacts; and only of nodes that stand there."""
    there = SimpleNamespace(database="d", schema="prod", alias="a", relation_name="d.prod.a", name="a")
    nodes = {"model.p.a": SimpleNamespace(defer_relation=there), "model.p.b": SimpleNamespace(defer_relation=None)}
    nodes["test.p.c"] = SimpleNamespace()
    credentials = SimpleNamespace(type="duckdb", database="d", schema="s", connection_info=dict)
    credentials.to_dict = lambda **_: {}
    config = SimpleNamespace(credentials=credentials, project_name="p", version=1, profile_name="p", target_name="t")
    tree = SimpleNamespace(to_dict=lambda **_: {})
    found = SimpleNamespace(nodes=nodes, writable_manifest=lambda: tree)
    listener = Listener({"manifest": found, "runtime_config": config, "flags": None})
    listener.reporter = told
    listener.resolve()
    stand = {"database": "d", "schema": "prod", "alias": "a", "relation_name": "d.prod.a"}
    assert told.messages[0]["deferred"] == {"model.p.a": stand}
