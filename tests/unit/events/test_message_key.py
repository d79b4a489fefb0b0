"""The key of a message: what OpenLineage's own Kafka transport gives the same event."""

from __future__ import annotations

import pytest
from openlineage.client import run as deprecated
from openlineage.client.facet_v2 import parent_run
from openlineage.client.transport.kafka import KafkaTransport
from support.events import RUN_ID, TIME, dataset_event, job_event, run_event, tree

from truewatch_lineage.events.message_key import message_key
from truewatch_lineage.events.serialise import dumps, to_tree

HAS_ROOT = hasattr(parent_run, "Root")


def parent(namespace="parent-ns", name="parent-job", **more):
    """Give the facet of a run whose parent is of a job."""
    job = parent_run.Job(namespace=namespace, name=name)
    return {"parent": parent_run.ParentRunFacet(run=parent_run.Run(runId=RUN_ID), job=job, **more)}


def root(namespace="root-ns", name="root-job"):
    """Give the root of a run's parents."""
    job = parent_run.RootJob(namespace=namespace, name=name)
    return parent_run.Root(run=parent_run.RootRun(runId=RUN_ID), job=job)


def deprecated_event(**facets):
    """Give an event of the older module."""
    return deprecated.RunEvent(
        deprecated.RunState.START, TIME, deprecated.Run(RUN_ID, facets), deprecated.Job("old-ns", "old-job"), "urn:x"
    )


EVENTS = {
    "a run": run_event(),
    "a run with a parent": run_event(run_facets=parent()),
    "a run whose parent has no name": run_event(run_facets=parent(name="")),
    "a job": job_event(),
    "a dataset": dataset_event(),
    "an older run": deprecated_event(),
}
if HAS_ROOT:
    EVENTS |= {
        "a run with a root": run_event(run_facets=parent(root=root())),
        "a run whose root has no name": run_event(run_facets=parent(root=root(name=""))),
    }


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_a_key_is_upstreams(event):
    """So that a topic may be written to by both, and whoever reads it sees one order."""
    upstream = KafkaTransport.__new__(KafkaTransport)
    assert message_key(to_tree(dumps(to_tree(event)))) == upstream._get_message_key(event)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({}, "run:ns/job"),
        ({"run": {"facets": {"parent": {"job": {"namespace": "p", "name": "q"}}}}}, "run:p/q"),
        ({"run": {"facets": {"parent": {"root": {"job": {"namespace": "r", "name": "s"}}}}}}, "run:r/s"),
        ({"run": {"facets": {"parent": []}}}, "run:ns/job"),
        ({"run": {"facets": "none"}}, "run:ns/job"),
        ({"job": {"namespace": "ns"}}, None),
        ({"run": None, "job": None}, None),
        ({"run": None, "job": None, "dataset": {"namespace": "d", "name": "e"}}, "dataset:d/e"),
        ({"run": None, "job": None, "dataset": {"name": "e"}}, None),
    ],
)
def test_odd_events_have_a_key_or_none(change, key):
    """Whatever is missing, nothing is raised."""
    assert message_key(tree(**change)) == key
