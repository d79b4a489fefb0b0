"""The repository that the tests run in: its files, its metadata and its documentation."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import tomli

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))


def pyproject() -> dict[str, Any]:
    """Read pyproject.toml."""
    content: dict[str, Any] = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return content


def tracked_files() -> list[Path]:
    """List the files that git keeps or would keep: committed ones and new ones that are not ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def code_blocks(text: str, language: str) -> list[str]:
    """Give the fenced blocks of ``language`` in a Markdown text, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def table_rows(text: str) -> list[list[str]]:
    """Give the cells of every row of every Markdown table; an escaped bar is no border."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def anchors(text: str) -> set[str]:
    """Give the anchors of the headings of a Markdown text, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
