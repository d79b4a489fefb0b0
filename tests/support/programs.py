"""Stand-ins of programs that this package may run in."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


def load_airflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Airflow loaded, which can't be beside the tests' own dependencies: a module of its name that has a file."""
    module = ModuleType("airflow")
    module.__file__ = "/site-packages/airflow/__init__.py"
    monkeypatch.setitem(sys.modules, "airflow", module)
