"""Which level wins, key by key, and tokens whole."""

import logging

import pytest

from truewatch_lineage.config import KEYS, Layer, load
from truewatch_lineage.errors import ConfigError

LEVELS = ("dict", "environment", "layer one", "layer two", "file")


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Load from all levels at once, each given as a dict of flat settings."""
    monkeypatch.setattr("truewatch_lineage.config.loading._said", set())

    def _read(levels, **options):
        file = tmp_path / "settings.toml"
        file.write_text(
            "".join(f"{key} = {value!r}\n" for key, value in levels.get("file", {}).items()).replace("True", "true")
        )
        environ = {
            f"TRUEWATCH_LINEAGE_{key.upper()}": str(value) for key, value in levels.get("environment", {}).items()
        }
        layers = [Layer(name, levels[name]) for name in LEVELS[2:4] if name in levels]
        return load(
            levels.get("dict"), environ={**environ, "TRUEWATCH_LINEAGE_CONFIG": str(file)}, layers=layers, **options
        )

    return _read


@pytest.mark.parametrize("first", range(len(LEVELS)))
def test_the_highest_level_that_has_a_key_wins(read, first):
    """Dict, variables, what integrations hand in, file."""
    base = {"url": "https://h", "token": "tkn_base"}
    given = {name: {"timeout": 10 + index} for index, name in enumerate(LEVELS) if index >= first}
    given["file"] |= base
    settings = read(given)
    assert settings.destinations[0].timeout == 10 + first
    expected = {"dict": "the transport's settings", "environment": "environment variable TRUEWATCH_LINEAGE_TIMEOUT"}
    assert settings.origins["default.timeout"].startswith(expected.get(LEVELS[first], LEVELS[first]))
    assert settings.origins["default.oversize"] == "default"


def test_keys_of_all_levels_are_put_together(read):
    """Each key has its own way."""
    settings = read(
        {
            "dict": {"timeout": 1},
            "environment": {"url": "https://env"},
            "layer one": {"compression": "none"},
            "layer two": {"compression": "gzip", "token": "tkn_two"},
            "file": {"url": "https://file", "spool_dir": "/spool"},
        }
    )
    (destination,) = settings.destinations
    assert (destination.url, destination.timeout) == ("https://env/v1/write/openlineage", 1)
    assert (destination.compression, str(settings.spool_dir)) == ("none", "/spool")
    assert destination.token_source.get().reveal() == "tkn_two"


@pytest.mark.parametrize("upper", range(4))
def test_the_highest_token_hides_every_other_source(read, upper):
    """A file's ``token_file`` never mixes with a variable's token: the wrong workspace could get the lineage."""
    given = {name: {"token_file": "/nowhere"} for name in LEVELS[upper + 1 :]}
    given[LEVELS[upper]] = {"token": "tkn_upper"}
    given.setdefault("dict", {})["url"] = "https://h"
    settings = read(given)
    assert settings.destinations[0].token_source.get().reveal() == "tkn_upper"
    assert "default.token_file" not in settings.origins


@pytest.mark.parametrize("level", LEVELS[:4])
def test_two_sources_of_one_token_in_a_level_are_refused(read, level):
    """Which one counts would be a guess."""
    with pytest.raises(ConfigError, match="`token` and `token_file` name the token twice"):
        read({level: {"token": "tkn_canary", "token_file": "/x"}})


def test_named_destinations_are_merged_by_name():
    """The secret may come by variable, the rest by file."""
    settings = load(
        {"destinations": {"a": {"timeout": 3}, "b": {"destination": "datakit"}}},
        environ={
            "TRUEWATCH_LINEAGE_DESTINATIONS": '{"a": {"token": "true", "timeout": 9}, "c": {"destination": "datakit"}}'
        },
        layers=[Layer("below", {"destinations": {"a": {"url": "https://a", "token_file": "/x"}}})],
    )
    a, b, c = settings.destinations
    assert (a.name, a.url, a.timeout) == ("a", "https://a/v1/write/openlineage", 3)
    assert a.token_source.get().reveal() == "true"
    assert (b.name, c.name) == ("b", "c")
    assert settings.origins["a.token"] == "environment variable TRUEWATCH_LINEAGE_DESTINATIONS"
    assert settings.origins["a.url"] == "below"


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("key", ["url", "token", "timeout"])
def test_flat_and_named_destinations_do_not_mix(key, above):
    """The message names both levels; a token can't reach the wrong place."""
    flat, named = {key: "5"}, {"destinations": {"a": {"destination": "datakit"}}}
    with pytest.raises(ConfigError) as caught:
        load(flat if above else named, environ={}, layers=[Layer("file below", named if above else flat)])
    assert "the transport's settings" in str(caught.value)
    assert "file below" in str(caught.value)


def test_flat_and_named_in_one_level_do_not_mix_either():
    """Nor over the environment."""
    environ = {"TRUEWATCH_LINEAGE_TOKEN": "tkn_canary", "TRUEWATCH_LINEAGE_DESTINATIONS": '{"a": {"url": "https://a"}}'}
    with pytest.raises(ConfigError, match=r"TRUEWATCH_LINEAGE_TOKEN.*TRUEWATCH_LINEAGE_DESTINATIONS") as caught:
        load(environ=environ)
    assert "canary" not in str(caught.value)


