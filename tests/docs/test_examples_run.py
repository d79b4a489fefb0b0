"""The Python examples of the documentation run, and what they emit arrives."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.private import write_private
from support.raw_server import RawServer
from support.repository import ROOT, code_blocks

PAGES = (ROOT / "README.md", ROOT / "docs" / "getting-started.md")
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(code_blocks(page.read_text(encoding="utf-8"), "python"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_delivers_its_events(example: str, tmp_path: Path) -> None:
    """Run as it stands, but for the url and the token's place, the example delivers its first event as START."""
    token_file = write_private(tmp_path / "token", "an-example-token\n")
    with RawServer([]) as server:
        code = example.replace("https://openway.truewatch.com", server.url).replace(
            "/etc/truewatch/token", str(token_file)
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, cwd=tmp_path, check=False
        )

    assert result.returncode == 0, result.stderr
    events = [json.loads(gzip.decompress(request.body)) for request in server.requests]
    assert [event["eventType"] for event in events] in (["START"], ["START", "COMPLETE"])
    assert {event["job"]["name"] for event in events} == {"daily_orders"}
