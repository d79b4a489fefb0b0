"""What is stored of a run by the messages that tell of it."""

from __future__ import annotations

import json
import uuid

import pytest

from truewatch_lineage_dbt.recorder import Recorder

RUN = "0192aaaa-0000-7000-8000-000000000001"
AT = "2026-11-29T12:00:00.000Z"
LATER = "2026-11-29T12:00:09.000Z"
MODEL = "model.harbour.ships"
SOURCE = "source.harbour.raw.ships"


def _manifest():
    table = {"database": "db", "schema": "main", "package_name": "harbour", "columns": {}, "config": {}}
    model = {
        **table,
        "unique_id": MODEL,
        "resource_type": "model",
        "name": "ships",
        "alias": "ships",
        "depends_on": {"nodes": [SOURCE]},
    }
    source = {**table, "unique_id": SOURCE, "resource_type": "source", "name": "ships", "identifier": "raw_ships"}
    return {"nodes": {MODEL: model}, "sources": {SOURCE: source}, "exposures": {}, "unit_tests": {}, "metadata": {}}


class List:
    """Takes events in the place of a spool."""

    def __init__(self):
        self.events = []

    def emit(self, event):
        self.events.append(event)

    def close(self, timeout=-1):
        return True

    @property
    def types(self):
        return [(event.get("eventType"), event["job"]["name"].rpartition(".")[2]) for event in self.events]


@pytest.fixture
def sink():
    return List()


@pytest.fixture
def recorder(sink):
    return Recorder(sink, {})


def _begin(recorder, folder, command="run"):
    recorder.tell({"kind": "begin", "at": AT, "run_id": RUN, "command": command, "project_dir": str(folder)})


def _resolve(recorder):
    facts = {"adapter_type": "postgres", "project_name": "harbour"}
    target = {"type": "postgres", "host": "db.example", "port": 5432}
    recorder.tell({"kind": "resolved", "facts": facts, "target": target, "manifest": _manifest()})


def _node(recorder, status="success", node=MODEL):
    recorder.tell({"kind": "node_started", "id": node, "at": AT})
    recorder.tell({"kind": "node_finished", "id": node, "outcome": {"status": status, "ended": LATER}})


def test_events_are_stored_as_things_happen(recorder, sink, tmp_path) -> None:
    """The run's START before dbt has parsed anything, each node's as it begins and ends, the run's end last."""
    _begin(recorder, tmp_path)
    assert [kind for kind, _ in sink.types] == ["START"]
    _resolve(recorder)
    recorder.tell({"kind": "node_started", "id": MODEL, "at": AT})
    assert sink.types[-1] == ("START", "ships")
    recorder.tell({"kind": "node_finished", "id": MODEL, "outcome": {"status": "success", "ended": LATER}})
    assert sink.types[-1] == ("COMPLETE", "ships")
    recorder.tell({"kind": "end", "state": "COMPLETE", "at": LATER})
    recorder.close()
    assert [kind for kind, _ in sink.types] == ["START", "START", "COMPLETE", "COMPLETE"]
    assert recorder.count == 4
    assert sink.events[1]["outputs"][0]["namespace"] == "postgres://db.example:5432"


def test_the_sql_is_what_dbt_has_compiled(recorder, sink, tmp_path) -> None:
    """It comes with a node's end, since the manifest was written before."""
    _begin(recorder, tmp_path)
    _resolve(recorder)
    outcome = {"status": "success", "ended": LATER}
    code = "select imo from db.main.raw_ships"
    recorder.tell({"kind": "node_finished", "id": MODEL, "outcome": outcome, "code": code})
    assert sink.events[-1]["job"]["facets"]["sql"]["query"] == code


def test_what_nobody_ended_is_aborted(recorder, sink, tmp_path) -> None:
    """Dbt was killed: the messages end, and no run stays open."""
    _begin(recorder, tmp_path)
    _resolve(recorder)
    recorder.tell({"kind": "node_started", "id": MODEL, "at": AT})
    recorder.close()
    assert sink.types[2:] == [("ABORT", "ships"), ("ABORT", f"dbt-run-{tmp_path.name}".rpartition(".")[2])]
    assert sink.events[-1]["run"]["facets"]["errorMessage"]["message"] == "dbt was killed."


def test_a_run_ends_once(recorder, sink, tmp_path) -> None:
    """A second end, such as that of a killed process after dbt's own, changes nothing."""
    _begin(recorder, tmp_path)
    recorder.tell({"kind": "end", "state": "FAIL", "at": LATER, "message": "dbt ended with exit code 2."})
    recorder.close()
    assert [kind for kind, _ in sink.types] == ["START", "FAIL"]


