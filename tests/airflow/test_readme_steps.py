"""The README's Airflow part, command by command, in a fresh Airflow: lineage arrives, and nothing else was set."""

from __future__ import annotations

import re
import subprocess
from itertools import chain

import pytest
from support.airflow import VERSIONS, Airflow, environment
from support.private import write_private
from support.receiver import Receiver
from support.repository import ROOT, code_blocks

TOKEN = "a-token-of-the-readme"
INSTALL = "pip install '.[airflow]'"
# What pip would find: whether all that the extra asks for is in this environment already.
ASK = """
from importlib.metadata import requires, version
from packaging.requirements import Requirement
for asked in map(Requirement, requires("truewatch-lineage")):
    if asked.marker is None or asked.marker.evaluate({"extra": "airflow"}):
        assert asked.specifier.contains(version(asked.name)), asked
"""
pytestmark = pytest.mark.timeout(300)


def _steps(page, heading):
    """Give the commands of the first shell block below a heading, joined where a line goes on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    block = code_blocks(text[re.search(rf"^## {heading}$", text, re.MULTILINE).end() :], "sh")[0]
    return block.replace("\\\n", "").splitlines()


def test_the_documentation_gives_the_same_steps() -> None:
    """Getting started and Airflow's own page, so that what is tested here holds there."""
    steps = [re.sub(r" +", " ", step) for step in _steps("README.md", "Airflow")]
    text = (ROOT / "docs" / "airflow.md").read_text(encoding="utf-8").replace("\\\n", "")
    shown = [re.sub(r" +", " ", line) for line in chain(*map(str.splitlines, code_blocks(text, "sh")))]

    assert _steps("docs/getting-started.md", "Airflow") == _steps("README.md", "Airflow")
    assert [step for step in steps if step not in shown] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_steps_of_the_readme_make_lineage_arrive(tmp_path, version) -> None:
    """As they stand there, but for the url, the token's place and the folder to install from."""
    made, token_file = environment(version), tmp_path / "token"
    write_private(token_file, TOKEN)
    home = tmp_path / "airflow"
    home.mkdir()
    assert made.airflow("db", "migrate", home=home).returncode == 0
    install, *steps = _steps("README.md", "Airflow")

    with Receiver(tokens=[TOKEN]) as receiver:
        script = "\n".join(steps).replace("https://openway.truewatch.com", receiver.url)
        done = _shell(script.replace("/etc/truewatch/token", str(token_file)), made.variables(home), home)

        assert install == INSTALL
        assert made.run(ASK, home=home).stderr == ""
        assert done.returncode == 0, done.stdout + done.stderr
        assert "WARN" not in done.stdout
        receiver.wait_for_events(2)
        with Airflow(made, home) as airflow:
            airflow.trigger("succeeds", run_id="first")
            assert airflow.wait("succeeds", "first") == "success"
            events = receiver.wait_for_events(2 + 4)

    assert [row["job_name"] for row in events].count("succeeds.one") == 2
    assert TOKEN not in done.stdout + done.stderr


def _shell(script, variables, folder):
    return subprocess.run(
        ["sh", "-e", "-c", script],
        env=variables,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
