"""Properties are read as the JDK's ``Properties.load`` reads them, with the line on which each begins."""

from __future__ import annotations

import pytest

from truewatch_lineage_spark.lint.formats import properties

# By the documentation of java.util.Properties.load, but for the values' trimming, which is Spark's.
ROWS = {
    "equals": ("a=b", [("a", "b", 1)]),
    "colon": ("a:b", [("a", "b", 1)]),
    "blank": ("a b", [("a", "b", 1)]),
    "tab": ("a\tb", [("a", "b", 1)]),
    "blanks around equals": ("  a \t=  b  ", [("a", "b", 1)]),
    "one separator only": ("a==b", [("a", "=b", 1)]),
    "blank, then colon": ("a : :b", [("a", ":b", 1)]),
    "no value": ("a", [("a", "", 1)]),
    "an escaped separator": (r"a\=b\ c=d", [("a=b c", "d", 1)]),
    "a comment": ("# x\n! y\n  # z\na=b", [("a", "b", 4)]),
    "no comment behind a value": ("a=b # c", [("a", "b # c", 1)]),
    "blank lines": ("\n \t\na=b\n\n", [("a", "b", 3)]),
    "a continued line": ("a=b\\\n   c\nd=e", [("a", "bc", 1), ("d", "e", 3)]),
    "a continued key": ("a\\\n  b=c", [("ab", "c", 1)]),
    "a continued line that looks like a comment": ("a=b\\\n# c", [("a", "b# c", 1)]),
    "two backslashes do not continue": ("a=b\\\\\nc=d", [("a", "b\\", 1), ("c", "d", 2)]),
    "three do": ("a=b\\\\\\\nc", [("a", "b\\c", 1)]),
    "a comment is not continued": ("# x\\\na=b", [("a", "b", 2)]),
    "a backslash at the end": ("a=b\\", [("a", "b", 1)]),
    "escapes": (r"a=x\ty\nz\\\q\:", [("a", "x\ty\nz\\q:", 1)]),
    "unicode": (r"a=\u00fc\ud83d\ude00", [("a", "ü😀", 1)]),
    "line breaks of every system": ("a=b\r\nc=d\re=f", [("a", "b", 1), ("c", "d", 2), ("e", "f", 3)]),
    "a form feed is a blank": ("\fa\f=\fb", [("a", "b", 1)]),
    "the last duplicate comes last": ("a=b\na=c", [("a", "b", 1), ("a", "c", 2)]),
}


@pytest.mark.parametrize(("text", "expected"), ROWS.values(), ids=ROWS)
def test_properties_are_read_as_java_reads_them(text, expected) -> None:
    """Keys, values and lines."""
    (scope,) = properties.read(text, "f").scopes
    assert [(one.key, one.value, one.line) for one in scope.settings] == expected


def test_the_last_of_a_key_is_in_force() -> None:
    """As in a java.util.Properties."""
    (scope,) = properties.read("a=b\nc=d\na=e", "f").scopes
    assert {key: one.value for key, one in scope.conf.items()} == {"a": "e", "c": "d"}
