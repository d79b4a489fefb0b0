"""ISO 8601 timestamps."""

from __future__ import annotations

import pytest

from truewatch_lineage.events.timestamps import timestamp_form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-08-03T19:40:00.000Z", "offset"),
        ("2026-08-03t19:40:00z", "offset"),
        ("2026-08-03T19:40:00+02:00", "offset"),
        ("2026-08-03T19:40:00-0230", "offset"),
        ("2026-08-03T19:40:00,5+02", "offset"),
        ("20260803T194000Z", "offset"),
        ("2026-11-03T10", "local"),
        ("2026-11-03T10:53:52.427343", "local"),
        ("2026-W10-2T10:00", "local"),
        ("2026W102T1000Z", "offset"),
        ("2026-366T10:00Z", "offset"),
        ("2026-12-31T24:00:00Z", "offset"),
        ("2016-12-31T23:59:60Z", "offset"),
        ("2026-08-03", None),
        ("2026-08-03 19:40:00Z", None),
        ("2026-02-30T10:00:00Z", None),
        ("2026-13-01T10:00:00Z", None),
        ("2026-W60-1T10:00Z", None),
        ("2026-000T10:00Z", None),
        ("2026-08-03T25:00:00Z", None),
        ("2026-08-03T10:60:00Z", None),
        ("1754250000", None),
        ("٢٠٢٦-08-03T10:00:00Z", None),
        ("", None),
    ],
)
def test_form(text, form):
    """Date and time in any form of ISO 8601 count, with or without offset; what is not in the calendar does not."""
    assert timestamp_form(text) == form
