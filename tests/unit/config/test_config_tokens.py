"""Case 07: every token arrives byte for byte, whichever way it is given."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client import OpenLineageClient
from support.private import write_private

from truewatch_lineage.config import load
from truewatch_lineage.destinations import tokens
from truewatch_lineage.destinations.tokens import StaticToken, Token
from truewatch_lineage.errors import ConfigError, TokenError

ODD = [
    "12345", "007", "9e12", "1E400", "-1E400", "true", "false", "null", "123456789012345678901234567890", '"quoted"',
    "tok_abc", "-5", "NaN", "Infinity", "-Infinity", "[1]", "[]", "{}", '{"a":1}', "1.0", "1.50", "0", "-0", "'x'",
    '"\\u0041"', "[", "{", "tkn==", "a,b", "$HOME", "%41", "~", "~/x", "\\n", "None", "True", "0x10", "1_000",
]  # fmt: skip
BASE = {"url": "https://h"}
TOKENS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=40).filter(
    lambda text: not text.lower().startswith("bearer:")
)


def revealed(params=None, **options):
    """Load and return the token of the first destination."""
    options.setdefault("environ", {})
    return load(params, **options).destinations[0].token_source.get().reveal()


def parsed_by_upstream(environ):
    """What OpenLineage's own loader makes of the environment."""
    before = dict(os.environ)
    os.environ.update(environ)
    try:
        return OpenLineageClient._load_config_from_env_variables()["transport"]
    finally:
        os.environ.clear()
        os.environ.update(before)


def by_file(token, folder):
    """Write the token as ``echo`` does, and name the file."""
    write_private(folder / "token", token + "\n")
    return revealed({**BASE, "token_file": str(folder / "token")})


WAYS = {
    "token": lambda token, _: revealed({**BASE, "token": token}),
    "apiKey": lambda token, _: revealed({**BASE, "apiKey": token}),
    "auth": lambda token, _: revealed({**BASE, "auth": {"type": "api_key", "apiKey": token}}),
    "auth as JSON": lambda token, _: revealed({**BASE, "auth": json.dumps({"type": "api_key", "apiKey": token})}),
    "our variable": lambda token, _: revealed(BASE, environ={"TRUEWATCH_LINEAGE_TOKEN": token}),
    "our alias": lambda token, _: revealed(BASE, environ={"TRUEWATCH_LINEAGE_API_KEY": token}),
    "token_env": lambda token, _: revealed({**BASE, "token_env": "X"}, environ={"X": token}),
    "token_file": by_file,
    "token_command": lambda token, _: revealed({**BASE, "token_command": ["printf", "%s\n", token]}),
    "named, by our variable": lambda token, _: revealed(
        environ={"TRUEWATCH_LINEAGE_DESTINATIONS": json.dumps({"a": {**BASE, "token": token}})}
    ),
}
UPSTREAM = ["TOKEN", "APIKEY", "API_KEY", "AUTH__APIKEY", "AUTH__API_KEY"]


@pytest.mark.parametrize("token", ODD)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_odd_token_arrives_byte_for_byte(way, token, tmp_path):
    """Nothing takes it for a number, a truth value or JSON."""
    assert way(token, tmp_path) == token


@pytest.mark.parametrize("token", ODD)
@pytest.mark.parametrize("name", UPSTREAM)
def test_an_odd_token_given_by_upstreams_variable_is_restored(name, token):
    """Their loader parses it as JSON before a transport sees it."""
    environ = {f"OPENLINEAGE__TRANSPORT__{name}": token, "OPENLINEAGE__TRANSPORT__URL": "https://h"}
    assert revealed(parsed_by_upstream(environ), environ=environ) == token


@pytest.mark.parametrize("token", ODD)
def test_a_composites_child_and_a_named_destination_are_restored_too(token):
    """Their keys lie deeper."""
    environ = {
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__TW__AUTH__APIKEY": token,
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__TW__URL": "https://h",
        "OPENLINEAGE__TRANSPORT__DESTINATIONS__PROD__TOKEN": token,
        "OPENLINEAGE__TRANSPORT__DESTINATIONS__PROD__URL": "https://h",
    }
    params = parsed_by_upstream(environ)
    assert revealed(params["transports"]["tw"], environ=environ) == token
    assert revealed({"destinations": params["destinations"]}, environ=environ) == token


@given(TOKENS)
def test_any_token_survives_upstreams_loader(token):
    """Not only those that were thought of."""
    environ = {"OPENLINEAGE__TRANSPORT__TOKEN": token}
    assert revealed({**BASE, "token": WEIRD(token)}, environ=environ) == token


@given(TOKENS)
def test_any_token_survives_our_own_variables(token):
    """Text is text."""
    assert revealed(BASE, environ={"TRUEWATCH_LINEAGE_TOKEN": token}) == token
    assert revealed({**BASE, "token_env": "X"}, environ={"X": token}) == token


def WEIRD(token):  # noqa: N802 - stands for upstream's parser
    """What upstream's loader makes of one value (see ``parsed_by_upstream``, which is too slow for many)."""
    try:
        return json.loads(token)
    except json.JSONDecodeError:
        return token


