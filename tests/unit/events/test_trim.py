"""Leaving facets out."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import tree

from truewatch_lineage.errors import EventError
from truewatch_lineage.events.serialise import dumps
from truewatch_lineage.events.trim import FACET, exclude, trim

BASE = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s"}


def facet(size):
    """Return a facet of about that many bytes."""
    return {**BASE, "text": "x" * size}


def full_event():
    """Return an event with facets of every kind."""
    return tree(
        run={"runId": "r", "facets": {"parent": facet(1), "custom": facet(2000), "errorMessage": facet(3000)}},
        job={"namespace": "n", "name": "j", "facets": {"sql": facet(1500), "jobType": facet(900)}},
        inputs=[
            {"namespace": "n", "name": "i", "facets": {"schema": facet(2500)}, "inputFacets": {"mine": facet(500)}}
        ],
        outputs=[
            {
                "namespace": "n",
                "name": "o",
                "facets": {"columnLineage": facet(2600), "storage": facet(1000), "schema": facet(100)},
                "outputFacets": {"outputStatistics": facet(10)},
            }
        ],
    )


ORDER = [
    "$.run.facets.custom",
    "$.inputs[0].inputFacets.mine",
    "$.job.facets.sql",
    "$.outputs[0].facets.storage",
    "$.job.facets.jobType",
    "$.outputs[0].outputFacets.outputStatistics",
    "$.outputs[0].facets.columnLineage",
    "$.inputs[0].facets.schema",
    "$.outputs[0].facets.schema",
]


def test_event_that_fits_is_the_same_object():
    """Nothing is done where nothing has to be."""
    event = full_event()
    size = len(dumps(event))
    assert trim(event, size, size) is event


@pytest.mark.parametrize("count", range(1, len(ORDER) - 1))
def test_facets_go_in_the_designs_order(count):
    """Non-standard ones, then source code and SQL, then the largest; columnLineage and schema last."""
    event = full_event()
    size = len(dumps(event))
    for limit in range(size - 1, 0, -7):
        result = trim(event, limit, size)
        gone = [entry["path"] for entry in result["run"]["facets"][FACET]["facets"]]
        assert gone == ORDER[: len(gone)]
        assert len(dumps(result)) <= limit
        if len(gone) == count:
            return
    pytest.fail(f"never left out {count} facets")


def test_what_was_left_out_is_named_with_its_size():
    """The trimmed facet is a valid facet that tells names and sizes; the caller's event stays whole."""
    event = full_event()
    before = copy.deepcopy(event)
    size = len(dumps(event))
    result = trim(event, size - 100, size)
    report = result["run"]["facets"][FACET]
    assert report["facets"] == [{"path": "$.run.facets.custom", "bytes": len(dumps(facet(2000)))}]
    assert (report["bytes"], report["limit"]) == (size, size - 100)
    assert report["_schemaURL"].endswith("#/$defs/RunFacet")
    assert report["_producer"].startswith("urn:")
    assert "custom" not in result["run"]["facets"]
    assert event == before


@pytest.mark.parametrize(
    ("event", "owner"),
    [
        ({"job": {"facets": {"x": facet(5000)}}}, "job"),
        ({"dataset": {"facets": {"x": facet(5000)}}}, "dataset"),
        ({"run": {"facets": None}, "job": {"facets": {"x": facet(5000)}}}, "run"),
        ({"run": {}, "job": {"facets": {"x": facet(5000)}}}, "run"),
    ],
)
def test_facet_sits_where_the_kind_of_event_has_facets(event, owner):
    """A RunEvent tells it on its run, a JobEvent on its job, a DatasetEvent on its dataset."""
    result = trim(event, 1000, len(dumps(event)))
    assert FACET in result[owner]["facets"]


def test_parent_error_and_nominal_time_are_never_left_out():
    """They are what a run is understood by; an event that is too large with them alone is refused."""
    facets = {"parent": facet(1000), "errorMessage": facet(1000), "nominalTime": facet(1000), "x": facet(1000)}
    event = tree(run={"runId": "r", "facets": facets})
    size = len(dumps(event))
    assert set(trim(event, size - 100, size)["run"]["facets"]) == {*facets, FACET} - {"x"}
    with pytest.raises(EventError, match=rf"{size:,} bytes.*2,000 allowed"):
        trim(event, 2000, size)


@pytest.mark.parametrize(
    "event", [{"x": "y" * 5000}, tree(producer="y" * 5000), {"run": {"facets": {"x": facet(5000)}}}]
)
def test_event_that_is_large_without_facets_is_refused(event):
    """What has no facets to leave out, or no place to say so, is refused."""
    with pytest.raises(EventError, match="more than the 2,000"):
        trim(event, 2000, len(dumps(event)))


def test_many_facets_keep_the_report_small():
    """Of thousands of facets the first hundred are named, of the others the sum is told."""
    inputs = [{"namespace": "n", "name": str(i), "facets": {"mine": facet(400)}} for i in range(3000)]
    event = tree(inputs=inputs)
    size = len(dumps(event))
    result = trim(event, size // 3, size)
    report = result["run"]["facets"][FACET]
    assert len(dumps(result)) <= size // 3
    assert len(report["facets"]) == 100
    left = sum("mine" not in item["facets"] for item in result["inputs"])
    assert report["more"]["facets"] == left - 100


NAMES = st.sampled_from(["a", "sql", "schema", "parent", "tags", 'é\n"', "x" * 500])
FACETS = st.dictionaries(NAMES, st.integers(0, 3000).map(facet) | st.none(), max_size=5)
DATASETS = st.lists(st.fixed_dictionaries({"facets": FACETS | st.none(), "inputFacets": FACETS}), max_size=5)


@settings(derandomize=True, max_examples=150)
@given(FACETS | st.none(), FACETS, DATASETS, st.integers(400, 20000))
def test_result_is_never_above_the_limit(run, job, inputs, limit):
    """Whatever the facets, the result fits or the event is refused."""
    event = tree(run={"facets": run}, job={"facets": job}, inputs=inputs)
    try:
        assert len(dumps(trim(event, limit, len(dumps(event))))) <= limit
    except EventError as error:
        assert error.path == "$"  # noqa: PT017 - both ends are right


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        ((), []),
        (("absent",), []),
        (("schema",), ["$.inputs[0].facets.schema", "$.outputs[0].facets.schema"]),
        (("dataset.schema", "run.sql"), ["$.inputs[0].facets.schema", "$.outputs[0].facets.schema"]),
        (("job.sql", "run.custom"), ["$.job.facets.sql", "$.run.facets.custom"]),
        (
            ("input.mine", "output.outputStatistics"),
            ["$.inputs[0].inputFacets.mine", "$.outputs[0].outputFacets.outputStatistics"],
        ),
    ],
)
def test_exclude_leaves_out_by_name_and_kind(names, gone):
    """A name means every kind, ``kind.name`` only that; nothing is copied where nothing goes."""
    event = full_event()
    before = copy.deepcopy(event)
    result = exclude(event, names)
    assert sorted(set(paths(event)) - set(paths(result))) == sorted(gone)
    assert (result is event) == (not gone)
    assert event == before


def paths(event):
    """Return the paths of all facets."""
    from truewatch_lineage.events.facets import holders  # noqa: PLC0415 - the same walk as the code's

    return [f"{path}.{name}" for _, path, facets in holders(event) for name in facets]
