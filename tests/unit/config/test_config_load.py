"""The rules between settings, the defaults that depend on the machine, and the switches."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from truewatch_lineage.config import KEYS, load
from truewatch_lineage.errors import ConfigError

BASE = {"url": "https://h", "token": "tkn_base_token"}


def one(params, environ=None):
    """Load and return the only destination."""
    (destination,) = load(params, environ=environ or {}).destinations
    return destination


def test_the_defaults_are_the_designs(monkeypatch, tmp_path):
    """Section 3's tables."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    settings = load(BASE, environ={})
    assert (settings.delivery, settings.delivery_budget, settings.exit_budget) == ("auto", 2, 5)
    assert (settings.spool_max_bytes, settings.durability, settings.receipts_days) == (None, "power", 7)
    assert (settings.redact, settings.enabled, settings.spark_inject, settings.disabled) == ((), True, False, False)
    assert settings.spool_dir.is_relative_to(tmp_path)
    assert settings.spool_dir.name == "truewatch-lineage"
    (destination,) = settings.destinations
    assert (destination.name, destination.profile.kind) == ("default", "dataway")
    assert destination.url == "https://h/v1/write/openlineage"
    assert (destination.auth_method, destination.compression, destination.timeout) == ("bearer", "gzip", 10)
    assert (destination.oversize, destination.concurrency, destination.allow_insecure_http) == ("trim", None, False)
    assert set(settings.origins) >= {name for name, key in KEYS.items() if key.scope == "settings"}


KINDS = [
    ({"destination": "dataway", **BASE}, "https://h/v1/write/openlineage", "gzip"),
    ({"destination": "portal", **BASE}, "https://h/api/data-registry/lineage", "none"),
    ({"destination": "portal", "compression": "gzip", **BASE}, "https://h/api/data-registry/lineage", "gzip"),
    ({"destination": "openlineage", "url": "https://h"}, "https://h/api/v1/lineage", "gzip"),
    ({"destination": "datakit"}, "http://127.0.0.1:9529/openlineage/api/v1/lineage", "gzip"),
    ({"destination": "datakit", "url": "http://dk:9529"}, "http://dk:9529/openlineage/api/v1/lineage", "gzip"),
    ({"endpoint": "/openlineage/api/v1/lineage"}, "http://127.0.0.1:9529/openlineage/api/v1/lineage", "gzip"),
    ({"endpoint": "/api/data-registry/lineage", **BASE}, "https://h/api/data-registry/lineage", "none"),
]


@pytest.mark.parametrize(("params", "url", "compression"), KINDS)
def test_each_kind_has_its_endpoint_and_compression(params, url, compression):
    """DataKit listens on loopback; Portal's page does not mention gzip."""
    destination = one(params)
    assert (destination.url, destination.compression) == (url, compression)


@pytest.mark.parametrize("source", [{"token": "tkn"}, {"token_file": "/x"}, {"auth": {"apiKey": "x"}}, {"token": 5}])
def test_datakit_is_sent_no_token_and_says_so(source):
    """T: a client's credentials cannot override DataKit's own."""
    settings = load({"destination": "datakit", **source}, environ={})
    assert settings.destinations[0].token_source is None
    assert "is sent no token" in settings.notices[0]


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({}, "No destination is set. Set url and a token"),
        ({"destination": "dataway"}, "TrueWatch DataWay needs a url, and none is set. Set url"),
        ({"url": "https://h"}, "TrueWatch DataWay needs a token, and none is set. Set token_file"),
        ({"destinations": {}}, "No destination is set"),
        ({"delivery": "inline"}, "No destination is set"),
    ],
)
def test_what_is_missing_is_named_with_how_to_set_it(params, told):
    """The first thing a new user sees."""
    with pytest.raises(ConfigError, match="TRUEWATCH_LINEAGE_") as caught:
        load(params, environ={})
    assert told in str(caught.value)


def test_what_a_named_destination_lacks_is_to_be_set_in_it():
    """A variable for all of them can't stand beside names."""
    with pytest.raises(ConfigError, match=r"`p`: Spotify Portal needs a token.* in destinations\.p\.") as caught:
        load({"destinations": {"p": {"destination": "portal", "url": "https://h"}}}, environ={})
    assert "TRUEWATCH_LINEAGE_" not in str(caught.value)


