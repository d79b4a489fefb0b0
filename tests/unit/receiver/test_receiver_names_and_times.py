"""Ids that no two things share, times that compare, and runs put together from events in any order."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage.receiver import runs
from truewatch_lineage.receiver.ids import NodeKey, dataset_id, job_id, node_id, parse_node_id
from truewatch_lineage.receiver.projection import project
from truewatch_lineage.receiver.times import iso, seconds

PARTS = st.text(alphabet="ab|%/:7C25", min_size=1, max_size=6)


@given(st.sampled_from(["job", "dataset", "column"]), PARTS, PARTS, PARTS)
def test_a_node_id_reads_back_as_what_it_names(kind, namespace, name, field) -> None:
    """Whatever separators and escapes the names hold."""
    key = NodeKey(kind, namespace, name, field if kind == "column" else "")

    assert parse_node_id(node_id(key)) == key


def test_ids_differ_where_the_joined_names_are_equal() -> None:
    """``a/b`` + ``c`` is not ``a`` + ``b/c``, and a job is no dataset."""
    assert len({job_id("a/b", "c"), job_id("a", "b/c"), dataset_id("a", "b/c")}) == 3


TIMES = [
    ("2026-10-21T08:00:00Z", "2026-10-21T08:00:00.000000Z"),
    ("2026-10-21T10:00:00.5+02:00", "2026-10-21T08:00:00.500000Z"),
    ("2026-10-21 08:00:00,25", "2026-10-21T08:00:00.250000Z"),
    ("2026-10-21T08:00:00.123456789Z", "2026-10-21T08:00:00.123457Z"),
    ("2026-10-21t08:00z", "2026-10-21T08:00:00.000000Z"),
    ("2026-10-21T08:00:00+0530", "2026-10-21T02:30:00.000000Z"),
    ("2026-10-21T08:00:00+02", "2026-10-21T06:00:00.000000Z"),
    ("2026-13-21T08:00:00Z", None),
    ("0001-01-01T00:00:00+23:59", None),
    ("9999-12-31T23:59:59.9999999Z", None),
    ("yesterday", None),
    (None, None),
    (5, None),
]


@pytest.mark.parametrize(("text", "expected"), TIMES)
def test_times_as_producers_write_them(text, expected) -> None:
    """ISO 8601 with any offset, without one UTC; anything else is none and never raises."""
    assert iso(seconds(text)) == expected


def _run(*events):
    """Merge the run of (eventType, time) pairs."""
    found = [
        runs.of_event(project({"eventType": kind, "run": {"runId": "r"}, "job": {}}, "e"), float(moment))
        for kind, moment in events
    ]
    whole = found[0]
    for one in found[1:]:
        whole = runs.merge(whole, one)
    return whole


STATES = [
    ([("START", 1)], "START", 1, None),
    ([("START", 1), ("RUNNING", 2)], "RUNNING", 1, None),
    ([("START", 1), ("RUNNING", 2), ("COMPLETE", 3)], "COMPLETE", 1, 3),
    ([("START", 1), ("FAIL", 3), ("OTHER", 4)], "FAIL", 1, 3),
    ([("COMPLETE", 3)], "COMPLETE", None, 3),
    ([("OTHER", 1)], "OTHER", None, None),
    ([(None, 1)], None, None, None),
    ([("start", 1), ("complete", 2)], "COMPLETE", 1, 2),
    ([("FAIL", 2), ("COMPLETE", 3)], "COMPLETE", None, 3),
]


@pytest.mark.parametrize(("events", "state", "started", "ended"), STATES)
def test_a_runs_state_whatever_the_order(events, state, started, ended) -> None:
    """A terminal type wins over one that comes later but is none; the order of arrival does not matter."""
    for order in itertools.permutations(events):
        run = _run(*order)
        assert (run.state, run.started, run.ended, run.events) == (state, started, ended, len(events))


def test_what_is_known_of_a_run_grows() -> None:
    """A parent of the first event and an error of the last are both kept."""
    first = {"run": {"runId": "r", "facets": {"parent": {"run": {"runId": "p"}}}}, "job": {}}
    last = {"run": {"runId": "r", "facets": {"errorMessage": {"message": "boom"}}}, "job": {}}

    run = runs.merge(runs.of_event(project(last, "b"), 2.0), runs.of_event(project(first, "a"), 1.0))

    assert run.info == {"parent_run_id": "p", "error_message": "boom"}
