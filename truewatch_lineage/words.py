"""Numbers and times in sentences, written alike everywhere."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 200


def counted(number: int, what: str) -> str:
    """Return ``1 event``, ``2 events``, ``1,234 bytes``: for people, never for programs.

    Args:
        number: How many.
        what: Of what, in the singular, by a noun whose plural ends with s alone.
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def printable(text: str, most: int = _LONGEST) -> str:
    """Return text of others' on one line of a log: what is not printable is escaped, and it is cut.

    Args:
        text: The text.
        most: How many characters are kept.
    """
    kept = text if len(text) <= most else f"{text[:most]}…"
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in kept)


def span(seconds: float) -> str:
    """Return ``90 seconds``, ``2 minutes``, ``3 hours``, ``4 days``: the largest unit of which there are two.

    Args:
        seconds: How long it is.
    """
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
