"""Waiting times: pure functions of a try's number, a chance and a clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage.delivery.backoff import full_jitter, parse_retry_after, probe_delay

NOW = 1792567620.0  # 2026-10-21 07:27:00 UTC


@pytest.mark.parametrize(("n", "most"), [(1, 2), (2, 4), (5, 32), (8, 256), (9, 300), (20, 300), (10**9, 300)])
def test_full_jitter_spreads_from_nothing_to_the_whole(n, most) -> None:
    """The wait is the chance times min(300 s, 2^n)."""
    assert full_jitter(n, lambda: 0.0) == 0.0
    assert full_jitter(n, lambda: 0.5) == most / 2


@pytest.mark.parametrize(("n", "seconds"), [(0, 60), (1, 120), (2, 240), (3, 480), (4, 900), (5, 900), (10**9, 900)])
def test_probes_come_after_a_minute_doubling_to_fifteen(n, seconds) -> None:
    """However often a probe failed, another comes."""
    assert probe_delay(n) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        ("120", 120.0),
        (" 120 ", 120.0),
        ("3600", 3600.0),
        ("3601", 3600.0),
        ("9" * 5000, 3600.0),
        ("-5", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("٣", None),
        ("5 s", None),
        ("7, 8", None),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 60.0),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", 60.0),
        ("Wed Oct 21 07:28:00 2026", 60.0),
        ("Wed, 21 Oct 2026 09:28:00 +0200", 60.0),
        ("Wed, 21 Oct 2026 07:26:00 GMT", 0.0),
        ("Sat, 21 Oct 2036 07:28:00 GMT", 3600.0),
        ("Wed, 99 Oct 2026 07:28:00 GMT", 3600.0),
        ("Wed, 21 Foo 2026 07:28:00 GMT", None),
        ("Wed, 21 Oct 0000 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 99999999999 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text, seconds) -> None:
    """RFC 9110, 10.2.3 and 5.6.7; what is malformed is as if it were not there, and an hour is the most."""
    assert parse_retry_after(text, NOW) == seconds


@given(st.text())
def test_no_text_raises_or_leaves_the_hour(text) -> None:
    """A header comes from a stranger."""
    seconds = parse_retry_after(text, NOW)

    assert seconds is None or 0 <= seconds <= 3600
