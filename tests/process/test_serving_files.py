"""Servers that may have few files open."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.cli import child_environment
from support.gateway import NOWHERE, Gateway
from tables.receiver_rules import EVENT

COMMANDS = {"gateway": ("gateway", 676), "receiver": ("receive", 576)}


def limited(files):
    """Return a program that may open so many files."""
    limit = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    return ("-c", f"import resource; {limit}; from truewatch_lineage.cli import main; main()")


@pytest.mark.parametrize("server", COMMANDS)
def test_with_room_for_too_few_connections_none_starts(server, tmp_path):
    """It would refuse its clients for ever; what is to be done is told."""
    command, least = COMMANDS[server]
    env = child_environment({"url": NOWHERE, "destination": "openlineage", "spool_dir": tmp_path / "spool"})
    ran = subprocess.run(
        [sys.executable, *limited(least - 1), command, "--port", "0"],
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"The {server} may have {least - 1} open files and needs {least}, or " in ran.stderr
    assert "`ulimit -n " in ran.stderr
    assert "LimitNOFILE=" in ran.stderr


def test_with_just_enough_events_are_taken():
    """Which is fewer than most systems allow anyway."""
    with Gateway(program=limited(676)) as gateway:
        assert gateway.metrics()["truewatch_gateway_http_connections_max"] == 64
        assert gateway.post(EVENT).status == 200
