"""What tells the program that this package runs in."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest
from support.programs import load_airflow

from truewatch_lineage import program


@pytest.fixture(autouse=True)
def _without_airflow(monkeypatch):
    for name in ("airflow", "airflow.sdk"):
        monkeypatch.setitem(sys.modules, name, None)  # so that what a test loads goes again
        monkeypatch.delitem(sys.modules, name)


def test_airflow_is_known_by_its_package(monkeypatch):
    """It has a file."""
    assert not program.runs_in_airflow()
    load_airflow(monkeypatch)
    assert program.runs_in_airflow()


def test_the_task_sdk_alone_is_airflow(monkeypatch):
    """Its parent may be a namespace package there."""
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.sdk", ModuleType("airflow.sdk"))
    assert program.runs_in_airflow()


def test_a_folder_of_that_name_that_was_imported_is_no_airflow(tmp_path, monkeypatch):
    """A project keeps its DAGs in such a folder, and some library has tried whether there is an Airflow."""
    (tmp_path / "airflow" / "dags").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("airflow")
    assert not program.runs_in_airflow()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("airflow.models")
