"""What tells the program that this package runs in."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from truewatch_lineage import program


@pytest.fixture(autouse=True)
def _without_airflow(monkeypatch):
    for name in ("airflow", "airflow.sdk"):
        monkeypatch.setitem(sys.modules, name, None)  # so that what a test loads goes again
        monkeypatch.delitem(sys.modules, name)


def _import(folder, monkeypatch):
    """Import the folder ``airflow`` of a folder."""
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module("airflow")


def test_airflow_is_known_by_its_package(tmp_path, monkeypatch):
    """It has code of its own."""
    (tmp_path / "airflow").mkdir()
    (tmp_path / "airflow" / "__init__.py").touch()
    assert not program.runs_in_airflow()
    _import(tmp_path, monkeypatch)
    assert program.runs_in_airflow()


def test_a_folder_of_that_name_that_was_imported_is_no_airflow(tmp_path, monkeypatch):
    """A project keeps its DAGs in such a folder, and some library has tried whether there is an Airflow."""
    (tmp_path / "airflow" / "dags").mkdir(parents=True)
    assert _import(tmp_path, monkeypatch).__path__
    assert not program.runs_in_airflow()


def test_the_task_sdk_alone_is_airflow(tmp_path, monkeypatch):
    """Its parent may be a namespace package there."""
    (tmp_path / "airflow").mkdir()
    _import(tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "airflow.sdk", ModuleType("airflow.sdk"))
    assert program.runs_in_airflow()


def test_a_refused_import_is_no_airflow(monkeypatch):
    """As None in the table of modules says it."""
    monkeypatch.setitem(sys.modules, "airflow", None)
    assert not program.runs_in_airflow()
