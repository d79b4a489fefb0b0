"""``OPENLINEAGE_URL``, which the client adds to whatever transport is configured, does not break this one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.raw_server import RawServer

CODE = """
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
client = OpenLineageClient()
client.emit(RunEvent(eventType=RunState.START, eventTime="2026-10-21T08:00:00Z", producer="https://example.com/p",
    run=Run(runId="4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"), job=Job(namespace="ns", name="job")))
client.close()
"""


@pytest.mark.parametrize("api_key", [{}, {"OPENLINEAGE_API_KEY": "of-another-place"}])
def test_the_event_goes_to_this_transports_destination_alone(tmp_path, api_key) -> None:
    """With its own token, and a notice that the variable has no effect where the client passes it on."""
    with RawServer() as ours, RawServer() as theirs:
        env = {
            "OPENLINEAGE__TRANSPORT__TYPE": "truewatch_lineage.TrueWatchTransport",
            "OPENLINEAGE_URL": theirs.url,
            "TRUEWATCH_LINEAGE_URL": ours.url,
            "TRUEWATCH_LINEAGE_TOKEN": "of-this-place",
            "TRUEWATCH_LINEAGE_SPOOL_DIR": str(tmp_path / "spool"),
            **api_key,
        }
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False
        )

        assert done.returncode == 0, done.stderr
        (request,) = ours.wait_for(1)
        assert request.header("authorization") == "Bearer of-this-place"
        assert not theirs.requests
    assert "of-another-place" not in done.stderr
