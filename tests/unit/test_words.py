"""Numbers and times in sentences."""

from __future__ import annotations

import pytest

from truewatch_lineage.words import counted, printable, span


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 events"), (1, "1 event"), (2, "2 events"), (9_437_546, "9,437,546 events")]
)
def test_counts_agree_with_their_noun_and_show_their_thousands(number, text) -> None:
    """One is the only singular."""
    assert counted(number, "event") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (3 * 86_400, "3 days"),
    ],
)
def test_times_are_told_in_the_largest_unit_of_which_there_are_two(seconds, text) -> None:
    """So that no noun needs a singular, and no number is long."""
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("etl/jö b", "etl/jö b"), ("a\nb\x1b[0m", "a\\nb\\x1b[0m"), ("\ud800", "\\ud800"), ("x" * 201, "x" * 200 + "…")],
)
def test_others_text_takes_one_line_of_a_log(text, shown) -> None:
    """No name of a job can write a line of its own, or fill the log."""
    assert printable(text) == shown