def test_settings_of_the_whole_stand_beside_named_destinations():
    """They are not flat settings of a destination."""
    settings = load({"delivery": "inline", "destinations": {"k": {"destination": "datakit"}}}, environ={})
    assert (settings.delivery, settings.destinations[0].name) == ("inline", "k")


@pytest.mark.parametrize("name", ["transport", "kafka_url", "endpont"])
def test_an_unknown_variable_is_one_warning_a_process(name, caplog, monkeypatch):
    """It may be another version's; its value is not shown."""
    monkeypatch.setattr("truewatch_lineage.config.loading._said", set())
    environ = {f"TRUEWATCH_LINEAGE_{name.upper()}": "tkn_canary", "TRUEWATCH_LINEAGE_DESTINATION": "datakit"}
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            settings = load(environ=environ)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"TRUEWATCH_LINEAGE_{name.upper()}" in record.getMessage()
    assert "canary" not in caplog.text
    assert settings.notices == (record.getMessage(),)


INJECTED = ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8765_TCP", "PORT_8765_TCP_ADDR",
            "GATEWAY_SERVICE_HOST", "GATEWAY_PORT_80_TCP_PROTO", "CONFIG", "DBT_PLUGIN"]  # fmt: skip


@pytest.mark.parametrize("name", INJECTED)
def test_what_kubernetes_injects_and_our_own_switches_are_no_settings(name):
    """A service called ``truewatch-lineage`` must not warn every job."""
    environ = {f"TRUEWATCH_LINEAGE_{name}": "", "TRUEWATCH_LINEAGE_DESTINATION": "datakit"}
    assert load(environ=environ).notices == ()


@pytest.mark.parametrize("key", [key for key in KEYS.values() if key.name != "destination"], ids=lambda key: key.name)
def test_an_empty_variable_is_not_set_unless_it_names_a_token(key):
    """``${X:-}`` in a compose file leaves it empty; an empty token is a secret that failed to arrive."""
    environ = {"TRUEWATCH_LINEAGE_DESTINATION": "openlineage", "TRUEWATCH_LINEAGE_URL": "https://h", key.variable: ""}
    if key.name == "url":
        environ["TRUEWATCH_LINEAGE_DESTINATION"] = "datakit"
    if "token" not in key.name.split("_") and key.name not in ("airflow_conn_id", "auth"):
        assert load(environ=environ).destinations
    elif key.name != "allow_query_token":
        with pytest.raises(ConfigError, match=key.name):
            load(environ=environ)


def test_two_variables_for_one_key_are_refused():
    """An alias and the name itself."""
    with pytest.raises(ConfigError, match="say"):
        load(environ={"TRUEWATCH_LINEAGE_API_KEY": "a", "TRUEWATCH_LINEAGE_TOKEN": "b"})


BROKEN_FILES = [
    (b"url = ", "at end of document"),
    (b"token = tkn_canary", "at line 1, column"),
    (b"\xff\xfe", "not UTF-8"),
    (b"[destinations.a]\ntoken = 'tkn_canary'\n[destinations.a]\n", "at line 3"),
    (b"endpont = 'tkn_canary'", "Did you mean endpoint?"),
    (b"[destinations.a]\nendpont = 'tkn_canary'", "destinations.a.endpont"),
    (b"destination = 'openlineage'\ntimeout = 2020-01-01", "`timeout` must be a number"),
    (b"token = 12345", "The token of `token` is no text but of type int"),
]


@pytest.mark.parametrize(("text", "told"), BROKEN_FILES)
def test_a_broken_file_is_refused_with_its_place_and_without_its_text(tmp_path, text, told):
    """It may hold a token."""
    (tmp_path / "x.toml").write_bytes(text)
    with pytest.raises(ConfigError) as caught:
        load(
            {"url": "https://h"} if b"destinations" not in text else {},
            environ={"TRUEWATCH_LINEAGE_CONFIG": str(tmp_path / "x.toml")},
        )
    assert told in str(caught.value)
    assert f"file {tmp_path / 'x.toml'}" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", ["/nowhere/x.toml", "/", "~nobody-of-that-name/x"])
def test_a_file_that_can_not_be_read_is_an_error(name):
    """It was named, so it was meant."""
    with pytest.raises(ConfigError, match=rf"The settings file {name} can't be read.*TRUEWATCH_LINEAGE_CONFIG"):
        load(environ={"TRUEWATCH_LINEAGE_CONFIG": name})


def test_a_file_holds_tables_of_destinations(tmp_path):
    """As TOML writes them; a byte-order mark does no harm."""
    (tmp_path / "x.toml").write_text(
        '\ufeffdelivery = "inline"\n[destinations.tw]\nurl = "https://h"\ntoken-file = "/x"\n'
        '[destinations.tw.match]\nkeep = [{job = "a/*"}]\n'
    )
    settings = load(environ={"TRUEWATCH_LINEAGE_CONFIG": str(tmp_path / "x.toml")})
    assert settings.delivery == "inline"
    assert settings.destinations[0].match is not None


def test_the_highest_level_can_be_named_by_its_caller():
    """On the command line it is no transport."""
    with pytest.raises(ConfigError, match=r"\(from the command line\)"):
        load({"endpont": "x"}, environ={}, params_name="the command line")
