"""Every spelling of every key, other clients' keys, and what is said of unknown ones."""

import pytest

from truewatch_lineage.config import KEYS, load
from truewatch_lineage.config.keys import TOKEN_KEYS
from truewatch_lineage.errors import ConfigError

BASE = {"url": "https://h", "token": "tkn_base_token"}
SAMPLES = {
    "flag": True, "seconds": 3, "days": 3, "bytes": 3, "integer": 3, "path": "/x", "names": ["a"],
    "patterns": ["a+"], "headers": {"X-A": "b"}, "secret": "tkn", "command": ["echo", "tkn"], "auth": {"apiKey": "tkn"},
}  # fmt: skip
SPECIAL = {
    "url": "https://h",
    "endpoint": "/x",
    "token_env": "X",
    "proxy": "http://p:1",
    "match": {},
    "map_namespaces": {"a": "b"},
    "map_names": [],
}
NEEDS_MORE = {"airflow_conn_id", "client_key"}


def sample(key, tmp_path):
    """Give a legal value for ``key``."""
    if key.kind == "existing_file":
        (tmp_path / "x.pem").write_text("x")
        return str(tmp_path / "x.pem")
    return SPECIAL.get(key.name, key.choices[0] if key.choices else SAMPLES.get(key.kind))


def camel(name):
    """Spell a name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


SPELLINGS = {
    "snake_case": str,
    "camelCase": camel,
    "hyphen": lambda name: name.replace("_", "-"),
    "run together": lambda name: name.replace("_", ""),
    "upper": str.upper,
}
NAMES = [(key.name, name) for key in KEYS.values() for name in (key.name, *key.aliases) if key.name not in NEEDS_MORE]


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize(("name", "written"), NAMES)
def test_every_key_is_taken_in_every_spelling(name, written, spell, tmp_path):
    """A flat key, an alias included; what it came from is told under its own name."""
    key = KEYS[name]
    base = {"url": "https://h"} if name in TOKEN_KEYS else BASE
    params = {kept: value for kept, value in base.items() if kept != name} | {spell(written): sample(key, tmp_path)}
    settings = load(params, environ={})
    origin = f"default.{name}" if key.scope == "destination" else name
    if not settings.disabled:
        assert settings.origins[origin] == "the transport's settings"


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_destinations_take_every_spelling_inside_too(spell):
    """Names of destinations keep their own spelling."""
    inner = {spell("token_env"): "X", spell("url"): "https://h"}
    assert load({spell("destinations"): {"My_Place": inner}}, environ={}).destinations[0].name == "My_Place"


CONVERTED = [
    ({"timeoutInMillis": 2500}, "timeout", 2.5),
    ({"timeoutinmillis": "100"}, "timeout", 0.1),
    ({"timeout_in_millis": 100}, "timeout", 0.1),
    ({"customHeaders": {"X-A": "b"}}, "headers", {"X-A": "b"}),
    ({"maxConcurrentRequests": 16}, "concurrency", 16),
    ({"compression": "GZIP"}, "compression", "gzip"),
]


@pytest.mark.parametrize(("written", "field", "value"), CONVERTED)
def test_other_clients_keys_mean_the_same(written, field, value):
    """The Java client's milliseconds included."""
    assert getattr(load({**BASE, **written}, environ={}).destinations[0], field) == value


@pytest.mark.parametrize("name", ["sslContext", "ssl_context", "sslcontext"])
def test_the_ssl_context_of_other_clients_is_taken(name, tmp_path):
    """All three files, in all their spellings."""
    for file in ("ca", "cert", "key"):
        (tmp_path / file).write_text("x")
    parts = {
        "caCertPath": tmp_path / "ca",
        "client_cert_path": tmp_path / "cert",
        "clientkeypath": str(tmp_path / "key"),
    }
    (destination,) = load({**BASE, name: parts}, environ={}).destinations
    files = (destination.ca_file, destination.client_cert, destination.client_key)
    assert files == (tmp_path / "ca", tmp_path / "cert", tmp_path / "key")


WITHOUT_EFFECT = [
    ({"retry": {"total": 5}}, "retries are built in"),
    ({"maxRetries": 5}, "retries are built in"),
    ({"verify": True}, "certificates are always checked"),
    ({"verify": "True"}, "certificates are always checked"),
    ({"max_queue_size": 10}, "spool_max_bytes"),
    ({"urlParams": {}}, "it is empty"),
]


@pytest.mark.parametrize(("written", "told"), WITHOUT_EFFECT)
def test_what_has_no_effect_is_accepted_with_a_notice(written, told):
    """A setting copied from another client does not stop a job."""
    (notice,) = load({**BASE, **written}, environ={}).notices
    assert next(iter(written)) in notice
    assert told in notice


@pytest.mark.parametrize("name", ["type", "TYPE", "priority"])
def test_what_the_factory_reads_is_ignored(name):
    """OpenLineage hands the whole dict on."""
    assert load({**BASE, name: "truewatch_lineage.TrueWatchTransport"}, environ={}).notices == ()


