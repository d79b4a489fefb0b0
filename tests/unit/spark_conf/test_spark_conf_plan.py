"""What Spark is told, by kind of destination, way to send a token, and number of destinations."""

from __future__ import annotations

import json

import pytest

from truewatch_lineage.config import load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.plan import Options, make_plan, told_timeouts
from truewatch_lineage_spark.versions import choose

WORDS = "(?i)secret|password|token|access[.]?key|api[._-]?key|authorization"
TRANSPORT = "spark.openlineage.transport."


def plan(settings, **options):
    """Make a plan of settings."""
    loaded = load({"delivery": "spool", **settings}, environ={})
    options = {"jar": choose("3.5"), "timeouts": told_timeouts(loaded), **options}
    return make_plan(Options(destinations=loaded.destinations, **options))


DESTINATIONS = {
    "dataway": (
        {"url": "https://openway.truewatch.com"},
        {"url": "https://openway.truewatch.com", "endpoint": "/v1/write/openlineage", "compression": "gzip"},
    ),
    "datakit": (
        {"destination": "datakit"},
        {"url": "http://127.0.0.1:9529", "endpoint": "/openlineage/api/v1/lineage", "compression": "gzip"},
    ),
    "portal": (
        {"destination": "portal", "url": "https://portal.example"},
        {"url": "https://portal.example", "endpoint": "/api/data-registry/lineage"},
    ),
    "gateway": (
        {"destination": "openlineage", "url": "https://gateway.example:8443"},
        {"url": "https://gateway.example:8443", "endpoint": "/api/v1/lineage", "compression": "gzip"},
    ),
    "path in the url": (
        {"url": "https://proxy.example/tw/"},
        {"url": "https://proxy.example", "endpoint": "/tw/v1/write/openlineage", "compression": "gzip"},
    ),
    "endpoint in the url": (
        {"url": "https://openway.truewatch.com/v1/write/openlineage"},
        {"url": "https://openway.truewatch.com", "endpoint": "/v1/write/openlineage", "compression": "gzip"},
    ),
    "own timeout and header": (
        {"destination": "datakit", "timeout": 1.5, "headers": {"X.Scope-Org": "blue team"}},
        {
            "url": "http://127.0.0.1:9529",
            "endpoint": "/openlineage/api/v1/lineage",
            "compression": "gzip",
            "timeoutInMillis": "1500",
            "headers.X.Scope-Org": "blue team",
        },
    ),
}


@pytest.mark.parametrize(("settings", "expected"), DESTINATIONS.values(), ids=DESTINATIONS)
def test_a_destination_becomes_a_transport(settings, expected):
    """The url is a bare origin, its path stands in the endpoint, and what is not set is the listener's default."""
    found = {
        key.removeprefix(TRANSPORT): value
        for key, value in plan(settings).as_properties().items()
        if key.startswith(TRANSPORT)
    }

    assert found == {"type": "http", "timeoutInMillis": "5000", **expected}


WAYS = {
    "bearer": ("auth.apiKey", "AUTH__API_KEY", '"%s"', {"OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key"}),
    "x_token": ("headers.X-Token", "HEADERS", '{"X-Token":"%s"}', {}),
    "query": ("urlParams.token", "URL_PARAMS", '{"token":"%s"}', {}),
}


@pytest.mark.parametrize(("method", "way"), WAYS.items(), ids=WAYS)
def test_a_token_comes_by_the_environment(method, way):
    """As JSON, since the listener reads a variable as JSON, beside what it must stand with."""
    leaf, variable, shape, beside = way
    made = plan({"url": "https://x.example", "auth_method": method, "allow_query_token": True})

    (secret,) = made.secrets
    assert (secret.key, secret.variable) == (TRANSPORT + leaf, f"OPENLINEAGE__TRANSPORT__{variable}")
    assert json.loads(secret.shape % "123") in ("123", {"X-Token": "123"}, {"token": "123"})
    assert secret.shape == shape
    assert made.variables == {"OPENLINEAGE__TRANSPORT__TYPE": "http", **beside}
    assert not [key for key in made.as_properties() if "auth" in key or "X-Token" in key or "urlParams" in key]