@pytest.mark.parametrize("value", [9e12, 12345, True, float("nan"), ["tkn_canary"], {"tkn_canary": 1}])
@pytest.mark.parametrize("environ", [{}, {"OPENLINEAGE__TRANSPORT__TOKEN": "tkn_canary_other"}])
def test_a_token_that_is_no_text_and_comes_from_no_variable_is_refused(value, environ):
    """Nobody knows how it was spelt: it must be quoted."""
    with pytest.raises(TokenError, match="in quotes") as caught:
        load({**BASE, "token": value}, environ=environ)
    assert not {"canary", "12345", "9000", "9e12"} & set(str(caught.value).split())


def test_one_truth_is_not_one():
    """1, 1.0 and true are different texts."""
    environ = {"OPENLINEAGE__TRANSPORT__TOKEN": "1.0"}
    with pytest.raises(TokenError):
        load({**BASE, "token": 1}, environ=environ)
    assert revealed({**BASE, "token": 1.0}, environ=environ) == "1.0"


def test_two_variables_that_look_alike_once_parsed_are_refused():
    """Two children of a composite: which token is this one's can't be told."""
    environ = {
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__A__TOKEN": "9e12",
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__B__TOKEN": "9.0e12",
    }
    with pytest.raises(TokenError, match=r"TRANSPORTS__A__TOKEN and .*B__TOKEN look the same.*token_env") as caught:
        load({**BASE, "token": 9e12}, environ=environ)
    assert "9e12" not in str(caught.value)


def test_a_variable_elsewhere_does_not_reach_a_token():
    """Only the one whose name leads to this key."""
    environ = {"OPENLINEAGE__TRANSPORT__OTHER__TOKEN": "9e12", "OPENLINEAGE__TRANSPORT__DESTINATIONS__A__TOKEN": "9e12"}
    with pytest.raises(TokenError):
        load({**BASE, "token": 9e12}, environ=environ)


COMMANDS = [["printf", "tkn"], ("printf", "tkn"), '["printf", "tkn"]', ' ["printf", "tkn"]']


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_a_list_or_its_json_text(command):
    """There is no shell to split a text."""
    assert revealed({**BASE, "token_command": command}) == "tkn"


@pytest.mark.parametrize(
    "command", ["printf tkn_canary", "", [], [""], ["printf", 5], {"a": "tkn_canary"}, "[tkn_canary"]
)
def test_another_kind_of_command_is_refused_with_the_fix(command):
    """The text may be the token itself."""
    with pytest.raises(ConfigError, match="`token_command`") as caught:
        load({**BASE, "token_command": command}, environ={})
    assert "canary" not in str(caught.value)


AUTHS = [
    {"type": "api_key", "apiKey": "tkn"},
    {"type": "API-KEY", "api_key": "tkn"},
    {"type": "apiKey", "apikey": "tkn\n"},
    {"apiKey": "tkn"},
]


@pytest.mark.parametrize("auth", AUTHS)
def test_auth_is_taken_as_upstream_takes_it(auth):
    """And without its type, which upstream ignores in silence."""
    assert revealed({**BASE, "auth": auth}) == "tkn"


BAD_AUTHS = [
    ({"type": "api_key"}, "holds no apiKey"),
    ({"type": "api_key", "apiKey": None}, "holds no apiKey"),
    ({"type": "api_key", "apiKey": ""}, "is empty"),
    ({"type": "jwt", "apiKey": "tkn_canary"}, "token_command"),
    ({"type": "my.Provider", "apiKey": "tkn_canary"}, "token_command"),
    ({"type": 5, "apiKey": "tkn_canary"}, "must be api_key"),
    ("tkn_canary", "no JSON"),
    (["tkn_canary"], "must be a mapping"),
    ({"type": "api_key", "apiKey": "tkn canary"}, "a space"),
]


@pytest.mark.parametrize(("auth", "told"), BAD_AUTHS)
def test_another_auth_is_refused_with_the_fix(auth, told):
    """Upstream's providers that fetch a token are a command's work here."""
    with pytest.raises(ConfigError, match="auth") as caught:
        load({**BASE, "auth": auth}, environ={})
    assert told in str(caught.value)
    assert "canary" not in str(caught.value)


def test_an_empty_auth_is_none():
    """Upstream's default."""
    assert (
        load({"destination": "openlineage", "url": "https://h", "auth": {}}, environ={}).destinations[0].token_source
        is None
    )


def test_an_airflow_connection_needs_airflow(monkeypatch):
    """The integration registers how it is resolved; without it the message says so."""
    monkeypatch.setattr(tokens, "_factories", {})
    with pytest.raises(
        ConfigError, match=r"`airflow_conn_id` works only where Airflow .* truewatch-lineage\[airflow\]"
    ):
        load({**BASE, "airflow_conn_id": "prod"}, environ={})
    tokens.register_token_source("airflow_conn_id", lambda text: StaticToken(Token.parse(f"of-{text}")))
    assert revealed({**BASE, "airflow_conn_id": "prod"}) == "of-prod"


def test_files_variables_and_commands_are_read_at_first_use_only(tmp_path):
    """A secret may be mounted after the start, and a courier may be the only one that has it."""
    for written in ({"token_file": str(tmp_path / "t")}, {"token_env": "X"}, {"token_command": ["nowhere"]}):
        source = load({**BASE, **written}, environ={}).destinations[0].token_source
        with pytest.raises(TokenError):
            source.get()
