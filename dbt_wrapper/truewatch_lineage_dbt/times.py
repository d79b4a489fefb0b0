"""Times as OpenLineage wants them."""

from __future__ import annotations

from datetime import datetime, timezone


def now() -> str:
    """Return the time as ISO 8601 in UTC, with milliseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_utc(text: str) -> str | None:
    """Mark as UTC what dbt gives without an offset (``datetime.now(timezone.utc).replace(tzinfo=None)``).

    Returns:
        None for an empty text, as dbt's messages have it for a time that is not known.
    """
    return f"{text}Z" if text and text[-1] != "Z" and "+" not in text else text or None
