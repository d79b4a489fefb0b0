"""When commands load Airflow to see its settings."""

from __future__ import annotations

import sys

import pytest
from support.cli import run

from truewatch_lineage.cli import in_airflow
from truewatch_lineage.destinations import tokens
from truewatch_lineage.errors import ConfigError

PROGRAM = """
import logging, sys
print("noise of the start")
logging.basicConfig(stream=sys.stdout, level="DEBUG")
"""


@pytest.fixture
def airflow(tmp_path, monkeypatch):
    """Put a program of that name on the path, and return its folder."""
    folder = tmp_path / "site" / "airflow"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.delenv("AIRFLOW_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delitem(sys.modules, "airflow", raising=False)
    yield folder
    sys.modules.pop("airflow", None)


CASES = [
    ({}, {}, False),
    ({}, {"AIRFLOW_HOME": "/home"}, True),
    ({"airflow_conn_id": "x"}, {}, True),
    ({}, {"TRUEWATCH_LINEAGE_AIRFLOW_CONN_ID": "x"}, True),
]


@pytest.mark.parametrize(("given", "environ", "is_loaded"), CASES)
def test_airflow_is_loaded_beside_a_home_of_it_or_for_a_named_connection(airflow, capsys, given, environ, is_loaded):
    """Loading it takes seconds; what it says goes to stderr, and its log handlers go away."""
    in_airflow.enter(given, environ)
    assert ("airflow" in sys.modules) is is_loaded
    assert capsys.readouterr() == ("", "noise of the start\n" if is_loaded else "")


def test_a_home_in_its_usual_place_counts(airflow, tmp_path):
    """As of an Airflow without AIRFLOW_HOME."""
    assert not in_airflow.is_beside({})
    (tmp_path / "airflow").mkdir()
    (tmp_path / "airflow" / "airflow.cfg").write_text("")
    assert in_airflow.is_beside({})


def test_a_folder_of_that_name_is_no_airflow(airflow):
    """Such as one with tests, in the working folder."""
    (airflow / "__init__.py").unlink()
    assert not in_airflow.is_beside({"AIRFLOW_HOME": "/home"})


def test_an_airflow_that_cannot_be_loaded_is_an_error_only_where_it_is_needed(airflow, caplog):
    """What it raises may quote its configuration, and is not told."""
    (airflow / "__init__.py").write_text("raise ValueError('canary')")
    in_airflow.enter({}, {"AIRFLOW_HOME": "/home"})
    assert "Airflow's settings can't be read (ValueError)." in caplog.text
    with pytest.raises(ConfigError, match=r"can't be read \(ValueError\)") as caught:
        in_airflow.enter({"airflow_conn_id": "x"}, {})
    assert "canary" not in caplog.text + str(caught.value)


def test_a_connection_without_airflow_is_a_usage_error(monkeypatch):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "airflow", None)
    monkeypatch.setattr(tokens, "_factories", {})
    ran = run("check", "--url", "https://h", "--airflow-conn-id", "x", "--no-send")
    assert "truewatch-lineage[airflow]" in ran.out + ran.err
