"""What an event is about."""

from __future__ import annotations

import pytest
from support.events import RUN_ID, dataset_event, job_event, run_event, tree

from truewatch_lineage.events.model import Identity, identify
from truewatch_lineage.events.serialise import to_tree


@pytest.mark.parametrize(
    ("event", "kind", "lane"),
    [
        (run_event(run_id=RUN_ID), "RunEvent", f"run:{RUN_ID}"),
        (job_event(), "JobEvent", "job:ns/job"),
        (dataset_event(), "DatasetEvent", "dataset:db/table"),
        (tree(dataset={"namespace": "a", "name": "b"}), "RunEvent", f"run:{RUN_ID}"),
        ({"job": {"name": "j"}, "run": None}, "JobEvent", "other"),
        ({"run": {"runId": "r"}}, None, "other"),
        ({"run": {"runId": 5}, "job": {}}, "RunEvent", "other"),
        ({"run": "r", "job": "j", "dataset": []}, None, "other"),
        ({"dataset": {"namespace": "n", "name": 1}}, "DatasetEvent", "other"),
        ({}, None, "other"),
    ],
)
def test_kind_and_lane(event, kind, lane):
    """T: "TrueWatch identifies the type from the top-level run, job, and dataset objects"."""
    identity = identify(event if isinstance(event, dict) else to_tree(event))
    assert (identity.kind, identity.lane) == (kind, lane)


def test_identity_fields():
    """Names and ids are taken as they are, the event's type in upper case."""
    identity = identify(tree(eventType="complete", run={"runId": "ABC"}))
    assert identity == Identity("RunEvent", "COMPLETE", "ns", "job", "ABC")
    assert (identity.job, identity.dataset) == ("ns/job", None)
    assert identify({"dataset": {"namespace": "n", "name": "t"}}).dataset == "n/t"