@pytest.mark.parametrize(("state", "count"), [("COMPLETE", 1), ("FAIL", 0)])
def test_compile_gives_lineage_without_a_run(recorder, sink, tmp_path, state, count) -> None:
    """JobEvents at its end, and none where it failed."""
    _begin(recorder, tmp_path, "compile")
    _resolve(recorder)
    _node(recorder)
    recorder.tell({"kind": "end", "state": state, "at": LATER})
    assert [event.get("run") for event in sink.events] == [None] * count


def test_freshness_is_told_with_what_was_measured(recorder, sink, tmp_path) -> None:
    """Dbt writes it into a file at its end, so a source's end waits for that."""
    measured = {"max_loaded_at": AT, "snapshotted_at": LATER, "max_loaded_at_time_ago_in_s": 9.0}
    sources = tmp_path / "sources.json"
    sources.write_text(json.dumps({"results": [{"unique_id": SOURCE, "status": "pass", **measured}]}))
    _begin(recorder, tmp_path, "freshness")
    _resolve(recorder)
    _node(recorder, "pass", SOURCE)
    assert [kind for kind, _ in sink.types] == ["START", "START"]
    recorder.tell({"kind": "artefact", "type": "FreshnessResult", "path": str(sources)})
    recorder.tell({"kind": "end", "state": "COMPLETE", "at": LATER})
    assert [kind for kind, _ in sink.types[2:]] == ["COMPLETE", "COMPLETE"]
    assert AT in json.dumps(sink.events[2])


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "unheard of"},
        {},
        {"kind": "node_finished"},
        {"kind": "node_finished", "id": MODEL, "outcome": {"no": "field"}},
        {"kind": "resolved", "facts": {"no": "field"}, "target": {}},
        {"kind": "artefact", "type": "CatalogArtifact", "path": 3},
    ],
)
def test_a_message_that_makes_no_sense_costs_only_itself(recorder, sink, tmp_path, message) -> None:
    """The rest of the run is recorded."""
    recorder.tell(message)
    _begin(recorder, tmp_path)
    _resolve(recorder)
    recorder.tell(message)
    _node(recorder)
    recorder.close()
    assert [kind for kind, _ in sink.types][:3] == ["START", "START", "COMPLETE"]


def test_what_a_run_left_behind_is_told_in_its_place(recorder, sink, tmp_path) -> None:
    """Where dbt ran as another program its artefacts tell the nodes, between the run's START and its end."""
    target = tmp_path / "target"
    target.mkdir()
    manifest = _manifest() | {"metadata": {"adapter_type": "postgres", "invocation_id": str(uuid.uuid4())}}
    timing = [{"name": "execute", "started_at": AT, "completed_at": LATER}]
    result = {"unique_id": MODEL, "status": "success", "timing": timing, "adapter_response": {}, "message": "OK"}
    target.joinpath("manifest.json").write_text(json.dumps(manifest))
    target.joinpath("run_results.json").write_text(json.dumps({"results": [result], "args": {"which": "run"}}))
    _begin(recorder, tmp_path)
    recorder.tell({"kind": "artefacts", "folder": str(target), "since": 0})
    recorder.tell({"kind": "end", "state": "COMPLETE", "at": LATER})
    assert [kind for kind, _ in sink.types] == ["START", "START", "COMPLETE", "COMPLETE"]
    assert sink.types[1][1] == sink.types[2][1] == "ships"


def test_what_dbt_masks_is_in_no_event(sink, tmp_path) -> None:
    """The values of DBT_ENV_SECRET…: of any length in dbt's messages; those that can't be a name's part everywhere."""
    secrets = {"DBT_ENV_SECRET_HOST": "db.example", "DBT_ENV_SECRET": "hunter", "DBT_ENV_SECRET_2": " "}
    recorder = Recorder(sink, secrets)
    _begin(recorder, tmp_path)
    _resolve(recorder)
    recorder.tell({"kind": "node_started", "id": MODEL, "at": AT})
    outcome = {"status": "error", "ended": LATER, "message": "no way to db.example for hunter"}
    recorder.tell({"kind": "node_finished", "id": MODEL, "outcome": outcome})
    recorder.tell({"kind": "end", "state": "FAIL", "at": LATER, "message": "wrong: hunter"})
    text = json.dumps(sink.events)
    assert "db.example" not in text
    assert "postgres://***:5432" in text
    assert "hunter" not in text
    assert "no way to *** for ***" in text


def test_a_manifest_that_cannot_be_read_is_told_of(recorder, sink, tmp_path, caplog) -> None:
    """Its path was told, so that it should be there; where dbt left none, that is no fault."""
    _begin(recorder, tmp_path)
    recorder.tell({"kind": "resolved", "facts": {}, "target": {}, "manifest": {}})
    assert not caplog.messages
    recorder.tell({"kind": "resolved", "facts": {}, "target": {}, "manifest": str(tmp_path / "manifest.json")})
    assert [message.partition(":")[0] for message in caplog.messages] == ["Nodes have no events"]
    assert [kind for kind, _ in sink.types] == ["START"]
