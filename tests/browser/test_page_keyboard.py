"""The page without a mouse."""

from __future__ import annotations

from playwright.sync_api import expect
from support.page import has_class, node

CSV = "dataset:file|/srv/pipeline/data/orders.csv"
JOB = "job:prod-spark|demo_app.adaptive_spark_plan.out_joined"
JOINED = "dataset:file|/srv/pipeline/runs/ok/out/joined"


def focused(page):
    """Return the id of the node that has the focus."""
    return page.evaluate("document.activeElement.dataset.id")


def test_search_by_keys_alone(visit, pipelines):
    """``/`` goes to the search, arrows choose, Enter opens, Esc leaves; a ``/`` that is typed is text."""
    page = visit(pipelines).open()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("data/orders.csv")
    expect(page.get_by_role("option").first).to_contain_text("orders.csv")
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".drawer h2")).to_contain_text("orders.csv")
    assert focused(page) == CSV
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox")).not_to_be_focused()


def test_arrows_walk_the_graph(visit, pipelines):
    """Right and left follow the edges, down and up go to the next node; Enter shows details and Esc closes them."""
    page = visit(pipelines).open(f"node={JOB}&depth=2")
    page.keyboard.press("g")
    assert focused(page) == JOB
    page.keyboard.press("ArrowRight")
    first = focused(page)
    assert first.endswith("/joined")
    page.keyboard.press("ArrowDown" if "s40" in first else "ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == JOB
    page.keyboard.press("ArrowLeft")
    assert focused(page).startswith("dataset:file|/srv/pipeline/data/")
    page.keyboard.press("Enter")
    expect(page.locator(".drawer .kind-word")).to_have_text("Dataset")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    assert focused(page).startswith("dataset:file|/srv/pipeline/data/")


def test_columns_open_and_are_reached_by_keys(visit, pipelines):
    """``e`` opens a dataset's columns, ``c`` centres the graph on a node."""
    shown = visit(pipelines)
    page = shown.open(f"node={CSV}")
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(node(page, CSV)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("column:")
    shown.screenshot("focus")
    page.keyboard.press("e")
    expect(page.locator("g.column")).to_have_count(0)
    assert focused(page) == CSV
    page.keyboard.press("ArrowRight")
    page.keyboard.press("c")
    expect(page.locator("g.node.middle")).to_have_attribute("data-id", JOB)


def test_tab_reaches_every_part_with_a_visible_focus(visit, pipelines):
    """Tab goes through bar, lists, tools, the graph as one stop, and the drawer, always with an outline."""
    page = visit(pipelines).open(f"node={CSV}&select={CSV}")
    page.locator("#home").focus()
    seen, unseen = set(), []
    for _ in range(140):
        page.keyboard.press("Tab")
        part, visible = page.evaluate(
            """() => {
                const at = document.activeElement;
                const style = getComputedStyle(at);
                const box = at.querySelector(".box");
                const dashed = box !== null && getComputedStyle(box).strokeDasharray !== "none";
                const visible = style.outlineStyle !== "none" || dashed;
                return [at.closest(".bar, .side, .tools, .canvas, .corner, .drawer")?.classList[0] ?? "", visible];
            }"""
        )
        seen.add(part)
        if part and not visible:
            unseen.append(part)
        if seen >= {"bar", "side", "tools", "canvas", "corner", "drawer"}:
            break
    assert seen >= {"bar", "side", "tools", "canvas", "corner", "drawer"}
    assert unseen == []


def test_everything_that_can_be_pressed_has_a_name(visit, pipelines):
    """Buttons, tabs, fields and nodes have a name for screen readers."""
    page = visit(pipelines).open(f"node={CSV}&select={CSV}&columns=*")
    expect(page.locator(".drawer h2")).to_be_visible()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, summary, [role=button], [role=tab], [tabindex='0']")]
            .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.title))
            .map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert nameless == []


def test_the_list_of_keys_opens_and_closes(visit, pipelines):
    """``?`` shows the keys, Esc closes them and nothing else."""
    page = visit(pipelines).open(f"node={CSV}&select={CSV}")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("Follow the edges")
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#drawer")).to_be_visible()
    expect(node(page, CSV)).to_have_class(has_class("selected"))
