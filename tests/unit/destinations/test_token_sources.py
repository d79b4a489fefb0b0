"""The simple sources, and the hook for those of integrations."""

import pytest

from truewatch_lineage.destinations import tokens
from truewatch_lineage.destinations.tokens import (
    EnvToken,
    StaticToken,
    Token,
    register_token_source,
    registered_token_source,
)
from truewatch_lineage.errors import TokenError


def test_a_static_token_is_what_it_was_given():
    """It never changes, whatever is asked."""
    source = StaticToken(Token.parse("tkn_canary"), "`token` (from file /x)")
    assert source.get(refresh=True).reveal() == "tkn_canary"
    assert source.describe() == "`token` (from file /x)"
    assert source.age() is None
    assert "canary" not in repr(source)


def test_a_variable_is_looked_up_each_time():
    """A program may change its own environment."""
    environ = {"MY_TOKEN": "true\n"}
    source = EnvToken("MY_TOKEN", environ)
    assert source.get().reveal() == "true"
    environ["MY_TOKEN"] = "null"
    assert source.get().reveal() == "null"
    assert source.describe() == "environment variable MY_TOKEN"
    assert source.age() is None


def test_a_missing_variable_is_not_named_since_it_may_be_the_token():
    """``token_env: tkn_…`` is a common slip."""
    source = EnvToken("tkn_canary", {})
    with pytest.raises(TokenError, match="the variable's name") as caught:
        source.get()
    assert "canary" not in f"{caught.value} {source!r} {source.describe()}"


def test_an_illegal_token_in_a_variable_names_the_variable():
    """The user must know where to look."""
    with pytest.raises(TokenError, match=r"a space \(from environment variable X\)"):
        EnvToken("X", {"X": "tkn canary"}).get()


def test_an_integration_can_resolve_its_own_setting(monkeypatch):
    """Airflow's connections are only known where Airflow runs."""
    monkeypatch.setattr(tokens, "_factories", {})
    assert registered_token_source("airflow_conn_id", "prod") is None
    register_token_source("airflow_conn_id", lambda text: StaticToken(Token.parse(f"of-{text}")))
    assert registered_token_source("airflow_conn_id", "prod").get().reveal() == "of-prod"
