"""What a message names: the file, the place in a list, the variable, the setting that is at fault."""

import pytest

from truewatch_lineage.cli import gateway
from truewatch_lineage.config import load
from truewatch_lineage.destinations.tokens import EnvToken
from truewatch_lineage.errors import ConfigError, TokenError

BASE = {"url": "https://h.example", "token": "tkn_base"}


def _error(params, environ=None):
    with pytest.raises(ConfigError) as caught:
        load(params, environ=environ or {})
    return str(caught.value)


def test_a_wrong_regular_expression_is_named_by_its_place():
    """Its text may be a secret, so it is not shown."""
    text = _error({**BASE, "redact": ["fine", "secret[", "x"]})

    assert "`redact[1]`: see its character 7" in text
    assert "secret" not in text


def test_a_wrong_name_of_a_destination_is_shown():
    """Cut where it is long."""
    assert "holds the name 'a b', which no destination can have" in _error({"destinations": {"a b": BASE}})
    assert len(_error({"destinations": {"x" * 5000: BASE}})) < 300


@pytest.mark.parametrize("name", ["nowhere.toml", "/nowhere/x.toml"])
def test_a_settings_file_that_is_not_there_is_named(name):
    """As it was written."""
    text = _error({}, {"TRUEWATCH_LINEAGE_CONFIG": name})

    assert f"The settings file {name} can't be read: No such file or directory" in text


def test_a_table_of_the_kinds_name_is_told_from_the_table_of_destinations(tmp_path):
    """``[destination.a]`` lacks an s."""
    file = tmp_path / "lineage.toml"
    file.write_text('[destination.a]\nurl = "https://h.example"\n', encoding="utf-8")

    text = _error({}, {"TRUEWATCH_LINEAGE_CONFIG": str(file)})

    assert "named destinations are in `destinations`" in text
    assert "Write [destinations.NAME]." in text


@pytest.mark.parametrize(("variable", "meant"), [("ULR", "URL"), ("TOKENFIEL", "TOKEN_FILE"), ("NAME", "DESTINATIONS")])
def test_an_unknown_variable_is_told_with_the_nearest_variable(variable, meant):
    """Not with the key of a file."""
    (notice,) = load(BASE, environ={f"TRUEWATCH_LINEAGE_{variable}": "x"}).notices

    assert notice.endswith(f"Did you mean TRUEWATCH_LINEAGE_{meant}?")


@pytest.mark.parametrize("name", ["tls_cert", "NO_TOKEN", "kafka-bootstrap", "topic"])
def test_an_option_of_the_gateway_is_told_from_a_setting(name):
    """In a variable as in a file, and it is one that the command has."""
    assert f"--{name.lower().replace('_', '-')}" in {flag for option in gateway.command.params for flag in option.opts}
    said = f"an option of `truewatch-lineage gateway`: --{name.lower().replace('_', '-')}."
    (notice,) = load(BASE, environ={f"TRUEWATCH_LINEAGE_{name.upper().replace('-', '_')}": "x"}).notices
    assert said in notice
    with pytest.raises(ConfigError, match="Unknown setting") as caught:
        load({**BASE, name: "x"}, environ={})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("PORTAL_TOKEN", True), ("TOKEN", True), ("TW2_TOKEN_1", True), ("tkn_0123456789ab", False), ("A1B2C3D4", False)],
)
def test_a_variable_that_is_not_set_is_named_where_its_name_is_one(name, shown):
    """A token that was written in the place of the name is not."""
    source = EnvToken(name, {})
    with pytest.raises(TokenError, match="is not set") as caught:
        source.get()

    assert (name in f"{caught.value} {source.describe()} {source!r}") is shown


@pytest.mark.parametrize("name", ["certs/ca.pem", "./certs/ca.pem"])
def test_a_relative_path_in_a_file_of_settings_starts_from_its_folder(tmp_path, monkeypatch, name):
    """For every path, also inside of a destination; one in a variable starts from the working folder."""
    (tmp_path / "settings" / "certs").mkdir(parents=True)
    (tmp_path / "settings" / "certs" / "ca.pem").touch()
    file = tmp_path / "settings" / "lineage.toml"
    file.write_text(
        f'spool_dir = "spool"\n[destinations.a]\nurl = "https://h"\nca_file = "{name}"\ntoken_file = "token"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)

    settings = load({}, environ={"TRUEWATCH_LINEAGE_CONFIG": "settings/lineage.toml"})

    assert settings.spool_dir == tmp_path / "settings" / "spool"
    assert settings.destinations[0].ca_file == tmp_path / "settings" / "certs" / "ca.pem"
    assert settings.destinations[0].token_source.path == tmp_path / "settings" / "token"
    by_variable = load(BASE, environ={"TRUEWATCH_LINEAGE_SPOOL_DIR": "spool"})
    assert by_variable.spool_dir == tmp_path / "spool"


@pytest.mark.parametrize(
    ("endpoint", "blamed"),
    [(None, "Check the url"), ("/v1/write/openlineage", "Check the url"), ("/v1/x", "Check the endpoint")],
)
def test_what_answers_nothing_is_blamed_on_what_was_set(endpoint, blamed):
    """An endpoint of the user's own is the more likely mistake than the url."""
    params = BASE if endpoint is None else {**BASE, "destination": "dataway", "endpoint": endpoint}

    assert blamed in load(params, environ={}).destinations[0].profile.missing
