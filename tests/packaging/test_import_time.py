"""Importing this package costs a job little, and brings in nothing that the job did not ask for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ALLOWED_S = 0.040
RUNS = 9
TIMED = """
import time
import openlineage.client
started = time.process_time()
import truewatch_lineage.transport
print(time.process_time() - started)
"""


def _output(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=30, check=True).stdout.strip()


@pytest.mark.serial
def test_the_transport_adds_little_to_the_import_of_the_client(tmp_path) -> None:
    """Over ``import openlineage.client`` the transport adds at most 40 ms of CPU: the median of nine processes."""
    _output(TIMED, PYTHONPYCACHEPREFIX=str(tmp_path))  # writes the byte code, as an installer does
    times = sorted(float(_output(TIMED, PYTHONPYCACHEPREFIX=str(tmp_path))) for _ in range(RUNS))

    assert times[RUNS // 2] <= ALLOWED_S, times


@pytest.mark.parametrize("module", ["truewatch_lineage", "truewatch_lineage.cli"])
def test_the_core_does_not_load_the_client(module) -> None:
    """The half second of ``import openlineage.client`` is spent only by who uses the transport."""
    code = f"import sys, {module}; print([name for name in sys.modules if name.partition('.')[0] == 'openlineage'])"

    assert _output(code) == "[]"


@pytest.mark.parametrize("module", ["truewatch_lineage.transport", "truewatch_lineage.cli"])
def test_we_load_no_framework(module) -> None:
    """Neither a web framework nor a model library is loaded on behalf of a job."""
    loaded = f"import sys, openlineage.client; before = set(sys.modules); import {module}; "
    code = loaded + "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"

    assert not {"requests", "httpx", "httpx2", "pydantic", "starlette", "uvicorn", "asyncio"} & set(eval(_output(code)))