def test_a_platform_that_fills_properties_in_has_the_type_of_the_token_there():
    """Without it the listener would send no token at all."""
    made = plan({"url": "https://x.example"}, carrier="properties")

    assert made.as_properties()[f"{TRANSPORT}auth.type"] == "api_key"
    assert made.variables == {}
    assert made.needed == ()


def test_nothing_is_asked_of_the_environment_where_no_token_is_sent():
    """DataKit holds the token itself."""
    made = plan({"destination": "datakit"})

    assert (made.secrets, made.variables, made.needed) == ((), {}, ())


SOURCES = {
    "file": ({"token_file": "/etc/it's/token"}, "$(cat '/etc/it'\\''s/token')"),
    "variable": ({"token_env": "MY_TOKEN"}, "$MY_TOKEN"),
    "command": ({"token_command": ["vault", "read"]}, "$(cat /etc/truewatch/token)"),
    "token": ({"token": "tkn_itself"}, "$(cat /etc/truewatch/token)"),
    "none": ({}, "$(cat /etc/truewatch/token)"),
}


@pytest.mark.parametrize(("settings", "expected"), SOURCES.values(), ids=SOURCES)
def test_a_tokens_source_becomes_a_shells_words(settings, expected, tmp_path):
    """Or an example, where the settings have it in a way that no shell can repeat."""
    if "token_file" in settings:
        folder = tmp_path / "it's"
        folder.mkdir()
        settings = {"token_file": str(folder / "token")}
        expected = expected.replace("/etc", str(tmp_path))

    (secret,) = plan({"url": "https://x.example", **settings}).secrets

    assert secret.source == expected


TWO = {
    "destinations": {
        "Prod-One": {"url": "https://openway.truewatch.com", "headers": {"X.Scope-Org": "blue"}},
        "portal": {"destination": "portal", "url": "https://portal.example", "token_env": "PORTAL"},
    }
}


def test_several_destinations_with_tokens_stand_in_the_environment_whole():
    """The listener does not merge lists of transports."""
    made = plan(TWO)

    assert not [key for key in made.as_properties() if key.startswith(TRANSPORT)]
    assert [one.variable for one in made.secrets] == [
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__PRODONE__AUTH__API_KEY",
        "OPENLINEAGE__TRANSPORT__TRANSPORTS__PORTAL__AUTH__API_KEY",
    ]
    tree = json.loads(made.variables["OPENLINEAGE__TRANSPORT"])
    assert tree["type"] == "composite"
    assert tree["transports"]["prodone"]["headers"] == {"X.Scope-Org": "blue"}
    assert tree["transports"]["portal"]["auth"] == {"type": "api_key"}


def test_several_destinations_without_tokens_are_properties():
    """As nothing keeps them from it."""
    two = {"destinations": {"a": {"destination": "datakit"}, "b": {"destination": "openlineage", "url": "http://m:1"}}}

    found = plan(two).as_properties()

    assert found[f"{TRANSPORT}type"] == "composite"
    assert found[f"{TRANSPORT}transports.a.endpoint"] == "/openlineage/api/v1/lineage"
    assert found[f"{TRANSPORT}transports.b.url"] == "http://m:1"


def test_names_that_come_out_alike_are_told_apart():
    """As properties and variables know letters and digits only."""
    two = {
        "destinations": {
            "a-b": {"destination": "datakit"},
            "A.b": {"destination": "datakit"},
            "__": {"destination": "datakit"},
        }
    }

    keys = plan(two).as_properties()

    assert {key.split(".")[4] for key in keys if ".transports." in key} == {"ab", "abx", "destination"}


REFUSED = {
    "a proxy": ({"url": "https://x.example", "proxy": "http://u:hidden@proxy.example:3128"}, {}, "can't use proxy"),
    "a namespace of the form of a list": ({"destination": "datakit"}, {"namespace": "[a]"}, "for a list"),
    "a namespace that ends with a blank": ({"destination": "datakit"}, {"namespace": "a "}, "which Spark takes away"),
    "an empty namespace": ({"destination": "datakit"}, {"namespace": ""}, "is empty"),
    "a dot in a header's name of several": (
        {"destinations": {"a": {"destination": "datakit", "headers": {"X.Y": "1"}}, "b": {"destination": "datakit"}}},
        {},
        "splits the name of a header",
    ),
}


