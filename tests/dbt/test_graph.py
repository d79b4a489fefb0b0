"""A build under truewatch-dbt gives the lineage that was written by hand from the project's SQL, live and whole."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import expected_graph as expected
import pytest
from lineage_checks import NODES, WITH_SQL, columns, differences, expected_columns
from support.cli import TOKEN
from support.dbt import HARBOUR, copy_of
from support.dbt_events import dbt_node, names, runs_of
from support.receiver import Receiver

from truewatch_lineage.events.validate import validate

pytestmark = pytest.mark.timeout(600)  # the first test makes the environment
WITHOUT_DBT = """
import sys; sys.modules["dbt"] = None
from truewatch_lineage_dbt.main import main; main()
"""


@dataclass
class Built:
    """What a command on the project came to."""

    project: Path
    events: list
    arrived: list

    @property
    def runs(self):
        """Its runs, by runId."""
        return runs_of(self.events)

    def of(self, unique_id):
        """Give the run of a node; AssertionError unless there is exactly one."""
        found = [run for run in self.runs.values() if dbt_node(run.end) == unique_id]
        assert len(found) == 1, f"{len(found)} runs of {unique_id}"
        return found[0]

    def test(self, name):
        """Give the run of a data test by its name."""
        found = [run for run in self.runs.values() if (dbt_node(run.end) or "").startswith(f"test.harbour.{name}")]
        assert len(found) == 1, f"{len(found)} runs of {name}"
        return found[0]


@pytest.fixture(scope="module")
def receiver():
    """One receiver for all commands of the module."""
    with Receiver(tokens=[TOKEN]) as made:
        yield made


@pytest.fixture(scope="module")
def lineage(receiver, tmp_path_factory):
    """Settings for the receiver, with time enough to deliver all at exit."""
    return {
        "TRUEWATCH_LINEAGE_URL": receiver.url,
        "TRUEWATCH_LINEAGE_TOKEN": TOKEN,
        "TRUEWATCH_LINEAGE_SPOOL_DIR": tmp_path_factory.mktemp("state") / "spool",
        "TRUEWATCH_LINEAGE_EXIT_BUDGET": "40",
    }


@pytest.fixture(scope="module")
def command(dbt, receiver, lineage, tmp_path_factory):
    """Run a command of truewatch-dbt, on a fresh copy of the project unless one is given, and give what arrived."""

    def run(*args, project=None, program=("truewatch-dbt",)):
        project = project or copy_of(HARBOUR, tmp_path_factory.mktemp("harbour"))
        receiver.clear()
        ran = dbt.run(*program, *args, project=project, env=lineage)
        assert ran.code == 0, ran.out + ran.err
        stored = receiver.events()
        return Built(project, [one["event"] for one in stored], [one["arrived_at"] for one in stored])

    return run


@pytest.fixture(scope="module")
def built(command):
    """One build of the project, whose artefacts no later command replaces."""
    made = command("build")
    made.project = shutil.copytree(made.project, made.project.with_name("kept"))
    return made


@pytest.fixture(scope="module")
def compiled(command):
    """The project compiled, not run."""
    return command("compile")


def test_every_run_has_a_start_and_an_end(built) -> None:
    """No run is open, none has two ends, and all ends are COMPLETE."""
    wrong = {run.job: run.types for run in built.runs.values() if run.types != ["START", "COMPLETE"]}

    assert not wrong


def test_every_node_is_there_once(built) -> None:
    """The runs are the whole run's and one of each seed, snapshot, model, data test and unit test, but no other."""
    jobs = [run.job for run in built.runs.values()]

    assert len(jobs) == len(set(jobs)) == 1 + len(NODES) + len(expected.TESTS) + len(expected.UNIT_TESTS)


