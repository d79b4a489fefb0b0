"""JSON paths, and where a value can't become JSON."""

from __future__ import annotations

import pytest

from truewatch_lineage.events.paths import find_fault, join


@pytest.mark.parametrize(
    ("key", "path"),
    [("run", "$.run"), (0, "$[0]"), ("a b", "$['a b']"), ("it's\\", "$['it\\'s\\\\']"), ("", "$['']"), ("1", "$['1']")],
)
def test_join(key, path):
    """A plain name follows a dot, any other is quoted, an index stands in brackets (RFC 9535)."""
    assert join("$", key) == path


def test_no_fault():
    """What JSON can carry has no fault, even if one object stands in two places."""
    shared = [1]
    assert find_fault({"a": shared, "b": (shared, {"c": 10**4299})}) is None


def test_a_cut_path_holds_no_half_of_a_name():
    """Half of a key might be half of a secret, which nobody would find and mask."""
    for length in (3, 30, 150, 199, 300):
        value = {}
        for _ in range(300):
            value = {"k" * length: value}
        names = find_fault(value).path.removesuffix("…").split(".")[1:]
        assert set(names) <= {"k" * length}


def test_path_of_a_deep_fault_is_cut():
    """The message of a value nested too deep stays readable."""
    value = {}
    for _ in range(300):
        value = {"a_long_name": value}
    assert len(str(find_fault(value))) < 300