@pytest.mark.parametrize(("settings", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_the_listener_can_not_do_is_refused(settings, options, message):
    """With what is wrong, and no secret of a setting."""
    with pytest.raises(ConfigError, match=message) as caught:
        plan(settings, **options)

    assert "hidden" not in str(caught.value)


def test_a_client_certificate_is_refused(tmp_path):
    """The listener takes key stores only."""
    file = tmp_path / "client.pem"
    file.write_text("x")

    with pytest.raises(ConfigError, match="can't use client_cert"):
        plan({"url": "https://x.example", "client_cert": str(file), "client_key": str(file)})


NOTES = {
    "this machine": ({"destination": "datakit"}, "In a pod it is the pod"),
    "portal": ({"destination": "portal", "url": "https://x.example"}, "asks for exactly"),
    "match": ({"destination": "datakit", "match": {"drop": [{"job": "a/*"}]}}, "let a gateway do it"),
    "mapping": ({"destination": "datakit", "map_namespaces": {"a": "b"}}, "let a gateway do it"),
    "facets": ({"destination": "datakit", "exclude_facets": ["x"]}, "let a gateway do it"),
    "no retry": ({"destination": "datakit"}, "events are lost"),
}


@pytest.mark.parametrize(("settings", "text"), NOTES.values(), ids=NOTES)
def test_what_a_user_should_know_is_said(settings, text):
    """Once."""
    assert sum(text in note for note in plan(settings).notes) == 1


def test_a_certificate_authority_is_for_java_to_trust(tmp_path):
    """The listener has no setting for it."""
    file = tmp_path / "ca.pem"
    file.write_text("x")

    assert any("trust store" in note for note in plan({"destination": "datakit", "ca_file": str(file)}).notes)


def test_lean_leaves_out_what_full_has():
    """Column lineage is not among it."""
    full, lean = (plan({"destination": "datakit"}, profile=name).as_properties() for name in ("full", "lean"))

    assert {key: lean[key] for key in lean.keys() - full.keys()} == {
        "spark.openlineage.filter.rddEventsDisabled": "true",
        "spark.openlineage.facets.spark_properties.disabled": "true",
        "spark.openlineage.facets.gc.disabled": "true",
        "spark.openlineage.jobName.appendDatasetName": "false",
    }


def test_spark_is_told_to_load_the_listener_and_to_mask():
    """Also where no token is among the properties: others may be."""
    found = plan({"destination": "datakit"}).as_properties()

    assert {key: value for key, value in found.items() if "openlineage." not in key} == {
        "spark.jars.packages": "io.openlineage:openlineage-spark_2.12:1.53.0",
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.redaction.regex": WORDS,
        "spark.scheduler.listenerbus.logSlowEvent": "false",
    }


def test_a_jar_of_ones_own_takes_the_place_of_coordinates():
    """For a Spark that can't ask Maven Central."""
    found = plan({"destination": "datakit"}, jar=choose("3.5", path="/opt/listener.jar")).as_properties()

    assert found["spark.jars"] == "/opt/listener.jar"
    assert "spark.jars.packages" not in found


LIMITS = {
    "the listener's timeout": ({}, {}, {"type": "timeout", "timeoutInSeconds": "30"}),
    "a short timeout": ({"timeout": 0.5}, {}, {"type": "timeout", "timeoutInSeconds": "30"}),
    "a long timeout": ({"timeout": 20.5}, {}, {"type": "timeout", "timeoutInSeconds": "62"}),
    "settled already": ({}, {"base": {"spark.openlineage.circuitBreaker.type": "asyncTaskQueue"}}, {}),
}


@pytest.mark.parametrize(("settings", "options", "expected"), LIMITS.values(), ids=LIMITS)
def test_an_event_has_an_end(settings, options, expected):
    """Whatever Retry-After says, and with room for a second try; but a breaker that is there is left alone."""
    found = plan({"destination": "datakit", **settings}, **options).as_properties()

    breaker = "spark.openlineage.circuitBreaker."
    assert {key.removeprefix(breaker): value for key, value in found.items() if key.startswith(breaker)} == expected
