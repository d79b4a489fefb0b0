"""What Airflow's OpenLineage provider reads of the transport for Spark."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from truewatch_lineage import TrueWatchTransport, injection
from truewatch_lineage.injection import NoAuth

TOKEN = "tkn_canary_0123456789"
PARAMS = {"url": "https://h/base", "token": TOKEN, "spark_inject": True, "spool_dir": "/nowhere"}


@pytest.fixture(autouse=True)
def _first(monkeypatch):
    monkeypatch.setattr(injection, "_told", set())


def test_it_is_of_the_kind_that_is_injected_only_in_airflow_and_when_asked_for(monkeypatch):
    """Elsewhere the setting does nothing."""
    monkeypatch.delitem(sys.modules, "airflow", raising=False)
    assert TrueWatchTransport(PARAMS).kind == "truewatch"
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    assert TrueWatchTransport(PARAMS).kind == "http"
    assert TrueWatchTransport({**PARAMS, "spark_inject": False}).kind == TrueWatchTransport.kind == "truewatch"


def test_the_destination_is_told_as_java_takes_it_with_one_warning(caplog):
    """A bare origin with the whole path apart, and the token without Bearer; the warning does not show it."""
    transport = TrueWatchTransport({**PARAMS, "headers": {"X-Team": "data"}})
    assert (transport.url, transport.endpoint) == ("https://h", "/base/v1/write/openlineage")
    assert (transport.timeout, transport.compression) == (10, "gzip")
    assert transport.config.auth.get_bearer() == TOKEN
    assert hasattr(transport.config.auth, "api_key")
    assert transport.config.custom_headers == {"X-Team": "data"}
    assert caplog.text.count("spark_inject is on") == 1
    assert TOKEN not in caplog.text + repr(transport.config.auth) + repr(transport)


WAYS = [
    ({"auth_method": "x_token"}, {"X-Token": TOKEN}),
    ({"destination": "datakit", "url": None, "token": None}, {}),
    ({"destination": "openlineage", "token": None}, {}),
]


@pytest.mark.parametrize(("params", "headers"), WAYS)
def test_without_bearer_there_is_no_auth(params, headers):
    """An auth without a key would make Java send `Bearer null`."""
    config = TrueWatchTransport({**PARAMS, **params}).config
    assert isinstance(config.auth, NoAuth)
    assert not hasattr(config.auth, "api_key")
    assert config.custom_headers == headers


def test_a_token_that_cannot_be_read_fails_nothing(tmp_path, caplog):
    """The task that submits to Spark goes on, and a warning says why Spark's events will be refused."""
    for method, expected in (("bearer", None), ("x_token", {})):
        params = {**PARAMS, "token": None, "token_file": str(tmp_path / "none"), "auth_method": method}
        config = TrueWatchTransport(params).config
        assert (config.auth.get_bearer() if method == "bearer" else config.custom_headers) == expected
    assert "Spark is told no token: The token's file" in caplog.text


def test_of_several_destinations_the_first_is_told_and_said(caplog):
    """The provider writes one."""
    several = {"b": {"url": "https://b", "token": "t", "timeout": 0.5}, "a": {"destination": "datakit"}}
    transport = TrueWatchTransport({"destinations": several, "spark_inject": True})
    assert (transport.url, transport.timeout) == ("https://b", 1)
    assert "Only one destination, b, is injected." in caplog.text


def test_kafka_is_not_what_can_be_told(monkeypatch, caplog):
    """The listener gets the first destination that goes by HTTP, and nothing where there is none."""
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    kafka = {"url": "kafka://broker.example/lineage"}
    several = {"a": kafka, "b": {"url": "https://b", "token": "t"}}
    transport = TrueWatchTransport({"destinations": several, "spark_inject": True, "spool_dir": "/nowhere"})
    assert (transport.kind, transport.url) == ("http", "https://b")
    assert TrueWatchTransport({**kafka, "spark_inject": True, "spool_dir": "/nowhere"}).kind == "truewatch"
