"""``configure``: PySpark's builder made ready, and the environment checked."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import configure
from truewatch_lineage_spark.versions import LISTENER

TOKEN = "tkn_0123456789"
HELD = {
    "OPENLINEAGE__TRANSPORT__TYPE": "http",
    "OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key",
    "OPENLINEAGE__TRANSPORT__AUTH__API_KEY": f'"{TOKEN}"',
}


class Builder:
    """Stands for PySpark's, which needs Java."""

    def __init__(self, **options):
        self._options = dict(options)

    def config(self, key, value):
        """Set a property."""
        self._options[key] = value
        return self


def test_the_builder_gets_every_property_and_no_token():
    """It is returned, ready for getOrCreate()."""
    builder = Builder()

    assert configure(builder, url="https://x.example", namespace="n", environ=HELD) is builder
    assert builder._options["spark.openlineage.namespace"] == "n"
    assert builder._options["spark.openlineage.transport.url"] == "https://x.example"
    assert TOKEN not in str(builder._options)
    assert not [key for key in builder._options if "auth" in key]


@pytest.mark.parametrize("method", ["bearer", "x_token"])
def test_a_token_that_is_empty_is_missing(method):
    """What a shell exports where the token's file is not there."""
    names = {"bearer": ("AUTH__API_KEY", '""'), "x_token": ("HEADERS", '{"X-Token":""}')}
    name, value = names[method]
    settings = {"url": "https://x.example", "token_env": "MY_TOKEN", "auth_method": method}

    with pytest.raises(ConfigError, match=f"lacks OPENLINEAGE__TRANSPORT__{name}."):
        configure(Builder(), **settings, environ={**HELD, f"OPENLINEAGE__TRANSPORT__{name}": value})


def test_an_environment_without_the_token_is_named_with_the_lines_that_set_it():
    """Before Spark starts, as its driver would take no other."""
    builder = Builder()

    with pytest.raises(ConfigError) as caught:
        configure(
            builder, url="https://x.example", token_env="MY_TOKEN", environ={**HELD, "OPENLINEAGE__TRANSPORT__TYPE": ""}
        )

    assert "lacks OPENLINEAGE__TRANSPORT__TYPE." in str(caught.value)
    assert 'export OPENLINEAGE__TRANSPORT__AUTH__API_KEY="$(printf \'"%s"\' "$MY_TOKEN")"' in str(caught.value)
    assert builder._options == {}


def test_what_the_builder_has_already_is_extended():
    """Over what the caller knows of spark-defaults.conf."""
    builder = Builder(**{"spark.extraListeners": "org.x.Y"})

    configure(
        builder,
        destination="datakit",
        base={"spark.extraListeners": "org.x.Z", "spark.redaction.regex": "pin"},
        environ={},
    )

    assert builder._options["spark.extraListeners"] == f"org.x.Y,{LISTENER}"
    assert builder._options["spark.redaction.regex"].startswith("(?:pin)|")


def test_settings_come_from_variables_where_none_are_given():
    """As everywhere."""
    builder = configure(Builder(), environ={"TRUEWATCH_LINEAGE_DESTINATION": "datakit"})

    assert builder._options["spark.openlineage.transport.url"] == "http://127.0.0.1:9529"


def test_the_jar_fits_the_pyspark_that_is_imported(monkeypatch):
    """Unless it is told another version."""
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="4.0.5"))

    assert "_2.13:" in configure(Builder(), destination="datakit", environ={})._options["spark.jars.packages"]
    told = configure(Builder(), destination="datakit", spark="3.5", environ={})
    assert "_2.12:" in told._options["spark.jars.packages"]


def test_a_session_that_runs_already_is_refused(monkeypatch):
    """It takes no listener any more."""
    running = SimpleNamespace(SparkContext=SimpleNamespace(_active_spark_context=object()))
    monkeypatch.setitem(sys.modules, "pyspark", running)

    with pytest.raises(ConfigError, match="running already"):
        configure(Builder(), destination="datakit", environ={})


@pytest.mark.parametrize(
    ("options", "environ"),
    [({"spark.remote": "sc://host"}, {}), ({}, {"SPARK_REMOTE": "sc://host"})],
    ids=["option", "variable"],
)
def test_a_session_of_spark_connect_is_refused(options, environ):
    """Its listener must be where the driver is."""
    with pytest.raises(ConfigError, match="Spark Connect"):
        configure(Builder(**options), destination="datakit", environ=environ)


def test_nothing_is_set_where_lineage_is_disabled():
    """Whatever else is wrong."""
    assert configure(Builder(), environ={"OPENLINEAGE_DISABLED": "true"})._options == {}


def test_the_package_has_nothing_else():
    """A misspelt name is an AttributeError."""
    import truewatch_lineage_spark  # noqa: PLC0415 - what is looked at

    with pytest.raises(AttributeError, match="configur"):
        truewatch_lineage_spark.configur  # noqa: B018 - what is looked at
