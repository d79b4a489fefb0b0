"""Times: what an event says, as seconds to compare, and seconds as text to show."""

from __future__ import annotations

import re
from datetime import datetime, timezone

ISO_8601 = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)
"""Groups: date and time to the second, the fraction's digits, the offset."""

_OFFSET_DIGITS = 4
_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0
"""The years 1 to 9999 in UTC: all that can be shown again."""


def seconds(text: object) -> float | None:
    """Return the seconds since the epoch of an ISO 8601 text, taken as UTC if it has no offset; None if it is none."""
    match = ISO_8601.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1].upper()}{_offset(match[3])}")
        found = moment.timestamp() + (float(f"0.{match[2]}") if match[2] else 0.0)
    except (ValueError, OverflowError):
        return None
    return found if _FIRST <= found < _LAST else None


def iso(moment: float | None) -> str | None:
    """Return seconds since the epoch as ISO 8601 in UTC, with microseconds and ``Z``; None stays None."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _offset(text: str | None) -> str:
    if text is None or text in "Zz":
        return "+00:00"
    digits = text[1:].replace(":", "").ljust(_OFFSET_DIGITS, "0")
    return f"{text[0]}{digits[:2]}:{digits[2:]}"
