"""Differential tests: what we write equals, after parsing, what upstream's Serde writes.

Older Serdes write a placeholder for dates and UUIDs, where we do as today's does: there these values are left out.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
import uuid

import attr
from hypothesis import given, settings
from hypothesis import strategies as st
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import column_lineage_dataset, parent_run, schema_dataset
from openlineage.client.serde import Serde
from support.events import RUN_ID, dataset_event, event_with, job_event, parsed, run_event

from truewatch_lineage.events.serialise import dumps, to_tree


@attr.s
class Old:
    """An attrs class of the older kind."""

    a = attr.ib(default=None)
    b = attr.ib(default=None)


@attr.define
class New:
    """An attrs class of the newer kind, with slots."""

    left: object = None
    _right: object = None


class Inherited(Old):
    """A subclass that attrs has not seen."""


class Kind(enum.Enum):
    """Values that Serde writes as they are."""

    TEXT = "text"
    NUMBER = 1
    NONE = None


class Flag(enum.IntFlag):
    """An enum that is an int."""

    A = 1


WRITES_DATES_AND_UUIDS = isinstance(Serde.remove_nulls_and_enums(uuid.UUID(int=0)), str)
LATER = (
    st.dates() | st.datetimes(timezones=st.none() | st.just(dt.timezone.utc)) | st.uuids()
    if WRITES_DATES_AND_UUIDS
    else st.nothing()
)
SIMPLE = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | LATER
    | st.sampled_from([*Kind, Flag.A, object(), 1j, ..., range(3), Old, int])
)
KEYS = st.text(max_size=4).filter(lambda text: text.isascii())
VALUES = st.recursive(
    SIMPLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(st.integers(0, 99), inner, max_size=3)
        | st.frozensets(st.integers(0, 9) | st.sampled_from([*Kind]), max_size=3)
        | st.builds(Old, inner, inner)
        | st.builds(Inherited, inner, inner)
        | st.builds(New, inner, inner)
    ),
    max_leaves=20,
)


def assert_same(event):
    """Compare with Serde's text, parsed."""
    assert parsed(dumps(to_tree(event))) == json.loads(Serde.to_json(event))


@settings(derandomize=True, max_examples=300)
@given(VALUES)
def test_any_value_in_a_facet(value):
    """Whatever stands in a facet is written as Serde writes it."""
    assert_same(event_with(value=value))


@settings(derandomize=True, max_examples=150)
@given(st.dictionaries(KEYS, VALUES, max_size=4), VALUES, st.none() | st.lists(VALUES, max_size=3))
def test_any_value_anywhere(facets, name, inputs):
    """Whatever stands in place of facets, names and datasets is written as Serde writes it."""
    event = run_event(run_id=RUN_ID, run_facets=facets)
    event.job.name = name
    event.inputs = inputs
    assert_same(event)


def test_every_kind_of_event():
    """Run, job and dataset events, with nested and list facets, are written as Serde writes them."""
    fields = [schema_dataset.SchemaDatasetFacetFields(name="a", type=None, fields=[])]
    origin = column_lineage_dataset.InputField(namespace="n", name="t", field="a", transformations=[])
    lineage = column_lineage_dataset.Fields(inputFields=[origin], transformationType=None)
    facets = {
        "schema": schema_dataset.SchemaDatasetFacet(fields=fields),
        "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields={"a": lineage}),
    }
    parent = parent_run.ParentRunFacet(parent_run.Run(runId=RUN_ID), parent_run.Job(namespace="n", name="j"))
    assert_same(job_event())
    assert_same(dataset_event())
    assert_same(
        run_event(
            None,
            run_facets={"parent": parent},
            inputs=[InputDataset(namespace="n", name="i", facets=None)],
            outputs=[OutputDataset(namespace="n", name="o", facets=facets)],
        )
    )


def test_older_run_module():
    """Events of the deprecated ``openlineage.client.run`` are written as Serde writes them."""
    import warnings  # noqa: PLC0415 - importing that module warns

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from openlineage.client import run  # noqa: PLC0415

        event = run.RunEvent(
            run.RunState.START,
            "2026-10-21T08:00:00Z",
            run.Run(RUN_ID, {"a": None}),
            run.Job("n", "j"),
            "https://example.com",
            [run.InputDataset("n", "i")],
            None,
        )
    assert_same(event)
