"""What an Airflow connection comes to as settings of a destination, and as a token."""

from __future__ import annotations

import time

import pytest

from truewatch_lineage.errors import ConfigError, TokenError
from truewatch_lineage_airflow import connection
from truewatch_lineage_airflow.connection import ConnectionToken, Fetched, describe, to_values

TOKEN = "tkn_canary_0123456789"


def fetched(host="", schema="", port=None, password="", extra=None, conn_type="truewatch", login=False):
    """Make what Airflow would have said."""
    return Fetched("conn", conn_type, host, schema, port, login, password, extra or {}, time.monotonic())


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    monkeypatch.setattr(connection, "_recent", {})
    monkeypatch.setattr(connection, "_failed", {})


URLS = [
    ({"host": "openway.truewatch.com"}, "https://openway.truewatch.com"),
    ({"host": "openway.truewatch.com/base"}, "https://openway.truewatch.com/base"),
    ({"host": "http://h"}, "http://h"),
    ({"host": "h", "schema": "HTTP"}, "http://h"),
    ({"host": "https://h", "schema": "ignored"}, "https://h"),
    ({"host": "h", "port": 8443}, "https://h:8443"),
    ({"host": "https://h/base", "port": 8443}, "https://h:8443/base"),
    ({"host": "localhost", "port": 9529}, "http://localhost:9529"),
    ({"host": "127.0.0.1:9529"}, "http://127.0.0.1:9529"),
    ({"host": "127.0.0.1", "schema": "https"}, "https://127.0.0.1"),
    ({"host": "[::1]", "port": 80, "schema": "http"}, "http://[::1]:80"),
    ({}, None),
]


@pytest.mark.parametrize(("parts", "url"), URLS)
def test_host_schema_and_port_make_the_url(parts, url):
    """With or without a scheme in the host; this machine is asked without TLS unless the schema says otherwise."""
    assert to_values(fetched(**parts)).get("url") == url


WRONG = [
    ({"host": "h", "schema": "canary"}, "`schema` must be https or http"),
    ({"host": "h:1", "port": 2}, "`port` stands in the host as well"),
    ({"host": "h", "extra": {"url": "canary"}}, "`extra.url` says the same as host"),
    ({"extra": {"timout": "canary"}}, "Unknown setting `extra.timout`"),
    ({"extra": {"spoolDir": "canary"}}, "`extra.spoolDir` is a setting of the whole"),
    *(
        ({"extra": {key: "canary"}}, f"`extra.{key}` names another source of the token")
        for key in ("token_file", "tokenEnv", "token_command", "airflow_conn_id", "auth")
    ),
]


@pytest.mark.parametrize(("parts", "told"), WRONG)
def test_what_is_wrong_is_named_with_the_connection_and_never_shown(parts, told):
    """Who may edit connections may not thereby run commands or read files on workers."""
    with pytest.raises(ConfigError) as caught:
        to_values(fetched(**parts))
    assert told in str(caught.value)
    assert "Airflow connection 'conn'" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_an_extra_is_any_setting_of_a_destination_in_any_spelling():
    """The token is left out: only the connection's name goes on."""
    values = to_values(fetched(password=TOKEN, extra={"caFile": "/ca.pem", "auth-method": "x_token", "token": TOKEN}))
    assert values == {"ca_file": "/ca.pem", "auth_method": "x_token", "airflow_conn_id": "conn"}


def test_another_types_own_extras_are_passed_over():
    """An http connection may be named, whose extra has keys of its own."""
    parts = {"host": "h", "extra": {"verify": False, "spool_dir": "x", "compression": "none"}, "conn_type": "http"}
    assert to_values(fetched(**parts)) == {"url": "https://h", "compression": "none"}


def test_a_login_has_no_effect(caplog):
    """It is told at INFO only: it harms nothing, and each task would say so."""
    caplog.set_level("INFO", "truewatch_lineage_airflow")
    assert to_values(fetched(host="h", login=True)) == {"url": "https://h"}
    assert "The login of Airflow connection 'conn' has no effect" in caplog.text


TOKENS = [
    ({"password": TOKEN, "extra": {"token": "other"}}, None, TOKEN),
    ({"extra": {"access_token": "last", "apiKey": TOKEN}}, None, TOKEN),
    ({"extra": {"mine": TOKEN, "apiKey": "other"}}, "mine", TOKEN),
    ({"extra": {"apiKey": "other"}}, "mine", None),
    ({}, None, None),
]


@pytest.mark.parametrize(("parts", "extra_key", "text"), TOKENS)
def test_the_token_is_the_password_or_a_key_of_the_extra(monkeypatch, parts, extra_key, text):
    """As OpenLineage's provider looks for it; what was just asked for settings serves the token too."""
    monkeypatch.setitem(connection._recent, "conn", fetched(**parts))
    source = ConnectionToken("conn", extra_key)
    if text is None:
        with pytest.raises(TokenError, match="Airflow connection 'conn' has no token"):
            source.get()
    else:
        assert source.known().reveal() == text
        assert source.get() is source.known()
        assert 0 <= source.age() < 5


def test_whatever_may_be_a_token_is_masked_in_airflows_logs():
    """The password and what is no setting; not a setting, and nothing as short as a word."""
    extra = {
        "mine": "of-my-own-key",
        "token": "of-a-usual-key",
        "short": "canary",
        "ca_file": "/etc/ca.pem",
        "n": 12345678,
    }
    assert fetched(password=TOKEN, extra=extra).secrets() == [TOKEN, "of-my-own-key", "of-a-usual-key"]


def test_nothing_shows_the_token():
    """Neither what was fetched nor the source, nor a name that may be a token itself."""
    one = fetched(password=TOKEN, extra={"token": TOKEN})
    assert "canary" not in repr(one) + repr(ConnectionToken(TOKEN)) + describe("Bearer canary") + describe(
        "canary" * 20
    )
    assert repr(ConnectionToken("conn")) == "ConnectionToken(Airflow connection 'conn')"
    assert ConnectionToken("conn").known() is ConnectionToken("conn").age() is None
