"""Values come out of Spark's own readers, and the listener's, as they went in; those that would not are refused."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.spark import environment
from support.spark_reader import SparkReader

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import escape
from truewatch_lineage_spark.flavours.texts import conf_words

KEY = "spark.openlineage.namespace"
AWKWARD = "\\\t\n\r\f\v\x01\x7f:=#! '\"$`%{}[]();,&|<>*?~^@-_aé\u0085\u00a0\u2028\ufeff\U0001f6a2"
VALUES = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=12)
"""Values of which the longest are no longer than what makes a reader stumble."""

MANY = settings(max_examples=max(250, settings().max_examples))

pytestmark = pytest.mark.timeout(900)  # a first run downloads and makes the environment


@pytest.fixture(scope="module", params=["3.5", "4.0"])
def reader(request, tmp_path_factory):
    """Spark's readers, in one JVM for all values."""
    with SparkReader(environment(request.param), tmp_path_factory.mktemp("reader")) as running:
        yield running


def taken(value):
    """Return a value that is not refused; leave out the example where it is."""
    try:
        return escape.check(KEY, value)
    except ConfigError:
        assume(False)


@MANY
@given(VALUES)
@example("a\\")
@example("\U0001f6a2 = #1\\u00e9")
def test_spark_defaults_round_trip(reader, value):
    """A line of ``spark-defaults.conf``, between two others."""
    line = escape.properties_line(KEY, taken(value))

    found = reader.properties(f"spark.a=1\n{line}\nspark.b=2\n")

    assert found == {"spark": {"spark.a": "1", KEY: value, "spark.b": "2"}, "namespace": value}


@MANY
@given(VALUES)
def test_arguments_round_trip(reader, value):
    """``--conf`` as a shell splits it."""
    (word,) = conf_words([(KEY, taken(value))])
    words = subprocess.run(["bash", "-euc", f"printf '%s\\0' {word}"], capture_output=True, check=True).stdout

    found = reader.arguments(words.decode().split("\0")[:-1])

    assert found == {"spark": {KEY: value}, "namespace": value}


@MANY
@given(VALUES)
def test_yml_round_trips(reader, value):
    """A text of ``openlineage.yml``."""
    found = reader.yml(f"namespace: {escape.yaml_text(taken(value))}\n")

    assert found == {"spark": {}, "namespace": value}


@settings(max_examples=100)
@given(st.text(st.sampled_from("abcXYZ-_.:=#!\\é \t"), min_size=1, max_size=8))
def test_keys_round_trip(reader, name):
    """A key can hold what would end it."""
    key = f"spark.x.{name}"

    assert reader.properties(escape.properties_line(key, "1") + "\n")["spark"] == {key: "1"}


TRIMMED = (" ", " a", "a ", "\ta", "a\t", "a\x01", "\x00a")
TAKEN_FOR_LISTS = ("[]", "[a]", "[a;b]")
NOT_READ = ("a\x7fb", "a\x80b", "a\x9fb", "a\uffffb")


@pytest.mark.parametrize("value", [*TRIMMED, *TAKEN_FOR_LISTS, *NOT_READ], ids=repr)
def test_what_is_refused_would_arrive_changed(reader, value):
    """Spark trims it, or the listener takes it for a list or can't read it."""
    with pytest.raises(ConfigError):
        escape.check(KEY, value)

    found = reader.properties(escape.properties_line(KEY, value) + "\n")

    assert found.get("namespace") != value
