"""Links inside the documentation lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.repository import DOCS, ROOT, anchors

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_internal_links_resolve(page: Path) -> None:
    """Every relative link names a file of the repository, and its anchor a heading there."""
    broken = [
        link
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not link.startswith(("http://", "https://")) and not _resolves(page, link)
    ]

    assert not broken


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_reached_from_the_readme(page: Path) -> None:
    """No page is left where nobody finds it."""
    assert f"docs/{page.name}" in (ROOT / "README.md").read_text(encoding="utf-8")


def _resolves(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.is_file() and (not anchor or anchor in anchors(target.read_text(encoding="utf-8")))
