"""Python scripts of tests, run in processes of their own, where a fork or an exit can't hurt pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from support.repository import ROOT

PREAMBLE = """
import atexit, json, logging, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forks while threads run, which is what we test
logging.getLogger("openlineage.client.serde").setLevel(logging.ERROR)  # old releases miss numpy, aloud
from support.events import tree
from truewatch_lineage import TrueWatchTransport

def event(step, run):
    return tree(eventType=step, run={"runId": run})
"""


def run_script(
    folder: Path, code: str, *arguments: str, timeout: float = 30, environ: Mapping[str, str] | None = None
) -> str:
    """Run a script after ``PREAMBLE`` and return its stdout.

    Args:
        folder: Where it is written to, as a file that multiprocessing can import again.
        code: The script; indentation is taken off.
        arguments: Its ``sys.argv[1:]``.
        timeout: Seconds it may take.
        environ: Variables to add.

    Raises:
        AssertionError: It failed, wrote to stderr, or hung; with what it wrote.
    """
    file = folder / "script.py"
    file.write_text(PREAMBLE + textwrap.dedent(code))
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTHONFAULTHANDLER": "1", **(environ or {})}
    process = subprocess.Popen(
        [sys.executable, str(file), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 6)  # SIGABRT, so that faulthandler tells where it hung
        out, err = process.communicate(timeout=10)
        raise AssertionError(f"the script hung:\n{out}\n{err}") from None
    assert (process.returncode, err) == (0, ""), f"exit code {process.returncode}:\n{out}\n{err}"
    return out
