"""The graph around a node: breadth first, bounded, of tables and of columns."""

from __future__ import annotations

import contextlib
import json

import pytest

from truewatch_lineage.receiver import graph, nodes
from truewatch_lineage.receiver.arrival import Arrival
from truewatch_lineage.receiver.layout import place
from truewatch_lineage.receiver.store import Store


def job_event(name, inputs=(), outputs=(), lineage=None, schema=None):
    """Build a JobEvent; ``lineage`` is ``{output column: [(input dataset, input column)]}`` of all outputs."""
    facets = {}
    if lineage:
        fields = {
            column: {"inputFields": [{"namespace": "db", "name": one, "field": field} for one, field in origins]}
            for column, origins in lineage.items()
        }
        facets["columnLineage"] = {"fields": fields}
    if schema:
        facets["schema"] = {"fields": [{"name": column, "type": "INT"} for column in schema]}
    return {
        "eventTime": "2026-10-21T08:00:00Z",
        "job": {"namespace": "ns", "name": name},
        "inputs": [{"namespace": "db", "name": one} for one in inputs],
        "outputs": [{"namespace": "db", "name": one, "facets": facets} for one in outputs],
    }


PIPELINE = [
    job_event("load", ["raw"], ["orders"], {"id": [("raw", "id")], "sum": [("raw", "price"), ("raw", "tax")]}),
    job_event("report", ["orders"], ["daily"], {"total": [("orders", "sum")]}, schema=["total", "day"]),
    job_event("other", ["orders"], ["copy"]),
    job_event("beside", ["raw"], ["else"]),
]


@pytest.fixture
def connection(tmp_path):
    """A reading connection to a store that holds the pipeline."""
    with contextlib.closing(Store(tmp_path / "events.sqlite")) as store:
        fill(store, PIPELINE)
        yield store._reader


def fill(store, events):
    """Put events into a store."""
    store.fill([Arrival.of("file", json.dumps(event).encode(), event, []) for event in events])


def names(connection, node, **question):
    """Return the short names of what is around a node, by distance."""
    found = graph.around(connection, nodes.resolve(connection, node), graph.Question(**question))
    by_distance: dict[int, set[str]] = {}
    for one in found["nodes"]:
        by_distance.setdefault(one["distance"], set()).add(one["label"])
    return by_distance


WALKS = [
    ({"depth": 0}, {0: {"orders"}}),
    ({"depth": 1, "direction": "upstream"}, {0: {"orders"}, 1: {"load"}}),
    ({"depth": 2, "direction": "upstream"}, {0: {"orders"}, 1: {"load"}, 2: {"raw"}}),
    ({"depth": 9, "direction": "downstream"}, {0: {"orders"}, 1: {"report", "other"}, 2: {"daily", "copy"}}),
    ({"depth": 1}, {0: {"orders"}, 1: {"load", "report", "other"}}),
    ({"depth": 9}, {0: {"orders"}, 1: {"load", "report", "other"}, 2: {"raw", "daily", "copy"}}),
]


@pytest.mark.parametrize(("question", "expected"), WALKS)
def test_depth_and_direction(connection, question, expected) -> None:
    """Steps are edges; ``both`` is upstream and downstream of the node, without what is beside it."""
    assert names(connection, "dataset:db|orders", **question) == expected


def test_edges_go_the_way_of_the_data(connection) -> None:
    """Dataset to job is an input, job to dataset an output; each names an event that says so."""
    row = nodes.resolve(connection, "job:ns|load")

    found = graph.around(connection, row, graph.Question(depth=1))

    assert {(edge["source"], edge["target"], edge["type"]) for edge in found["edges"]} == {
        ("dataset:db|raw", "job:ns|load", "input"),
        ("job:ns|load", "dataset:db|orders", "output"),
    }
    assert all(len(edge["event_id"]) == 64 for edge in found["edges"])


COLUMN_WALKS = [
    ("column:db|daily|total", "upstream", {"total", "sum", "price", "tax", "daily", "orders", "raw"}),
    ("column:db|raw|tax", "downstream", {"tax", "sum", "total", "raw", "orders", "daily"}),
    ("column:db|orders|id", "both", {"id", "orders", "raw"}),
    ("dataset:db|daily", "upstream", {"daily", "total", "day", "sum", "orders", "price", "tax", "raw"}),
    ("job:ns|load", "upstream", {"orders", "id", "sum", "raw", "price", "tax"}),
]


@pytest.mark.parametrize(("node", "direction", "labels"), COLUMN_WALKS)
def test_columns_are_followed_on_their_own(connection, node, direction, labels) -> None:
    """Column by column, with the datasets they belong to; a dataset begins with all its columns."""
    row = nodes.resolve(connection, node)

    found = graph.around(connection, row, graph.Question(depth=9, direction=direction, granularity="column"))

    assert {one["label"] for one in found["nodes"]} == labels
    assert {edge["type"] for edge in found["edges"]} == {"field"}
    ids = {one["id"] for one in found["nodes"]}
    assert all(one["parent"] in ids for one in found["nodes"] if one["type"] == "column")


