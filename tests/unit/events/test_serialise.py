"""Objects to trees to bytes: the values, the faults, and what is mended."""

from __future__ import annotations

import json
import sys
import time
import types

import attr
import pytest
from openlineage.client.event_v2 import RunEvent
from support.events import custom_facet, event_with, parsed, recorded, run_event, tree
from tables.awkward_values import DROPPED, ROWS

from truewatch_lineage.errors import EventError
from truewatch_lineage.events.serialise import dumps, normalise, to_tree


def nested(levels):
    """Return that many lists inside each other."""
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(("value", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_awkward_value_arrives_as_strict_json(value, expected):
    """Every value that JSON lacks arrives as the design says, in JSON that any parser takes."""
    facet = parsed(dumps(to_tree(event_with(value=value))))["run"]["facets"]["x"]
    assert facet.get("value", DROPPED) == expected


def test_dict_keeps_its_nulls():
    """Dropping nulls is Serde's way with event objects; a dict is sent as it is."""
    event = {"a": None, "b": [None, {}], "c": {"d": None}}
    assert to_tree(event) == event


def test_event_object_inside_a_dict_is_written_as_serde_does():
    """Upstream's objects may stand inside a dict; there nulls are dropped."""
    facet = custom_facet(a=None, b=1)
    assert set(to_tree({"facet": facet, "null": None})["facet"]) == {"_producer", "_schemaURL", "b"}


def test_tree_is_fresh():
    """Changing the tree does not change the caller's event."""
    event = {"run": {"facets": {}}, "inputs": []}
    result = to_tree(event)
    result["run"]["facets"]["x"] = 1
    result["inputs"].append(1)
    assert event == {"run": {"facets": {}}, "inputs": []}


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda data: data.decode()])
def test_json_text_is_read_exactly(form):
    """JSON as bytes or text keeps nulls, long integers and the order of keys."""
    data = b'\xef\xbb\xbf{"b":null,"a":123456789012345678901234567890,"c":[1.5,"\\ud83d\\ude00",{}]}'
    result = to_tree(form(data))
    assert list(result.items()) == [("b", None), ("a", 123456789012345678901234567890), ("c", [1.5, "😀", {}])]


def test_a_key_that_stands_twice_with_one_value_is_read():
    """As Spark's listener writes it: there is only one meaning."""
    assert to_tree(b'{"a":{"x":1,"y":[true]},"b":2,"a":{"y":[true],"x":1}}') == {"a": {"x": 1, "y": [True]}, "b": 2}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ([{}], "array.*JSON arrays and the OpenLineage batch endpoint are not supported"),
        (b"[]", "array"),
        (b"3", "Not a JSON object"),
        (b'"x"', "Not a JSON object"),
        (b"null", "Not a JSON object"),
        (b"", "Not JSON"),
        (b'{"a":1,}', r"Not JSON: .*line 1, column"),
        (b'{"a":1,"a":2}', "'a' stands twice"),
        (b'{"a":1,"a":true}', "'a' stands twice"),
        (b'{"a":1,"a":2,"a":1}', "'a' stands twice"),
        (b'{"a":NaN}', "NaN is no JSON value"),
        (b'{"a":-Infinity}', "-Infinity is no JSON value"),
        (b'{"a":"\xff"}', "Not UTF-8: byte 6"),
        ('{"a":1}'.encode("utf-16"), "Not UTF-8: byte 0"),
        (b'{"a":' + b"9" * 5000 + b"}", "4,300 digits"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "too deep"),
        (object(), "expected, not object"),
        (None, "expected, not null"),
        ({"a": {"b": [0, 10**4300]}}, r"^\$\.a\.b\[1\]: .*4,300 digits"),
        ({"a b": {1}, "x": {"y": nested(300)}}, r"too deep: over 200"),
    ],
)
def test_what_is_no_event_is_refused_by_name(event, words):
    """Every fault is one EventError that says what is wrong and where."""
    with pytest.raises(EventError, match=words):
        dumps(to_tree(event))


def test_cycle_is_refused_with_its_place():
    """An event that contains itself can't be sent; the message tells where it does."""
    inner = {"list": []}
    inner["list"].append({"again": inner})
    with pytest.raises(EventError, match=r"^\$\.run\.facets\.x\.value\.list\[0\]\.again: .*contains itself"):
        to_tree(event_with(value=inner))


def test_same_object_twice_is_no_cycle():
    """One object in two places is written twice."""
    shared = {"a": [1]}
    assert to_tree({"x": shared, "y": [shared]}) == {"x": {"a": [1]}, "y": [{"a": [1]}]}


def test_deepest_event_is_sent_from_a_deep_stack():
    """200 levels pass even where the caller has used much of the stack."""

    def call(frames):
        return call(frames - 1) if frames else dumps(to_tree({"x": nested(199)}))

    assert call(300) == b'{"x":' + b"[" * 199 + b"]" * 199 + b"}"


def test_property_that_raises_is_an_event_error():
    """The caller's own code inside the event may raise anything; it is told by its class, not by its text."""

    class Items(dict):
        def items(self):
            raise RuntimeError("secret text")

    with pytest.raises(EventError, match="RuntimeError") as caught:
        to_tree({"x": Items(a=1)})
    assert "secret text" not in str(caught.value)


def test_subclass_and_odd_field_names_are_written():
    """A subclass of an event, and fields whose names are no identifiers, are written like any other."""
    # Made by hand, since older releases of attrs themselves fail on such names.
    fields = tuple(types.SimpleNamespace(name=name) for name in ("class", "a'b"))
    odd = type("Odd", (), {"__attrs_attrs__": fields, "class": 1, "a'b": "x"})()

    @attr.define(kw_only=True)
    class Mine(RunEvent):
        extra: object = None

    plain = run_event()
    mine = Mine(eventTime=plain.eventTime, run=plain.run, job=plain.job, extra=odd)
    assert to_tree(mine)["extra"] == {"class": 1, "a'b": "x"}