def test_a_misspelt_variable_is_told_also_where_something_is_missing(caplog):
    """It may be the very thing."""
    with pytest.raises(ConfigError, match="needs a token"):
        load({"url": "https://h"}, environ={"TRUEWATCH_LINEAGE_TOKEN_FYLE": "/x"})
    assert "Did you mean TRUEWATCH_LINEAGE_TOKEN_FILE?" in caplog.text


def test_who_only_spools_needs_no_token():
    """The courier has it."""
    assert one({"delivery": "spool", "url": "https://h"}).token_source is None


def test_a_command_that_only_looks_at_the_spool_needs_no_destination():
    """``spool status`` works in a shell without the token."""
    settings = load({"url": "https://h", "spool_dir": "/spool"}, environ={}, need_destination=False)
    assert (settings.destinations, settings.spool_dir) == ((), Path("/spool"))
    assert load(environ={}, need_destination=False).destinations == ()


@pytest.mark.parametrize("value", ["1", "true", "YES", "On", "t", " true "])
@pytest.mark.parametrize("variable", ["OPENLINEAGE_DISABLED", "TRUEWATCH_LINEAGE_DISABLED"])
def test_the_switch_works_in_any_spelling_and_whatever_else_is_wrong(variable, value):
    """Nobody wants to mend a url first."""
    settings = load({"url": "nonsense"}, environ={variable: value})
    assert settings.disabled
    assert settings.destinations == ()


@pytest.mark.parametrize("value", ["0", "false", "no", "off", "f", "", "maybe"])
def test_other_words_do_not_disable(value):
    """OpenLineage's own variable may hold anything."""
    assert not load(BASE, environ={"OPENLINEAGE_DISABLED": value}).disabled


@pytest.mark.parametrize(
    ("ci", "budget"), [("true", 30), ("1", 30), ("woodpecker", 30), ("", 5), ("false", 5), ("0", 5)]
)
def test_ci_gets_more_time_at_exit(ci, budget):
    """Nobody waits at its prompt, and the machine is gone afterwards."""
    assert load(BASE, environ={"CI": ci}).exit_budget == budget
    assert load({**BASE, "exit_budget": "1s"}, environ={"CI": ci}).exit_budget == 1


@pytest.mark.parametrize(("home", "folder"), [("/opt/airflow", "/opt/airflow"), ("", "~/airflow")])
def test_in_airflow_the_spool_is_in_its_home(monkeypatch, home, folder):
    """Every Airflow process shares that folder."""
    monkeypatch.setitem(sys.modules, "airflow", sys)
    expected = Path(folder).expanduser() / "truewatch-lineage"
    assert load(BASE, environ={"AIRFLOW_HOME": home}).spool_dir == expected


def test_in_airflow_the_spool_stays_where_airflow_had_its_home_when_it_was_loaded(monkeypatch):
    """A task may change its variables, and its last event goes where its first one went."""
    monkeypatch.setitem(sys.modules, "airflow", sys)
    monkeypatch.setitem(sys.modules, "airflow.configuration", SimpleNamespace(AIRFLOW_HOME="/opt/airflow"))
    for environ in ({}, {"AIRFLOW_HOME": "/elsewhere"}, {"HOME": "/tmp/dbt"}):
        assert load(BASE, environ=environ).spool_dir == Path("/opt/airflow/truewatch-lineage")


INSECURE = [
    ("http://h", {}, False),
    ("http://10.0.0.1:8000", {"token_file": "/x"}, False),
    ("http://localhost.evil.example", {}, False),
    ("http://h", {"allow_insecure_http": "true"}, True),
    ("http://127.0.0.1:8000", {}, True),
    ("http://127.8.8.8", {}, True),
    ("http://localhost", {}, True),
    ("http://[::1]:80", {}, True),
    ("https://h", {}, True),
]


@pytest.mark.parametrize(("url", "more", "allowed"), INSECURE)
def test_a_token_does_not_leave_in_the_clear(url, more, allowed):
    """Unless the network itself is said to be safe."""
    params = {"url": url, **({} if "token_file" in more else {"token": "tkn_canary"}), **more}
    if allowed:
        assert one(params).url.startswith(url)
        return
    with pytest.raises(ConfigError, match=r"`url` would send the token unencrypted.*allow_insecure_http"):
        one(params)


def test_plain_http_without_a_token_is_no_matter():
    """There is nothing to steal."""
    assert one({"destination": "openlineage", "url": "http://h"}).url == "http://h/api/v1/lineage"