@pytest.mark.parametrize(
    "name", [*(name for _, name in NAMES), "verify", "retry", "sslContext", "timeoutInMillis", "urlParams"]
)
def test_none_is_as_good_as_absent(name):
    """``os.environ.get`` gives it for what is not set."""
    params = {"url": "https://h", name: None}
    if name != "url":
        assert load({**params, "destination": "datakit"} if name != "destination" else {**BASE, name: None}, environ={})


REFUSED = [
    ({"endpont": "/x"}, "`endpont`", "endpoint"),
    ({"tocken": "canary"}, "`tocken`", "token"),
    ({"api_keys": "canary"}, "`api_keys`", "token"),
    ({"header": {"X-A": "canary"}}, "`header`", "headers"),
    ({"spoolDirectory": "canary"}, "`spoolDirectory`", "spool_dir"),
    ({"name": "canary"}, "`name`", "destinations"),
    ({"transports": {}}, "`transports`", "destinations"),
    ({"kind": "canary"}, "`kind`", "destination"),
    ({"xyzzy": "canary"}, "`xyzzy`", "Known are: delivery"),
    ({5: "canary"}, "`5`", "Known are"),
    ({"auth": {"type": "api_key", "token": "canary"}}, "`auth.token`", "apiKey"),
    ({"auth": {"typ": "api_key", "apiKey": "canary"}}, "`auth.typ`", "type"),
    ({"auth": {"conn_id": "canary"}}, "`auth.conn_id`", "airflow_conn_id"),
    ({"auth": {"type": "airflow_connection_api_key", "connid": "canary", "extra": 1}}, "`auth.extra`", "extra_key"),
    ({"auth": {"type": "airflow_connection_api_key"}}, "`auth`", "conn_id: <connection>"),
    ({"sslContext": {"caCert": "canary"}}, "`sslContext.caCert`", "caCertPath"),
    ({"verify": False}, "`verify` can't be false", "ca_file"),
    ({"verify": "no"}, "`verify` can't be false", "ca_file"),
    ({"verify": "/canary.pem"}, "`verify`", "true or false"),
    ({"urlParams": {"token": "canary"}}, "`urlParams` holds a token", "token_file"),
    ({"url_params": '{"apiKey": "canary"}'}, "`url_params` holds a token", "token_file"),
    ({"urlParams": {"a": "canary"}}, "`urlParams`", "no destination takes a query"),
    ({"match": {"kep": []}}, "kep", "keep"),
    ({"match": {"keep": [{"jobs": "canary"}]}}, "jobs", "job"),
]


@pytest.mark.parametrize(("written", "named", "nearest"), REFUSED)
def test_an_unknown_or_refused_key_names_itself_and_the_nearest(written, named, nearest):
    """Case 09: nothing is dropped in silence; values are never shown."""
    with pytest.raises(ConfigError) as caught:
        load({"url": "https://h", **({} if "auth" in written else {"token": "t"}), **written}, environ={})
    assert named in str(caught.value)
    assert nearest in str(caught.value)
    assert "the transport's settings" in str(caught.value)
    assert "canary" not in str(caught.value)


NESTED = [
    ({"endpont": "/x"}, "`destinations.prod.endpont`", "Did you mean endpoint?"),
    ({"type": "datakit"}, "`destinations.prod.type`", "Did you mean destination?"),
    ({"delivery": "inline"}, "`destinations.prod.delivery`", "outside of destinations"),
    ({"destinations": {}}, "`destinations.prod.destinations`", "Did you mean destination?"),
    ("canary", "`destinations.prod`", "must be a mapping"),
]


@pytest.mark.parametrize(("inner", "named", "told"), NESTED)
def test_an_unknown_key_inside_a_named_destination_is_told_with_its_way(inner, named, told):
    """So that it is found among many."""
    with pytest.raises(ConfigError) as caught:
        load({"destinations": {"prod": inner}}, environ={})
    assert named in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("params", "keys"),
    [
        ({"url": "https://h", "URL": "https://i"}, ("URL", "url")),
        ({"timeout": 1, "timeoutInMillis": 1000}, ("timeoutInMillis", "timeout")),
        ({"token": "a", "apiKey": "b"}, ("apiKey", "token")),
        ({"headers": {}, "custom_headers": {}}, ("custom_headers", "headers")),
    ],
)
def test_one_key_in_two_spellings_is_refused(params, keys):
    """Which of them is meant can't be told."""
    with pytest.raises(ConfigError) as caught:
        load(params, environ={})
    assert all(f"`{key}`" in str(caught.value) for key in keys)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "é", "x" * 65, ".", "..", "a\n", 5])
def test_a_destinations_name_is_restricted(name):
    """It names files and stands in messages."""
    with pytest.raises(ConfigError, match="no destination can have"):
        load({"destinations": {name: {"url": "https://h"}}}, environ={})


def test_the_callers_dict_is_not_changed():
    """OpenLineage keeps it."""
    params = {"type": "x", "destinations": {"a": {"url": "https://h", "auth": {"apiKey": "t"}}}}
    before = repr(params)
    load(params, environ={"OPENLINEAGE__TRANSPORT__TOKEN": "1"})
    assert repr(params) == before
