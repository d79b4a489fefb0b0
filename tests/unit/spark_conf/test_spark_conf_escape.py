"""Values written exactly, and those refused that Spark would change."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.spark_parsed import parsed

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.escape import check, properties_line, yaml_text

ANY = st.text(st.characters(exclude_categories=["Cs"]))
WRITTEN = {
    "plain": ("a b=c:#!'\"$(x)`", "k=a b=c:#!'\"$(x)`"),
    "a backslash": ("C:\\n", "k=C:\\\\n"),
    "whitespace": ("a\tb\nc\rd\fe", "k=a\\tb\\nc\\rd\\fe"),
    "beyond ASCII": ("ü€", "k=\\u00fc\\u20ac"),
    "beyond 16 bits": ("😀", "k=\\ud83d\\ude00"),
    "a control character": ("a\x01b", "k=a\\u0001b"),
}


@pytest.mark.parametrize(("value", "line"), WRITTEN.values(), ids=WRITTEN)
def test_a_value_is_escaped_where_java_needs_it(value, line):
    """And nowhere else."""
    assert properties_line("k", value) == line


def test_a_key_is_escaped_where_it_would_end():
    """A header's name may hold what separates."""
    assert properties_line("spark.a:b=c#d", "v") == "spark.a\\:b\\=c\\#d=v"


@given(st.dictionaries(st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1), ANY))
def test_properties_are_read_back_exactly(values):
    """Whatever they hold."""
    text = "\n".join(properties_line(f"spark.{key}", value) for key, value in values.items())

    assert parsed("properties", text).properties == {f"spark.{key}": value for key, value in values.items()}


@given(ANY)
def test_yaml_is_read_back_exactly(text):
    """Also what JSON would split, and what YAML calls unprintable."""
    assert yaml.safe_load(f"k: {yaml_text(text)}") == {"k": text}


REFUSED = {
    "a blank before": (" a", "blank"),
    "a tab after": ("a\t", "blank"),
    "a control character after": ("a\x1f", "blank"),
    "nothing": ("", "empty"),
    "line breaks alone": ("\r\n", "blank"),
    "another alphabet's blanks": ("\u2003", "blank"),
    "a NUL": ("a\0b", "NUL"),
    "half a character": ("a\ud83d", "surrogate"),
    "a list": ("[a]", "list"),
}


@pytest.mark.parametrize(("value", "message"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_would_arrive_changed_is_refused(value, message):
    """And not shown, as it may be a secret."""
    with pytest.raises(ConfigError, match=message) as caught:
        check("spark.openlineage.namespace", value)

    assert not value.strip() or repr(value) not in str(caught.value)


TAKEN = {
    "a no-break space at the end": ("spark.openlineage.namespace", "a\u00a0"),
    "a no-break space alone": ("spark.openlineage.namespace", "\u00a0"),
    "line breaks at the ends": ("spark.openlineage.namespace", "\na\r\n"),
    "nothing in another property": ("spark.x", ""),
    "a list where one is meant": ("spark.openlineage.filter.deniedSparkNodes", "[a;b]"),
    "brackets in another property": ("spark.x", "[a]"),
    "inner whitespace": ("spark.openlineage.namespace", "a\tb\nc"),
}


@pytest.mark.parametrize(("key", "value"), TAKEN.values(), ids=TAKEN)
def test_a_value_that_arrives_is_taken(key, value):
    """As Spark does not trim line breaks, nor anything beyond the blank."""
    assert check(key, value) == value
