"""Levels of settings and sources of tokens that the program around this one hands in."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from truewatch_lineage.config import Layer, gather, integrations, load, register_layers
from truewatch_lineage.destinations import tokens
from truewatch_lineage.destinations.tokens import StaticToken, Token


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    monkeypatch.setattr(integrations, "_sources", [])
    monkeypatch.setattr(integrations, "_looked", set())
    monkeypatch.setattr(tokens, "_factories", {})


def given(params, environ, *, need_destination):
    """Stand for an integration's levels."""
    values = {"timeout": 3, "url": "https://of-the-program", "token": "t"} if need_destination else {"spool_dir": "/s"}
    return [Layer("the program", values), Layer("below it", {"timeout": 4, "compression": "none"})]


def test_an_integrations_levels_are_between_environment_and_file(tmp_path):
    """Registered twice, they count once; levels that are passed replace them."""
    file = tmp_path / "x.toml"
    file.write_text('compression = "gzip"\noversize = "reject"')
    register_layers(given)
    register_layers(given)
    environ = {"TRUEWATCH_LINEAGE_TIMEOUT": "2", "TRUEWATCH_LINEAGE_CONFIG": str(file)}
    settings = load(environ=environ)
    (one,) = settings.destinations
    assert (one.url, one.timeout) == ("https://of-the-program/v1/write/openlineage", 2)
    assert (one.compression, one.oversize) == ("none", "reject")
    assert settings.origins["default.url"] == "the program"
    assert gather(environ={}, layers=[]) == ({}, {})


def test_a_command_that_needs_no_destination_says_so():
    """So that nothing is asked for what it does not need."""
    register_layers(given)
    assert str(load(environ={}, need_destination=False).spool_dir) == "/s"


def test_an_integration_registers_once_where_its_program_runs(monkeypatch):
    """It is found by the program's module; a half-installed one is left alone."""
    calls = []
    plugin = SimpleNamespace(register=lambda: (calls.append(1), register_layers(given)))
    monkeypatch.delitem(sys.modules, "airflow", raising=False)
    monkeypatch.setitem(sys.modules, "truewatch_lineage_airflow.settings", plugin)
    assert gather(environ={}) == ({}, {})
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    for _ in range(2):
        assert load(environ={}).destinations
    assert calls == [1]
    monkeypatch.setattr(integrations, "_looked", set())
    monkeypatch.setitem(sys.modules, "truewatch_lineage_airflow.settings", None)
    assert load(environ={}).destinations


def test_a_token_may_be_a_source_of_an_integrations_own():
    """Its text need not be known when settings are read."""
    source = StaticToken(Token.parse("of-the-source"))
    assert load({"url": "https://h", "token": source}, environ={}).destinations[0].token_source is source


@pytest.mark.parametrize("extra_key", [None, "mine"])
def test_auth_may_name_a_connection_as_airflows_provider_takes_it(extra_key):
    """The same source as airflow_conn_id has."""
    tokens.register_token_source(
        "airflow_conn_id", lambda text, **options: StaticToken(Token.parse(f"{text}-{options}".replace(" ", "")))
    )
    auth = {"type": "airflow_connection_api_key", "conn_id": "prod"} | ({"extra_key": extra_key} if extra_key else {})
    source = load({"url": "https://h", "auth": auth}, environ={}).destinations[0].token_source
    assert source.get().reveal() == f"prod-{{'extra_key':{extra_key!r}}}"
