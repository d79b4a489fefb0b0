"""What counts as an ISO 8601 timestamp."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final, Literal

_TIMESTAMP: Final = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)|(?P<year2>\d{4})(?P<month2>\d\d)(?P<day2>\d\d)"
    r"|(?P<week_year>\d{4})-?W(?P<week>\d\d)-?(?P<weekday>\d)|(?P<ordinal_year>\d{4})-?(?P<ordinal>\d{3}))"
    r"T(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d))?)?(?:[.,]\d+)?"
    r"(?P<offset>Z|[+-]\d\d(?::?\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)


def timestamp_form(text: str) -> Literal["offset", "local"] | None:
    """Tell whether a text is an ISO 8601 date and time, with its offset or without; None if it is none.

    Calendar, week and ordinal dates count, in the extended and the basic format, to the hour, minute, second
    or a fraction; a date alone is no timestamp.
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is None or not _exists(found):
        return None
    return "offset" if found["offset"] else "local"


def _exists(found: re.Match[str]) -> bool:
    """Tell whether the day is in the calendar and the time on the clock (24:00 and leap seconds included)."""
    part = {name: int(value) for name, value in found.groupdict().items() if value and value.isdigit()}
    try:
        if "week" in part:
            dt.date.fromisocalendar(part["week_year"], part["week"], part["weekday"])
        elif "ordinal" in part:
            dt.date(part["ordinal_year"], 1, 1)
        else:
            dt.date(*(part.get(name, part.get(f"{name}2", 0)) for name in ("year", "month", "day")))
    except ValueError:
        return False
    clock = part["hour"] <= 24 and part.get("minute", 0) <= 59 and part.get("second", 0) <= 60  # noqa: PLR2004
    return clock and 1 <= part.get("ordinal", 1) <= 366  # noqa: PLR2004
