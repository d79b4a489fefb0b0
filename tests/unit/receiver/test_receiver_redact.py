"""Secrets are masked in the bytes, and nothing else is changed."""

from __future__ import annotations

import json

import pytest

from truewatch_lineage.receiver.redact import redact

SECRET = 's3cret/t"oken\\x'
DIGITS = "12345678"

ROWS = [
    (b'{"a": 1.50, "b":[ ]}', b'{"a": 1.50, "b":[ ]}'),
    (json.dumps({"a": f"x {SECRET} y {SECRET}"}).encode(), b'{"a": "x *** y ***"}'),
    (json.dumps({SECRET: 1}).encode(), b'{"***": 1}'),
    (b'{"a": "\\u0031\\u0032345678", "b": "\\u0041"}', b'{"a": "***", "b": "\\u0041"}'),
    (b'{"a": 12345678, "b": "12345678"}', b'{"a": 12345678, "b": "***"}'),
    (b'{"u": "postgres://me:pass@db/x?a=b"}', b'{"u": "postgres://me:***@db/x?a=b"}'),
    (b'{"u": "jdbc:x:\\/\\/me:pass@db"}', b'{"u": "jdbc:x://me:***@db"}'),
    (b'{"u": "http://host:80/a@b"}', b'{"u": "http://host:80/a@b"}'),
    (b'{"short": "abc"}', b'{"short": "abc"}'),
]


@pytest.mark.parametrize(("body", "kept"), ROWS)
def test_only_secrets_are_masked(body, kept):
    """In keys and values, escaped or not, but never in numbers, so that the JSON stays valid."""
    assert redact(body, [SECRET, DIGITS, "abc"]) == kept
    json.loads(kept)


def test_a_clean_body_is_the_same_object():
    """Nothing is copied where nothing is masked."""
    body = b'{"a": "b"}'
    assert redact(body, [SECRET]) is body


def test_a_large_string_is_searched_in_linear_time():
    """8 MiB of escapes and of colons take well under the test's timeout."""
    for filler in ("\\u0041" * 1_300_000, ":" * 8_000_000, "://" * 2_600_000):
        redact(b'{"a": "' + filler.encode() + b'"}', [SECRET])