def test_expanded_datasets_show_their_columns(connection) -> None:
    """In the table's grain, with the field edges among the columns shown and the jobs that said so."""
    expand = ("dataset:db|orders", "dataset:db|daily")
    row = nodes.resolve(connection, "job:ns|report")

    found = graph.around(connection, row, graph.Question(depth=1, expand=expand))

    assert [one["label"] for one in found["nodes"] if one["type"] == "column"] == ["id", "sum", "total", "day"]
    fields = [edge for edge in found["edges"] if edge["type"] == "field"]
    assert [(edge["source"], edge["target"], edge["jobs"]) for edge in fields] == [
        ("column:db|orders|sum", "column:db|daily|total", ["job:ns|report"])
    ]


def test_the_nearest_nodes_come_first(connection) -> None:
    """Past the limit the answer says that more exists."""
    row = nodes.resolve(connection, "dataset:db|raw")

    found = graph.around(connection, row, graph.Question(depth=9, limit=3))

    assert [one["distance"] for one in found["nodes"]] == [0, 1, 1]
    assert found["truncated"]


def test_a_cycle_ends(tmp_path) -> None:
    """Two jobs that feed each other are walked once."""
    with contextlib.closing(Store(tmp_path / "events.sqlite")) as store:
        fill(store, [job_event("a", ["x"], ["y"]), job_event("b", ["y"], ["x"])])
        found = names(store._reader, "dataset:db|x", depth=100)

    assert found == {0: {"x"}, 1: {"a", "b"}, 2: {"y"}}


NODES = ["dataset:db|orders", "dataset:db/orders"]


@pytest.mark.parametrize("text", NODES)
def test_a_node_is_found_by_its_spellings(connection, text) -> None:
    """By id, by namespace/name, and by the record's hash."""
    row = nodes.resolve(connection, text)

    assert row["name"] == "orders"
    assert nodes.resolve(connection, row["ref"])["node"] == row["node"]


@pytest.mark.parametrize("text", ["", "dataset:db|nothing", "orders", "x:y|z", "job:db|orders", "dataset:"])
def test_an_unknown_node_is_none(connection, text) -> None:
    """Nothing is guessed."""
    assert nodes.resolve(connection, text) is None


def test_a_schema_that_changes_and_a_schema_that_stays_away(tmp_path) -> None:
    """Columns stay known when a later event carries no schema; without any the reason is told."""
    with contextlib.closing(Store(tmp_path / "events.sqlite")) as store:
        fill(store, [job_event("a", [], ["x"], schema=["one"]), job_event("a", ["y"], ["x"])])
        shown = nodes.describe(store._reader, [nodes.resolve(store._reader, f"dataset:db|{one}") for one in "xy"])
        without, total = nodes.without_columns(store._reader, 10)

    assert [(one["columns"], one["columns_reason"]) for one in shown.values()] == [
        (1, None),
        (0, "None of its events carries the facet schema."),
    ]
    assert ([one["name"] for one in without], total) == (["y"], 1)


def test_search_finds_names_in_any_case_the_exact_first(connection) -> None:
    """By a part of namespace/name; the wildcards of SQL are plain characters."""
    found, truncated = nodes.search(connection, "ORDERS", 10)

    assert found[0]["label"] == "orders"
    assert not truncated
    assert nodes.search(connection, "%", 10) == ([], False)


def test_the_layout_goes_from_left_to_right(connection) -> None:
    """Every edge's points run from its source to its target, columns lie within their dataset's box."""
    row = nodes.resolve(connection, "dataset:db|orders")
    found = graph.around(connection, row, graph.Question(depth=9, expand=("*",)))

    drawing = place(found["nodes"], found["edges"])

    shown = {one["id"]: one for one in found["nodes"]}
    for edge in found["edges"]:
        assert shown[edge["source"]]["x"] < shown[edge["target"]]["x"]
        assert edge["points"][0][0] <= edge["points"][-1][0]
    for one in shown.values():
        assert 0 <= one["x"] <= one["x"] + one["width"] <= drawing["width"]
        assert 0 <= one["y"] <= one["y"] + one["height"] <= drawing["height"]
        box = shown.get(one.get("parent"), one)
        assert box["y"] <= one["y"]
        assert one["y"] + one["height"] <= box["y"] + box["height"]


def test_an_empty_graph_is_laid_out() -> None:
    """Nothing to draw is no fault."""
    assert place([], []) == {"width": 0.0, "height": 0.0}