def test_the_run_holds_all_others(built) -> None:
    """The first and the last event are of the dbt run's job, and each other run names it as its parent."""
    first, last = built.events[0], [event for event in built.events if "run" in event][-1]

    assert first["job"] == {**last["job"], "facets": first["job"]["facets"]}
    assert (first["job"]["namespace"], first["job"]["name"]) == ("dbt", "dbt-run-harbour")
    assert first["run"]["runId"] == last["run"]["runId"]
    for event in built.events:
        if event.get("run", first["run"])["runId"] != first["run"]["runId"]:
            parent = event["run"]["facets"]["parent"]
            assert parent["run"]["runId"] == first["run"]["runId"]
            assert parent["job"] == {"namespace": "dbt", "name": "dbt-run-harbour"}


def test_events_leave_while_dbt_runs(built) -> None:
    """The run's START has arrived before dbt came to its last node, and a node starts after what it reads has ended."""
    ends = {name: datetime.fromisoformat(_time(built.of(unique_id).end)) for unique_id, node in NODES.items()
            if (name := node.output)}  # fmt: skip
    starts = {unique_id: datetime.fromisoformat(_time(built.of(unique_id).events[0])) for unique_id in NODES}

    assert datetime.fromisoformat(built.arrived[0].replace("Z", "+00:00")) < max(starts.values())
    for unique_id, node in NODES.items():
        for name in node.inputs:
            assert name in expected.SOURCES or ends[name] <= starts[unique_id]


def _time(event):
    return event["eventTime"].replace("Z", "+00:00")


@pytest.mark.parametrize("unique_id", NODES)
def test_a_nodes_tables_are_right(built, unique_id) -> None:
    """Inputs and output of the node's end are those of its SQL."""
    node, end = NODES[unique_id], built.of(unique_id).end

    assert sorted(names(end["inputs"])) == sorted(map(expected.dataset, node.inputs))
    assert names(end["outputs"]) == [expected.dataset(node.output)]
    assert {one["namespace"] for one in end["inputs"] + end["outputs"]} == {"duckdb://harbour.duckdb"}


@pytest.mark.parametrize("unique_id", WITH_SQL)
def test_a_nodes_columns_are_right(built, unique_id) -> None:
    """Each column comes from what the SQL says, in the way it says, and from nothing else."""
    assert columns(built.of(unique_id).end) == expected_columns(unique_id)


@pytest.mark.parametrize("unique_id", WITH_SQL)
def test_the_schema_names_the_columns(built, unique_id) -> None:
    """The output's schema has the columns of the SQL, in its order."""
    [output] = built.of(unique_id).end["outputs"]

    fields = [field["name"] for field in output["facets"]["schema"]["fields"]]

    assert sorted(fields) == sorted(WITH_SQL[unique_id].columns)


@pytest.mark.parametrize(("unique_id", "name"), expected.MODEL_JOBS.items())
def test_a_models_job_has_the_name_of_dbt_ol_run(built, unique_id, name) -> None:
    """``database.schema.project.model``, without the command's name."""
    assert built.of(unique_id).job == name


@pytest.mark.parametrize("name", expected.TESTS)
def test_a_test_is_of_what_it_tests(built, name) -> None:
    """Its inputs are what it reads, the first of them holds the result, and it writes nothing."""
    end = built.test(name).end
    tested, *others = expected.TESTS[name]
    inputs = {one["name"]: one for one in end["inputs"]}

    assert set(inputs) == {expected.dataset(one) for one in (tested, *others)}
    assert not end.get("outputs")
    [assertion] = inputs[expected.dataset(tested)]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert assertion["success"] == (name not in expected.WARNED_TESTS)


@pytest.mark.parametrize("unique_id", expected.UNIT_TESTS)
def test_a_unit_test_reads_no_dataset(built, unique_id) -> None:
    """It is a run that reads and writes nothing, since its rows are its own."""
    end = built.of(unique_id).end

    assert not end.get("inputs")
    assert not end.get("outputs")


