"""Numbers in sentences, written alike everywhere."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """Return ``1 event``, ``2 events``, ``1,234 bytes``: for people, never for programs.

    Args:
        number: How many.
        what: Of what, in the singular, by a noun whose plural ends with s alone.
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
