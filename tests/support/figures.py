"""Shows what a long test has measured, past pytest's capture, so that a run can be cited."""

from __future__ import annotations

import sys

import pytest


def show(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print a line of figures; pytest-xdist swallows it, a run without ``-n`` shows it."""
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")