@pytest.mark.parametrize("unique_id", expected.EXPOSURES)
@pytest.mark.parametrize("way", ["built", "compiled"])
def test_an_exposure_is_a_job(way, unique_id, request) -> None:
    """Its inputs are what it depends on."""
    events = request.getfixturevalue(way).events
    [event] = [event for event in events if dbt_node(event) == unique_id and "run" not in event]

    assert set(names(event["inputs"])) == {expected.dataset(one) for one in expected.EXPOSURES[unique_id]}
    assert not event.get("outputs")


@pytest.mark.parametrize("unique_id", NODES)
def test_compile_gives_the_same_lineage_without_a_run(compiled, unique_id) -> None:
    """A JobEvent of the same job with the same tables and columns."""
    [event] = [event for event in compiled.events if dbt_node(event) == unique_id]
    node = NODES[unique_id]

    assert "run" not in event
    assert sorted(names(event["inputs"])) == sorted(map(expected.dataset, node.inputs))
    assert names(event["outputs"]) == [expected.dataset(node.output)]
    if unique_id in WITH_SQL:
        assert columns(event) == expected_columns(unique_id)


def test_no_other_dataset_is_written(built) -> None:
    """Among the outputs is no table of a stored test failure, and none of an ephemeral model."""
    written = {name for event in built.events for name in names(event.get("outputs", ()))}

    assert written == {expected.dataset(node.output) for node in NODES.values()}


def test_events_are_valid_and_keep_secrets(built) -> None:
    """Each passes DataWay's rules, and none holds what stands in ``meta``."""
    for event in built.events:
        assert not [found for found in validate(event, "dataway") if found.severity == "error"]
        assert "not-for-other-eyes" not in str(event)


def test_a_models_sql_is_what_was_compiled(built) -> None:
    """The ``sql`` facet holds the compiled file's text."""
    compiled_sql = built.project / "target" / "compiled" / "harbour" / "models" / "marts" / "dim_ships.sql"

    facet = built.of("model.harbour.dim_ships").end["job"]["facets"]["sql"]

    assert facet["query"].strip() == compiled_sql.read_text().strip()


def test_an_increment_has_the_lineage_of_the_whole(command, built) -> None:
    """The second run of incremental models, which read themselves too, gives the same columns."""
    project = shutil.copytree(built.project, built.project.with_name("again"))
    again = command("run", "--select", "fct_calls", "fct_cargo_daily", project=project)

    for name in ("fct_calls", "fct_cargo_daily"):
        unique_id = f"model.harbour.{name}"
        found = {column: {one for one in origins if one[2] == "DIRECT"} for column, origins
                 in columns(again.of(unique_id).end).items() if column != "*"}  # fmt: skip
        wanted = {column: {one for one in origins if one[2] == "DIRECT"} for column, origins
                  in expected_columns(unique_id).items() if column != "*"}  # fmt: skip
        assert found == wanted


def test_freshness_is_a_run_of_each_source(command, built) -> None:
    """Each source that is looked at is the input of a run, which ends whatever was found."""
    project = shutil.copytree(built.project, built.project.with_name("looked-at"))
    looked_at = command("source", "freshness", project=project)

    for unique_id in expected.FRESHNESS:
        run = looked_at.of(unique_id)
        assert run.types == ["START", "COMPLETE"]
        assert names(run.end["inputs"]) == [expected.dataset(unique_id.removeprefix("source.harbour."))]


def test_a_dbt_that_is_another_program_gives_the_same(command) -> None:
    """Where dbt can't be imported, the artefacts of its run tell all of it."""
    built = command("build", program=("python", "-c", WITHOUT_DBT))

    assert not differences(built.events)
    assert all(run.types == ["START", "COMPLETE"] for run in built.runs.values())


def test_send_events_tells_the_last_run_again(command, built) -> None:
    """From the artefacts alone come the same jobs with the same tables and columns."""
    told = command("send-events", project=built.project)

    assert not differences(told.events)
    assert all(told.of(unique_id).job == built.of(unique_id).job for unique_id in NODES)