def test_many_classes_do_not_pile_up():
    """A class made for every event, as old upstream versions do, is forgotten again."""
    from truewatch_lineage.events import convert  # noqa: PLC0415 - looks inside

    for _ in range(convert._MAX_CLASSES + 10):
        to_tree({"x": type("Once", (), {})()})
    assert all(len(converter.keeping) <= convert._MAX_CLASSES for converter in convert._idle)
    assert to_tree({"x": True, "y": 1}) == {"x": True, "y": 1}


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="Python without the limit")
def test_digits_limit_of_the_process_is_no_crash():
    """Where the process lowered the limit of digits, a longer integer is an EventError too."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(1000)
    try:
        with pytest.raises(EventError, match="digits"):
            dumps(to_tree({"x": 10**2000}))
    finally:
        sys.set_int_max_str_digits(before)


def test_dumps_mends_a_foreign_tree():
    """A tree that did not come from to_tree is strict JSON all the same."""
    assert dumps({"a": float("nan"), "b": [2**70, float("inf")]}) == b'{"a":null,"b":[%d,null]}' % 2**70


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (tree(eventType="complete"), tree(eventType="COMPLETE")),
        (tree(eventType="Weird"), tree(eventType="Weird")),
        (tree(eventType=5), tree(eventType=5)),
        (tree(schemaURL=...), tree(schemaURL="https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent")),
        (tree(schemaURL=None), tree(schemaURL="https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent")),
        (
            {"job": {}},
            {"job": {}, "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"},
        ),
        ({"other": 1}, {"other": 1}),
    ],
)
def test_normalise_mends_case_and_schema_only(event, expected):
    """The case of eventType and a missing schemaURL are mended, anything else is not."""
    before = json.dumps(event)
    assert normalise(event) == expected
    assert json.dumps(event) == before


def test_normalise_leaves_odd_names_ids_and_times():
    """runId, names and times are never changed, whatever they look like."""
    event = tree(eventTime="2026-W10-2T10:00", run={"runId": "{ABC}"}, job={"namespace": "", "name": " X "})
    assert normalise(event) is event


def test_recorded_events_are_semantically_equal():
    """What arrives of the recorded runs equals what was recorded."""
    for where, line in recorded():
        assert parsed(dumps(normalise(to_tree(line)))) == json.loads(line), where


_NUMBERS = (
    "-0",
    "-0.0",
    "1e5",
    "1E400",
    "0.1",
    "1.5e-400",
    f"{2**63 - 1}",
    f"{2**64}",
    f"-{2**70}",
    "12345678901234567890.5",
)
_TEXTS = ("a:b", '\\":', "\\u003a", "\\ud83d\\ude00", "\\ud800", "ü", "\\/", "0" * 30)


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
@pytest.mark.parametrize("value", [*_NUMBERS, *(f'"{text}"' for text in _TEXTS), '{"b": {}, "b": {}}', "[[]]"])
def test_bytes_are_read_as_text_is(value, blank):
    """The faster reader of bytes is used only where it reads the same; types count, since 1 equals 1.0."""
    text = f'{{"a"{blank}:{blank}{value}{blank}, "c:d": [true, null]}}'
    assert repr(to_tree(text.encode())) == repr(to_tree(text))


@pytest.mark.parametrize(
    "inner", ['{"b": 1, "b": 2}', '{"b": 1, "\\u0062": 2}', '{"\\u003a": 1, ":": 2}', "NaN", "[" * 200 + "]" * 200]
)
def test_bytes_are_refused_as_text_is(inner):
    """A key with two values, however it is written, a NaN and too many levels."""
    text = f'{{"a": {inner}}}'
    with pytest.raises(EventError) as of_text:
        to_tree(text)
    with pytest.raises(EventError) as of_bytes:
        to_tree(text.encode())
    assert str(of_bytes.value) == str(of_text.value)


def test_the_deepest_bytes_are_read():
    """One level less than what is refused."""
    text = '{"a": ' + "[" * 199 + "]" * 199 + "}"
    assert to_tree(text.encode()) == to_tree(text)


@pytest.mark.parametrize("value", ["1", "{}", '""'])
def test_too_many_values_are_refused_before_they_are_read(value):
    """64 MiB of empty objects would take 6 GB and two minutes."""
    text = f'{{"a": [{",".join([value] * 1_000_001)}]}}'
    began = time.monotonic()
    for form in (text, text.encode()):
        with pytest.raises(EventError, match=r"over 1,000,000 values"):
            to_tree(form)
    assert time.monotonic() - began < 2


def test_as_many_values_as_a_real_event_may_have_are_read():
    """8 MiB, the least limit of a destination, of lineage with names as short as they can be."""
    origin = {"inputFields": [{"namespace": "a", "name": "b", "field": "c"}]}
    event = {"fields": {str(number): origin for number in range(130_000)}}
    data = json.dumps(event, separators=(",", ":")).encode()
    assert len(data) > 8 * 1024 * 1024
    assert to_tree(data) == event
    assert to_tree(data.decode()) == event


def test_keys_that_stand_twice_at_every_level_take_linear_time():
    """What stands beside them is not looked at."""
    text = '{"b": 1, "b": 1, "a": ' * 190 + '"' + "x" * 4_000_000 + '"' + "}" * 190
    began = time.monotonic()
    assert len(dumps(to_tree(text))) < len(text)
    assert time.monotonic() - began < 2
