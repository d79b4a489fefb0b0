"""Numbers in sentences."""

from __future__ import annotations

import pytest

from truewatch_lineage.words import counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 events"), (1, "1 event"), (2, "2 events"), (9_437_546, "9,437,546 events")]
)
def test_counts_agree_with_their_noun_and_show_their_thousands(number, text) -> None:
    """One is the only singular."""
    assert counted(number, "event") == text
