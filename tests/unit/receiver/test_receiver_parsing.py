"""One event's JSON: within bounds, and without two meanings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.record_counts import events_of
from support.repository import ROOT

from truewatch_lineage.receiver.parsing import parse
from truewatch_lineage.serving.answers import Refusal

REFUSED = [
    (b"", "invalidJson"),
    (b"{", "invalidJson"),
    (b'{"a":NaN}', "invalidJson"),
    (b'"text"', "notAnObject"),
    (b"[{}]", "arrayNotSupported"),
    (b'{"a":"\xff"}', "invalidJson"),
    (b'{"a":"\\ud800"}', "invalidJson"),
    (b'{"a":' + b"9" * 5000 + b"}", "invalidJson"),
    (b'{"a":' + b"[" * 260 + b"]" * 260 + b"}", "nestedTooDeep"),
    (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalidJson"),
    (json.dumps({str(number): 1 for number in range(10_000)}).encode(), "tooManyKeys"),
    (b'{"a":{"b":1},"a":{"b":2}}', "duplicateKey"),
    (b'{"a":1,"a":2,"a":1}', "duplicateKey"),
    (b'{"a":1,"a":true}', "duplicateKey"),
    (b'{"a":1,"a":"1"}', "duplicateKey"),
    (b'{"a" : 1, "a" : 2}', "duplicateKey"),
    (b'{"a"\n :1,"a":2}', "duplicateKey"),
    (b'{"x":[{"y":{"a":1,"b":2,"a":3}}]}', "duplicateKey"),
    (b'{"a":1,"\\u0061":2}', "duplicateKey"),
    (b'{"a":1,"a":2,"b":"\\u0022:"}', "duplicateKey"),
    (b'{"a":1e5,"bb":1,"bb":12}', "duplicateKey"),
    (b'{"a":"\\":","a":2}', "duplicateKey"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED, ids=lambda value: repr(value)[:30])
def test_what_has_no_clear_meaning_is_refused(body, code) -> None:
    """400 with a code, and nothing of the body in the message."""
    with pytest.raises(Refusal) as caught:
        parse(body)

    assert (caught.value.status, caught.value.code) == (400, code)


def test_the_same_value_twice_has_one_meaning() -> None:
    """As the Spark listener writes a facet of RDD jobs."""
    facet = b'"processing_engine":{"version":"3.5.9","name":"spark"}'
    tree = parse(b'{"run":{"facets":{%b,"x":1,%b}}}' % (facet, facet.replace(b":", b" : ")))

    assert tree == {"run": {"facets": {"processing_engine": {"version": "3.5.9", "name": "spark"}, "x": 1}}}


_TREES = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(alphabet='":\\ \n\u00e9a', max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(_TREES, st.sampled_from([None, 1]), st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
def test_no_unambiguous_event_is_refused(tree, indent, ascii_only, separators) -> None:
    """However it is written: escapes, blanks, colons and quotation marks in texts."""
    body = json.dumps(tree, indent=indent, ensure_ascii=ascii_only, separators=separators).encode()

    assert set(parse(body)) == set(tree)


@given(
    st.text(alphabet='ab:"\\ \t', max_size=4),
    st.sampled_from(["", " ", "\n\t"]),
    st.text(alphabet='":\\a\u00e9', max_size=6),
)
def test_no_duplicate_is_overlooked(key, blank, text) -> None:
    """Whatever stands beside it."""
    written = json.dumps(key)
    body = f'{{{written}{blank}:{json.dumps(text)},"other":{json.dumps(text, ensure_ascii=False)},{written}:1}}'

    with pytest.raises(Refusal, match="two values"):
        parse(body.encode())


def test_every_recorded_event_is_read() -> None:
    """Real events have none of it."""
    bodies = list(events_of((ROOT / "tests" / "data" / "recorded").iterdir()))

    assert [parse(body) for body in bodies] == [json.loads(body) for body in bodies]
