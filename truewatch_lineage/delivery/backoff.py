"""How long to wait: pure functions, given their chance and their clock."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from email.utils import parsedate_tz
from typing import Final

from truewatch_lineage.protocol import MAX_RETRY_AFTER

MAX_BACKOFF: Final = 300.0
"""Seconds between two tries of one event at most (design: "min(300 s, 2^n)")."""

FIRST_PROBE: Final = 60.0
MAX_PROBE: Final = 900.0
"""Seconds between two probes of a parked destination (design: "after 1 min, doubling to 15 min")."""

_MAX_EXPONENT: Final = 16
_MAX_DIGITS: Final = 15


def full_jitter(n: int, random: Callable[[], float]) -> float:
    """Return the seconds to wait after ``n`` failed tries: anything from 0 to min(300, 2^n).

    Args:
        n: Failed tries so far, from 1 on.
        random: Returns a float in [0, 1), such as ``random.random``.
    """
    return random() * min(MAX_BACKOFF, 2.0 ** min(n, _MAX_EXPONENT))


def probe_delay(n: int) -> float:
    """Return the seconds until a parked destination is probed again after ``n`` failed probes: 60, 120, … 900."""
    return min(MAX_PROBE, FIRST_PROBE * 2.0 ** min(n, _MAX_EXPONENT))


def parse_retry_after(text: str | None, now: float) -> float | None:
    """Read a Retry-After header (RFC 9110, 10.2.3): seconds, or one of the three forms of an HTTP-date (5.6.7).

    Args:
        text: The header's value, or None where there was none.
        now: The time as seconds since the epoch, for a date.

    Returns:
        Seconds from 0 to 3600, or None where the header is absent or malformed (a negative number is malformed).
    """
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return MAX_RETRY_AFTER if len(text) > _MAX_DIGITS else min(MAX_RETRY_AFTER, float(text))
    date = _epoch(text)
    return None if date is None else min(MAX_RETRY_AFTER, max(0.0, date - now))


def _epoch(date: str) -> float | None:
    fields = parsedate_tz(date)
    if fields is None:
        return None
    try:
        # A date without a zone is in GMT (RFC 9110, 5.6.7: asctime-date).
        return float(calendar.timegm((*fields[:6], 0, 0, 0)) - (fields[9] or 0))
    except (ValueError, OverflowError):
        return None
