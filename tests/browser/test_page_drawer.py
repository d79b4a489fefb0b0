"""The drawer: runs, facets, an event beside its records, verdicts, and ids that can be copied; and the lists."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.page import has_class, node

BASH = "job:farm-af2|ol_demo.bash"
CSV = "dataset:file|/srv/pipeline/data/orders.csv"
RUN = "018e9c1b-0400-75e0-92bf-bcd67acbdd96"


def test_a_job_shows_its_runs_and_a_run_its_events(visit, pipelines):
    """The last runs with state and time, each opening to its own events and facets."""
    shown = visit(pipelines)
    page = shown.open(f"node={BASH}&select={BASH}")
    page.get_by_role("tab", name="Runs").click()
    expect(page.locator(".drawer .row")).to_have_count(4)
    expect(page.locator(".drawer .row").first).to_contain_text("2 events")
    shown.screenshot("runs")
    page.locator(".drawer .row").first.click()
    expect(page.locator(".drawer h2")).to_have_text(RUN)
    expect(page.locator(".drawer")).to_contain_text("complete")
    page.get_by_role("tab", name="Events").click()
    expect(page.locator(".drawer .row")).to_have_count(2)
    page.get_by_role("tab", name="Facets").click()
    expect(page.locator(".drawer")).to_contain_text("nominalTime")


@pytest.mark.parametrize(("button", "text"), [("Copy the run id", RUN), ("Copy the name", "ol_demo.bash")])
def test_ids_can_be_copied(visit, pipelines, button, text):
    """The clipboard holds the whole id, and the page says that it does."""
    page = visit(pipelines).open(f"node={BASH}&select={BASH}")
    page.locator(".drawer").get_by_role("button", name=button, exact=True).first.click()
    expect(page.locator("#said")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_an_event_stands_beside_its_records_and_verdicts(visit, pipelines):
    """The JSON as received, every record, and what each destination would say, with the path of what it refuses."""
    shown = visit(pipelines)
    page = shown.open(f"node={CSV}&select={CSV}&tab=events")
    page.locator(".drawer .row").filter(has_text="out_joined").first.click()
    expect(page.locator(".verdict")).to_have_count(4)
    refused = page.locator(".verdict.no")
    expect(refused).to_contain_text("Spotify Portal")
    expect(refused).to_contain_text("$.schemaURL")
    expect(page.locator(".verdict.yes").first).to_contain_text("field_edge")
    expect(page.locator(".json").first).to_contain_text("adaptive_spark_plan")
    expect(page.locator(".record summary").filter(has_text="field_edge").first).to_be_visible()
    event = page.locator(".json").first.bounding_box()
    record = page.locator(".record").first.bounding_box()
    assert record["x"] >= event["x"] + event["width"]
    shown.screenshot("event")


def test_a_dataset_lists_its_columns(visit, pipelines):
    """Name and type of each column; a column leads to itself."""
    page = visit(pipelines).open(f"node={CSV}&select={CSV}&tab=columns")
    expect(page.locator(".drawer tbody tr")).to_have_count(4)
    page.get_by_role("button", name="customer_id", exact=True).click()
    expect(page.locator(".drawer .kind-word")).to_have_text("Column")


def test_code_in_a_facet_is_shown_as_code(visit, receiver):
    """A sql facet's query keeps its lines."""
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-10-21T08:00:00Z",
        "run": {"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"},
        "job": {"namespace": "n", "name": "j", "facets": {"sql": {"query": "select *\nfrom t"}}},
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    assert receiver.post(event).status == 200
    page = visit(receiver).open("select=job:n|j&tab=facets")
    expect(page.locator(".drawer pre.code")).to_have_text("select *\nfrom t")


def test_numbers_are_shown_as_they_were_sent(visit, receiver):
    """A number that a double can't hold keeps its digits."""
    event = b"""{"eventType": "START", "eventTime": "2026-10-21T08:00:00Z", "job": {"namespace": "n", "name": "j"},
      "run": {"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a", "facets": {"f": {"huge": 12345678901234567891}}},
      "producer": "https://e.com", "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}"""
    assert receiver.post(event).status == 200
    page = visit(receiver).open(f"event={receiver.events()[0]['event_id']}&tab=facets")
    expect(page.locator(".drawer")).to_contain_text("12345678901234567891")


def test_the_side_lists_open_runs_and_datasets_without_columns_with_reasons(visit, pipelines):
    """Each list has its count and, per entry, the reason; an entry opens what it names."""
    page = visit(pipelines).open()
    runs = page.locator(".side .list").filter(has_text="Open runs")
    expect(runs.locator(".count")).to_have_text("3")
    expect(runs.locator(".row").first).to_contain_text("no COMPLETE, FAIL or ABORT")
    without = page.locator(".side .list").filter(has_text="Datasets without columns")
    expect(without.locator(".row").first).to_contain_text("schema")
    runs.locator(".row").filter(has_text="collect_limit").click()
    expect(page.locator(".drawer .kind-word")).to_have_text("Run")
    expect(node(page, "job:prod-spark|demo_app.collect_limit")).to_have_class(has_class("selected"))
