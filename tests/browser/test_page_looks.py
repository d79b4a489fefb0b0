"""Dark and light, contrast, and one node as well as many."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

CSV = "dataset:file|/srv/pipeline/data/orders.csv"
AA = 4.5
PAIRS = [
    *[("--text", ground) for ground in ("--ground", "--surface", "--sunken", "--accent-soft")],
    *[("--muted", ground) for ground in ("--ground", "--surface", "--sunken", "--accent-soft", "--none-soft")],
    *[("--accent", ground) for ground in ("--ground", "--surface", "--accent-soft", "--sunken")],
    ("--on-accent", "--accent"),
    ("--fail", "--fail-soft"),
    *[(f"--{state}", f"--{state}-soft") for state in ("complete", "running", "abort", "other", "none")],
    *[(name, "--surface") for name in ("--complete", "--abort", "--fail")],
]
CONTRAST = """(pairs) => {
    const probe = document.body.appendChild(document.createElement("i"));
    const channels = (name) => {
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    };
    const light = (name) => {
        const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = channels(name).map((v) => linear(v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const answer = pairs.map(([text, ground]) => {
        const [low, high] = [light(text), light(ground)].sort((a, b) => a - b);
        return [text, ground, (high + 0.05) / (low + 0.05)];
    });
    probe.remove();
    return answer;
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_enough_contrast(visit, pipelines, dark):
    """Each colour of text reaches WCAG AA on each ground that it stands on."""
    shown = visit(pipelines, dark=dark)
    page = shown.open(f"node={CSV}&select={CSV}&columns=*")
    found = page.evaluate(CONTRAST, PAIRS)
    assert [pair for pair in found if pair[2] < AA] == []
    shown.screenshot("dark" if dark else "light")


def test_the_theme_follows_the_system_until_it_is_chosen(visit, pipelines):
    """The button goes from the system's choice to light and dark, and the choice outlives a reload."""
    page = visit(pipelines, dark=True).open()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("size", [(1920, 1080), (1024, 700), (640, 900)], ids=lambda size: f"{size[0]}")
def test_nothing_is_cut_off_at_other_sizes(visit, pipelines, size):
    """The page itself never scrolls sideways, and search and graph are there."""
    shown = visit(pipelines, size=size)
    page = shown.open(f"node={CSV}")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    expect(page.get_by_role("combobox")).to_be_visible()
    expect(page.locator("g.node").first).to_be_visible()
    shown.screenshot(f"width-{size[0]}")


def test_long_names_are_shortened_in_the_middle(visit, receiver):
    """A name too long for its box keeps both ends, stays inside, and is whole in its title."""
    name = f"begin_{'x' * 150}_end"
    receiver.post(
        {
            "eventType": "START",
            "eventTime": "2026-10-21T08:00:00Z",
            "run": {"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"},
            "job": {"namespace": "n", "name": name},
            "producer": "https://example.com/p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        }
    )
    page = visit(receiver).open()
    label = page.locator("g.job text.near").first
    text = label.text_content()
    assert text.startswith("begin_")
    assert "…" in text
    assert text.endswith("_end")
    assert page.locator("g.job title").text_content() == f"n/{name}"
    box, inner = page.locator("g.job .box").bounding_box(), label.bounding_box()
    assert inner["x"] + inner["width"] <= box["x"] + box["width"]
