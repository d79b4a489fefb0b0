"""Each destination's verdict on one event."""

from __future__ import annotations

import pytest
from support.receiver import PORTAL
from tables.receiver_rules import CASES, EVENT, event

from truewatch_lineage.receiver.projection import project
from truewatch_lineage.receiver.rules import ALL_RULES
from truewatch_lineage.receiver.verdict import upserted, verdicts

NAMES = {rules.path: rules.name for rules in ALL_RULES}


def judge(tree, size=100, **options):
    """Return the verdicts of an event."""
    return verdicts(tree, size, project(tree, "e").counts(), **options)


@pytest.mark.parametrize(("row", "path"), CASES, ids=[f"{NAMES[path]}-{row}" for row, path in CASES])
def test_a_verdict_says_what_the_intake_would_answer(row, path) -> None:
    """Row by row of the table that the intake is held to, with the JSON path that it names."""
    verdict = judge(event(row.changes))[NAMES[path]]

    assert verdict["accepted"] == (row.code is None)
    found = verdict["problems"] if row.code else verdict["warnings"]
    assert row.at is None or row.at in {item["path"] for item in found}


def test_a_clean_event_is_taken_by_all() -> None:
    """TrueWatch with its records by type, Portal with its nodes and edges."""
    verdict = judge(EVENT)

    assert verdict["dataway"] == verdict["datakit"]
    assert verdict["dataway"]["records"] == {"event": 1, "dataset_edge": 2}
    assert verdict["dataway"]["source"] == "run_event"
    assert (verdict["portal"]["nodes_upserted"], verdict["portal"]["edges_upserted"]) == (3, 2)


def test_what_truewatch_refuses_is_an_ingest_error() -> None:
    """T: "Rejected-event audit records may use source=unknown_event and lineage_record_type=ingest_error"."""
    verdict = judge(event({"producer": ...}))["dataway"]

    assert (verdict["source"], verdict["records"]) == ("unknown_event", {"ingest_error": 1})


def test_the_size_counts_where_there_is_a_limit() -> None:
    """T: "downstream still limits each decoded event to 8 MiB"; P names none."""
    verdict = judge(EVENT, size=9 * 2**20)

    assert [verdict[name]["accepted"] for name in ("dataway", "datakit", "portal")] == [False, False, True]
    assert verdict["dataway"]["problems"][0]["code"] == "eventTooLarge"


def test_what_is_in_no_record_is_told() -> None:
    """A dataset without a name is taken, but nothing is made of it."""
    verdict = judge(event({"inputs": [{"namespace": "n"}, {"name": []}]}))["dataway"]

    assert verdict["accepted"]
    assert {"path": "$.inputs", "message": "2 without namespace or name: no record is made of them"} in verdict[
        "warnings"
    ]


COUNTS = [
    ({}, (3, 2)),
    ({"inputs": EVENT["outputs"]}, (2, 2)),
    ({"inputs": EVENT["inputs"] * 2, "outputs": []}, (2, 1)),
    ({"inputs": None, "outputs": ...}, (1, 0)),
    ({"inputs": [{"namespace": [], "name": {}}]}, (3, 2)),
]


@pytest.mark.parametrize(("changes", "counted"), COUNTS)
def test_distinct_nodes_and_edges_are_counted(changes, counted) -> None:
    """Portal's answer: the job, its datasets, and an edge for each dataset of a side; odd names too."""
    assert PORTAL in NAMES
    assert upserted(event(changes)) == counted
