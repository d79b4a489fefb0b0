"""Compares the events of a build with the graph that was written by hand, as a whole."""

from __future__ import annotations

import expected_graph as expected
from support.dbt_events import TERMINAL, column_origins, dbt_node, names

NODES = {**expected.SEEDS, **expected.SNAPSHOTS, **expected.MODELS}
"""Everything that writes a dataset."""

WITH_SQL = {**expected.SNAPSHOTS, **expected.MODELS}
"""What of it has columns that SQL determines."""


def columns(event):
    """Give the origins of an output's columns, those without any left out."""
    [output] = event["outputs"]
    return {name: origins for name, origins in column_origins(output).items() if origins}


def expected_columns(unique_id):
    """Give what ``columns`` has to be for a node."""
    node = WITH_SQL[unique_id]
    found = {name: expected.origins(text) for name, text in node.columns.items()}
    found["*"] = expected.origins(node.whole)
    return {name: origins for name, origins in found.items() if origins}


def differences(events):
    """Name what is missing or wrong in the ends of a build's runs; empty where all is right."""
    ends = {dbt_node(event): event for event in events if event.get("eventType") in TERMINAL}
    found = [f"{unique_id}: no end" for unique_id in NODES if unique_id not in ends]
    for unique_id, node in NODES.items():
        if unique_id in ends:
            found += _of_a_node(unique_id, node, ends[unique_id])
    return found


def _of_a_node(unique_id, node, end):
    job = expected.MODEL_JOBS.get(unique_id, end["job"]["name"])
    pairs = {
        "job": (end["job"]["name"], job),
        "inputs": (sorted(names(end["inputs"])), sorted(map(expected.dataset, node.inputs))),
        "outputs": (names(end["outputs"]), [expected.dataset(node.output)]),
    }
    if unique_id in WITH_SQL:
        pairs["columns"] = (columns(end), expected_columns(unique_id))
    return [f"{unique_id}: {what} are {is_}, not {should}" for what, (is_, should) in pairs.items() if is_ != should]
