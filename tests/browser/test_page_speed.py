"""How fast the page can be used with 500 nodes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

NODES = 500
LIMIT_MS = 1000
TRIES = 5


def build(number):
    """Build a COMPLETE of one of 250 jobs, each with its own output, reading two earlier ones."""
    inputs = sorted({max(0, number - 7 - number % 11), max(0, number - 23 + number % 5)} - {number})
    return {
        "eventType": ("COMPLETE", "COMPLETE", "COMPLETE", "FAIL", "START")[number % 5],
        "eventTime": "2026-10-21T08:00:00Z",
        "run": {"runId": f"4a8f90a7-79c0-4f80-89e7-{number:012}"},
        "job": {"namespace": "warehouse", "name": f"build_table_{number:03}"},
        "inputs": [{"namespace": "db", "name": f"main.table_{one:03}"} for one in inputs],
        "outputs": [{"namespace": "db", "name": f"main.table_{number:03}"}],
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


@pytest.mark.serial
def test_500_nodes_can_be_used_within_a_second(visit, receiver, record_property):
    """From the navigation until a node answers a click; the best of a few, since others share the machine."""
    for number in range(NODES // 2):
        assert receiver.post(build(number)).status == 200
    shown = visit(receiver)
    times = []
    for _ in range(TRIES):
        page = shown.open()
        assert page.locator("g.node").count() == NODES
        # The click's own answer is counted too: the paths of a node are lit in the same turn.
        times.append(
            page.evaluate(
                """() => {
                    document.querySelector("g.node.dataset").dispatchEvent(new MouseEvent("click", { bubbles: true }));
                    return performance.now();
                }"""
            )
        )
        expect(page.locator("#canvas")).to_have_class("canvas lighting")
        if times[-1] <= LIMIT_MS:
            break
    record_property("interactive_ms", [round(one) for one in times])
    shown.screenshot("nodes-500")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    shown.screenshot("nodes-500-whole")
    assert min(times) <= LIMIT_MS