def test_a_token_in_the_query_must_be_allowed():
    """It is written to every log on the way."""
    with pytest.raises(ConfigError, match=r"`auth_method` can't be query unless allow_query_token is true"):
        one({**BASE, "auth_method": "query"})
    assert one({**BASE, "auth_method": "query", "allow_query_token": "yes"}).auth_method == "query"
    assert one({**BASE, "auth_method": "X-Token"}).auth_method == "x_token"


def test_files_are_checked_when_the_settings_are_read(tmp_path):
    """A wrong path is told at once, with its key."""
    (tmp_path / "cert.pem").write_text("x")
    with pytest.raises(ConfigError, match="`ca_file` is no file that can be read"):
        one({**BASE, "ca_file": str(tmp_path / "missing.pem")})
    with pytest.raises(ConfigError, match="`client_key` needs client_cert"):
        one({**BASE, "client_key": str(tmp_path / "cert.pem")})
    assert one({**BASE, "client_cert": str(tmp_path / "cert.pem")}).client_cert == tmp_path / "cert.pem"


@pytest.mark.parametrize("wrap", [lambda tree: tree, lambda tree: __import__("json").dumps(tree)], ids=["tree", "text"])
def test_match_and_maps_are_read_from_trees_and_texts(wrap):
    """A variable can hold them too."""
    destination = one(
        {
            **BASE,
            "match": wrap({"drop": [{"job": "a/*"}]}),
            "map_namespaces": wrap({"a": "b"}),
            "map_names": wrap([{"namespace": "x", "name": "y", "to_namespace": "z", "to_name": "w"}]),
        }
    )
    assert destination.match is not None
    assert destination.mapper is not None


@pytest.mark.parametrize("key", ["match", "map_namespaces", "map_names"])
def test_a_broken_match_or_map_tells_where_it_was_written(key):
    """The module that reads it does not know."""
    with pytest.raises(ConfigError, match="from environment variable TRUEWATCH_LINEAGE_"):
        one(BASE, {KEYS[key].variable: "5"})


def test_several_destinations_keep_their_order_and_settings():
    """One event goes to all of them."""
    first, second = load(
        {"destinations": {"tw": BASE, "dk": {"destination": "datakit", "excludeFacets": "sql"}}}, environ={}
    ).destinations
    assert (first.name, second.name) == ("tw", "dk")
    assert (first.exclude_facets, second.exclude_facets) == ((), ("sql",))


def test_the_seeds_own_settings_work_as_they_stand():
    """T: the transport dict of the Airflow and Python sections, but for its type."""
    seed = {
        "type": "truewatch_lineage.TrueWatchTransport",
        "url": "https://openway.truewatch.com",
        "endpoint": "/v1/write/openlineage",
        "auth": {"type": "api_key", "apiKey": "tkn_workspace"},
        "compression": "gzip",
        "retry": {"total": 5, "status_forcelist": [429, 500], "allowed_methods": ["POST"]},
    }
    destination = one(seed)
    assert destination.url == "https://openway.truewatch.com/v1/write/openlineage"
    assert destination.token_source.get().reveal() == "tkn_workspace"


def test_each_notice_is_logged_once_a_process(caplog):
    """A transport is built for every task."""
    for _ in range(2):
        load({**BASE, "retry": {"only": "here"}}, environ={}, params_name="this test's settings")
    assert len([record for record in caplog.records if "this test's settings" in record.getMessage()]) == 1


def test_a_user_without_a_home_is_told_to_set_the_folder(monkeypatch):
    """Containers run under numbers nobody knows."""
    monkeypatch.setattr(Path, "expanduser", lambda _: (_ for _ in ()).throw(RuntimeError))
    with pytest.raises(ConfigError, match="spool_dir"):
        load(BASE, environ={})


SLOW = ("subprocess", "tomllib", "platformdirs", "difflib", "openlineage", "urllib3", "ssl")


def test_reading_plain_settings_imports_nothing_slow():
    """Every Airflow process pays for it."""
    code = (
        "import sys; from truewatch_lineage.config import load;"
        "load({'url': 'https://h', 'token': 'tkn', 'spool_dir': '/x'}, environ={});"
        f"print([name for name in {SLOW!r} if name in sys.modules])"
    )
    child = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert child.stdout.strip() == "[]"
