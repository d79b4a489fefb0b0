"""The files that dbt leaves are read whole, also while dbt writes them."""

from __future__ import annotations

import json
import threading
import time

from truewatch_lineage_dbt.artefacts import await_manifest

MANIFEST = {"nodes": {f"model.p.m{number}": {"name": f"m{number}"} for number in range(50)}, "metadata": {}}


def _write_slowly(path, text, pieces=6):
    """Write a file as dbt does, in place and in pieces, over more time than one look takes."""
    size = len(text) // pieces + 1
    with path.open("w") as file:
        for start in range(0, len(text), size):
            file.write(text[start : start + size])
            file.flush()
            time.sleep(0.25)


def test_a_manifest_that_is_being_written_is_waited_for(tmp_path) -> None:
    """It is given up by the time without a change, not by how long dbt takes."""
    path = tmp_path / "manifest.json"
    path.write_text("{}")
    writer = threading.Thread(target=_write_slowly, args=(path, json.dumps(MANIFEST)))
    writer.start()
    found = await_manifest(path, still=1.0)
    writer.join()
    assert found == MANIFEST


def test_a_manifest_that_stays_broken_is_given_up(tmp_path) -> None:
    """As where dbt was killed while it wrote; nor is one awaited that never comes."""
    path = tmp_path / "manifest.json"
    assert await_manifest(path, still=0.1) == {}
    path.write_text('{"nodes": {')
    assert await_manifest(path, still=0.1) == {}
