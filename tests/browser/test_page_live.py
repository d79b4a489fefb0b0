"""The page while events arrive, while nothing has, and while the receiver is away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browser import Visit
from support.page import has_class, node

JOB = "job:shop|daily"
RUN = "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"


def event(state="START", job="daily", inputs=("orders",), outputs=("report",)):
    """Build a run event of the namespace ``shop``."""
    return {
        "eventType": state,
        "eventTime": "2026-10-21T08:00:00Z",
        "run": {"runId": RUN},
        "job": {"namespace": "shop", "name": job},
        "inputs": [{"namespace": "db", "name": name} for name in inputs],
        "outputs": [{"namespace": "db", "name": name} for name in outputs],
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def test_an_empty_store_says_how_to_send_the_first_event_and_then_shows_it(visit, receiver):
    """The command can be copied, works as it is written, and its event appears without a reload."""
    shown = visit(receiver)
    page = shown.open()
    command = page.locator("#cover pre")
    expect(command).to_contain_text(f"curl {receiver.url}/v1/write/openlineage")
    shown.screenshot("empty")
    body = command.inner_text().split("-d '")[1].rstrip("'")
    assert receiver.post(body.encode()).status == 200
    expect(node(page, "job:example|daily_orders")).to_be_visible()
    expect(page.locator("#cover")).to_be_hidden()
    shown.screenshot("one-event")


def test_states_follow_what_arrives_without_moving_the_view(visit, receiver):
    """A run's end recolours its job and a neighbour joins; selection, drawer and the node's place on screen stay."""
    receiver.post(event())
    page = visit(receiver).open(f"node={JOB}&select={JOB}")
    job = node(page, JOB)
    label = job.locator("text.near").first
    expect(job).to_have_class(has_class("state-running"))
    page.get_by_role("button", name="Zoom in (+)").click()
    before = label.bounding_box()
    receiver.post(event("COMPLETE", inputs=["orders", "customers", "payments"]))
    expect(job).to_have_class(has_class("state-complete"))
    expect(node(page, "dataset:db|payments")).to_be_attached()
    after = label.bounding_box()
    assert (after["x"], after["y"]) == pytest.approx((before["x"], before["y"]), abs=1)
    expect(job).to_have_class(has_class("selected"))
    expect(page.locator(".drawer")).to_contain_text("complete")
    assert page.url.count("node=") == 1


def test_the_focus_stays_where_it_is_while_events_arrive(visit, receiver):
    """A node that has the focus keeps it, and so does a field that is being typed into."""
    receiver.post(event())
    page = visit(receiver).open()
    node(page, JOB).focus()
    receiver.post(event("COMPLETE"))
    expect(node(page, JOB)).to_have_class(has_class("state-complete"))
    assert page.evaluate("document.activeElement.dataset.id") == JOB
    page.get_by_role("combobox").fill("rep")
    receiver.post(event("FAIL", job="weekly"))
    expect(node(page, "job:shop|weekly")).to_be_attached()
    assert page.evaluate("document.activeElement.value") == "rep"


def test_what_is_read_in_the_drawer_stays_as_it_is_while_events_arrive(visit, receiver):
    """A fold that the reader opened in an event, or closed in a list, is left so."""
    receiver.post(event())
    page = visit(receiver).open(f"node={JOB}&select={JOB}&event={receiver.events()[0]['event_id']}")
    fold = page.locator(".json details").filter(has_text="orders").last
    fold.locator("summary").first.click()
    opened = fold.evaluate("(details) => details.open")
    page.locator(".side summary").filter(has_text="Open runs").click()
    receiver.post(event("FAIL", job="weekly"))
    expect(page.locator(".side .row").filter(has_text="weekly")).to_be_visible()
    page.wait_for_timeout(300)
    assert fold.evaluate("(details) => details.open") == opened
    expect(page.locator(".side details").first).not_to_have_attribute("open", "")


def test_a_store_that_is_cleared_is_shown_empty(visit, receiver):
    """The page follows a reset."""
    receiver.post(event())
    page = visit(receiver).open()
    expect(node(page, JOB)).to_be_visible()
    receiver.clear()
    expect(page.locator("#cover")).to_contain_text("No event has arrived yet")


def test_a_receiver_that_is_gone_is_said_and_found_again(visit, receiver):
    """The page says that it is not connected, keeps what it shows, and goes on by itself after a restart."""
    receiver.post(event())
    shown: Visit = visit(receiver, tolerates="ERR_")
    page = shown.open()
    receiver.stop()
    expect(page.locator("#notice")).to_contain_text("does not answer")
    expect(node(page, JOB)).to_be_visible()
    shown.screenshot("gone")
    receiver.start()
    receiver.post(event("COMPLETE"))
    expect(page.locator("#notice")).to_be_hidden()
    expect(node(page, JOB)).to_have_class(has_class("state-complete"))
