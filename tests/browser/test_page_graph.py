"""Search, the graph, its controls and its addresses, on recorded pipelines."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.page import has_class, node

ORDERS = "dataset:duckdb://jaffle_shop.duckdb|jaffle_shop.main.orders"
CSV = "dataset:file|/srv/pipeline/data/orders.csv"
CUSTOMER_ID = "column:file|/srv/pipeline/data/orders.csv|customer_id"
SPARK_JOB = "job:prod-spark|demo_app.adaptive_spark_plan.out_joined"


def test_the_start_shows_what_is_stored_with_states_in_words(visit, pipelines):
    """Without a node in the address all is shown, and a state is a word and a mark beside its colour."""
    shown = visit(pipelines)
    page = shown.open()
    expect(page.locator("#tools")).to_contain_text("Everything that is stored")
    failed = page.locator("g.job.state-fail").first
    expect(failed).to_contain_text("failed")
    assert failed.locator(".badge-mark").count() == 1
    assert page.locator("g.node.job").count() > 100
    shown.screenshot("everything")


@pytest.mark.parametrize(
    ("typed", "kind", "opened"),
    [
        ("stg_payments", "dataset", "dataset:duckdb://jaffle_shop.duckdb|jaffle_shop.main.stg_payments"),
        ("farm-af2/ol_demo.bash", "job", "job:farm-af2|ol_demo.bash"),
        ("01a22766-8b7b", "run", SPARK_JOB),
        ("bank_transfer_amount", "column", None),
    ],
)
def test_search_goes_to_what_was_chosen(visit, pipelines, typed, kind, opened):
    """A job, a dataset, a column and a runId are found while one types, and opened."""
    shown = visit(pipelines)
    page = shown.open()
    page.get_by_role("combobox").fill(typed)
    option = page.get_by_role("option").filter(has_text=kind).first
    expect(option).to_be_visible()
    if kind == "dataset":
        shown.screenshot("search")
    option.click()
    expect(page.locator("#drawer")).to_be_visible()
    expect(page.locator("g.node.selected")).to_have_count(1)
    if opened:
        expect(node(page, opened)).to_have_class(has_class("selected"))


def test_a_selection_lights_what_is_upstream_and_downstream(visit, pipelines):
    """The paths through a selection are lit, the rest is dimmed, and Esc lights all again."""
    shown = visit(pipelines)
    page = shown.open(f"node={CSV}")
    node(page, "dataset:file|/srv/pipeline/runs/ok/wd/spark-warehouse/t_ctas").click()
    expect(page.locator("#canvas")).to_have_class(has_class("lighting"))
    expect(node(page, CSV)).to_have_class(has_class("lit"))
    expect(node(page, SPARK_JOB)).not_to_have_class(has_class("lit"))
    page.keyboard.press("Escape")
    expect(page.locator("#canvas")).not_to_have_class(has_class("lighting"))
    expect(page.locator("#drawer")).to_be_hidden()


def test_datasets_open_to_columns_with_their_edges(visit, pipelines):
    """A click opens one dataset, the button all of them, with edges between columns; a column lights its own path."""
    shown = visit(pipelines)
    page = shown.open(f"node={CSV}")
    page.locator(f'[data-open="{CSV}"]').click()
    expect(node(page, CUSTOMER_ID)).to_contain_text("customer_id")
    assert page.locator("path.edge.field:not(.indirect)").count() == 0
    page.get_by_role("button", name="Close columns").click()
    expect(page.locator("g.column")).to_have_count(0)
    page.get_by_role("button", name="Open columns").click()
    expect(page.locator("path.edge.field").first).to_be_attached()
    shown.screenshot("columns")
    node(page, CUSTOMER_ID).click()
    expect(page.locator("#drawer")).to_contain_text("downstream")
    expect(page.locator("path.edge.field.lit").first).to_be_attached()
    expect(node(page, CUSTOMER_ID.replace("customer_id", "value"))).not_to_have_class(has_class("lit"))
    shown.screenshot("column-selected")
    page.get_by_role("button", name="Trace this column").click()
    expect(page.get_by_role("button", name="Columns", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("g.node.job")).to_have_count(0)
    shown.screenshot("column-traced")


def test_depth_and_direction_change_the_neighbourhood(visit, pipelines):
    """One step shows the direct neighbours; each direction leaves out the other."""
    shown = visit(pipelines)
    page = shown.open(f"node={ORDERS}&depth=1")
    nodes = page.locator("g.node")
    expect(nodes.first).to_be_attached()
    near = nodes.count()
    page.get_by_role("button", name="Deeper").click()
    expect(page.locator("#legend")).not_to_contain_text(f"{near} nodes")
    assert nodes.count() > near
    page.get_by_role("button", name="Upstream only").click()
    expect(page.get_by_role("button", name="Upstream only")).to_have_attribute("aria-pressed", "true")
    expect(node(page, "dataset:duckdb://jaffle_shop.duckdb|jaffle_shop.main.stg_orders")).to_be_attached()
    assert "direction=upstream" in page.url
    assert "depth=2" in page.url


def test_an_address_shows_another_reader_the_same(visit, pipelines):
    """Node, depth, open columns and the selected event are in the address; Back undoes a step."""
    first = visit(pipelines)
    page = first.open(f"node={CSV}&depth=2")
    page.locator(f'[data-open="{CSV}"]').click()
    node(page, SPARK_JOB).click()
    page.get_by_role("tab", name="Events").click()
    page.locator(".drawer .row").first.click()
    expect(page.locator(".json").first).to_be_visible()
    address = page.url.partition("#")[2]
    other = visit(pipelines).open(address)
    expect(node(other, CUSTOMER_ID)).to_be_attached()
    expect(node(other, SPARK_JOB)).to_have_class(has_class("selected"))
    expect(other.locator(".drawer")).to_contain_text("RunEvent")
    assert other.locator("g.node").count() == page.locator("g.node").count()
    page.go_back()
    expect(page.locator(".drawer .kind-word")).not_to_contain_text("RunEvent")


def test_pan_zoom_and_fit(visit, pipelines):
    """Dragging pans, the wheel zooms, 0 shows the whole graph; a drag selects nothing."""
    page = visit(pipelines).open(f"node={CSV}")
    scene = page.locator("g.scene")
    fitted = scene.get_attribute("transform")
    box = page.locator("#canvas").bounding_box()
    start = (box["x"] + 60, box["y"] + box["height"] - 120)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 90, start[1] - 50, steps=4)
    page.mouse.up()
    panned = scene.get_attribute("transform")
    assert panned != fitted
    page.mouse.wheel(0, -300)
    expect(scene).not_to_have_attribute("transform", panned)
    expect(page.locator("#drawer")).to_be_hidden()
    page.get_by_role("button", name="Show the whole graph (0)").click()
    expect(scene).to_have_attribute("transform", fitted)


def test_an_unknown_node_is_said_to_be_unknown(visit, pipelines):
    """An address whose node is not stored says so and leads home."""
    page = visit(pipelines, tolerates="404").open("node=job:nowhere|nothing")
    expect(page.locator("#cover")).to_contain_text("not stored here")
    page.get_by_role("button", name="Show everything").click()
    expect(page.locator("g.node").first).to_be_attached()
