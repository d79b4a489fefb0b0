"""Events made of a program's own objects, which may raise, or be written with far more values than they hold."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Mapping

import attr
import pytest
from support.events import tree

from truewatch_lineage.errors import EventError
from truewatch_lineage.events import convert, paths
from truewatch_lineage.events.serialise import to_tree


class Hostile(Mapping):
    """A mapping whose iteration raises."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise RuntimeError("secret text")

    def __len__(self):
        return 1


class HostileInt(int):
    """A number whose size can't be asked."""

    def __abs__(self):
        raise RuntimeError("secret text")


def same_list(levels, width=1, innermost=()):
    """Return lists in lists, each holding the same one ``width`` times."""
    value = list(innermost)
    for _ in range(levels):
        value = [value] * width
    return value


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (Hostile(), "its own code raised RuntimeError"),
        ({"number": HostileInt(1), "deep": same_list(250)}, "Nested too deep"),
    ],
)
def test_an_event_whose_own_code_raises_is_an_event_error(event, told):
    """Wherever it raises: when the event is copied, read, or looked through for its fault."""
    with pytest.raises(EventError, match=told) as caught:
        to_tree(event)
    assert "secret" not in str(caught.value)


@attr.s
class Pair:
    """An attrs class of no use but to be shared."""

    left = attr.ib()
    right = attr.ib()


def pairs(levels):
    """Return attrs objects in each other, each holding the same one twice."""
    value = Pair(1, 2)
    for _ in range(levels):
        value = Pair(value, value)
    return value


def mappings(levels):
    """Return dicts in each other, each holding the same one twice."""
    value = {"x": 1}
    for _ in range(levels):
        value = {"a": value, "b": value}
    return value


@pytest.mark.parametrize(
    "shared",
    [same_list(40, 2, [1]), same_list(40, 2), same_list(8, 500, "x"), (same_list(40, 2),), mappings(40), pairs(40)],
    ids=["lists", "empty", "wide", "tuple", "dicts", "attrs"],
)
@pytest.mark.parametrize("wrap", [dict, lambda event: Pair(event["run"], None)], ids=["dict", "object"])
def test_shared_references_that_multiply_are_refused_where_they_begin(monkeypatch, shared, wrap):
    """Whatever holds them; the limit is lowered here, so that it is soon reached."""
    for module in (convert, paths):
        monkeypatch.setattr(module, "MAX_ITEMS", 40_000)
    event = wrap(tree(run={"runId": "r", "facets": {"fine": [1], "big": shared}}))
    with pytest.raises(EventError, match="over 40,000 values") as caught:
        to_tree(event)
    assert ".facets.big" in caught.value.path


def test_shared_references_that_multiply_cost_bounded_time_and_memory():
    """A list that holds one list twice, forty levels deep, would be written with 10^12 values."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with pytest.raises(EventError, match="over 4,000,000 values"):
        to_tree(tree(run={"runId": "r", "facets": {"big": same_list(40, 2, [1])}}))
    assert time.process_time() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024 * 1024


def test_shared_references_are_copied_as_often_as_they_stand():
    """A facet that many datasets share is written for each, as JSON has no references."""
    shared = {"a": [1, {"b": "c"}]}
    assert to_tree({"x": [shared] * 1000})["x"] == [shared] * 1000


def test_a_large_event_is_counted_anew_each_time(monkeypatch):
    """The count of one event is not held against the next, also after one was refused."""
    monkeypatch.setattr(convert, "MAX_ITEMS", 40_000)
    half = {"x": [0] * 25_000}
    for _ in range(2):
        to_tree(half)
        with pytest.raises(EventError):
            to_tree({"x": same_list(40, 2)})
    to_tree(half)


def test_a_repeated_key_is_shown_whole_or_not_at_all():
    """Half of a key might be half of a secret, which nobody would find and mask."""
    for key, shown in (("k" * 100, repr("k" * 100)), ("k" * 101, "a key of 101 characters")):
        with pytest.raises(EventError, match=shown):
            to_tree(json.dumps({"x": 1}).replace("}", f', "{key}": 1, "{key}": 2}}'))
