"""The gateway's pages say what it takes, what it answers, and which options it has."""

from __future__ import annotations

import re

import click
import pytest
from support.repository import ROOT, table_rows

from truewatch_lineage.cli.gateway import command
from truewatch_lineage.gateway.http.entrance import MAX_BYTES_IN_FLIGHT, PATHS
from truewatch_lineage.gateway.kafka.options import DEAD_LETTERS, HOLD_SECONDS, MAX_EVENTS
from truewatch_lineage.gateway.kafka.stage import MAX_BYTES
from truewatch_lineage.protocol import MAX_RECEIVED_BYTES, MIB

PAGE = (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")
KAFKA = (ROOT / "docs" / "gateway-kafka.md").read_text(encoding="utf-8")
ROWS = table_rows(PAGE)
PICTURE = (ROOT / "docs" / "images" / "gateway.svg").read_text(encoding="utf-8")


def test_every_path_and_its_answer_are_in_the_table() -> None:
    """And none that is not."""
    shown = {row[0]: row[1] for row in ROWS if row[0].startswith("`POST ")}

    assert shown == {f"`POST {path}`": str(status) for path, status in PATHS.items()}


def test_every_option_of_its_own_is_in_the_table() -> None:
    """Settings have a page of their own."""
    start = PAGE.index("| option | meaning |")
    rows = table_rows(PAGE[start : PAGE.index("Settings that matter most here")])
    own = {name for one in command.params if type(one) is click.Option for name in one.opts}

    assert own == set(re.findall(r"--[a-z][a-z-]+", " ".join(row[0] for row in rows)))


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (f"up to {MAX_RECEIVED_BYTES // MIB} MiB", PAGE),
        (f"over HTTP ({MAX_BYTES_IN_FLIGHT // MIB} MiB)", PAGE),
        (f"longer than {HOLD_SECONDS / 60:.0f} minutes", KAFKA),
        (f"`{DEAD_LETTERS}`", KAFKA),
        (f"{MAX_EVENTS:,} events, {MAX_BYTES // MIB} MiB gzipped", KAFKA),
    ],
)
def test_limits_are_those_of_the_code(text, page) -> None:
    """As the pages word them."""
    assert text in page


def test_the_picture_can_be_read_in_light_and_dark_and_by_ear() -> None:
    """It has colours for both, a title and a description, and nothing from elsewhere."""
    assert "prefers-color-scheme: dark" in PICTURE
    assert "<title" in PICTURE
    assert "<desc" in PICTURE
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|<image", PICTURE)
