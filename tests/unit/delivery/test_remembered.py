"""What is remembered is made anew when what it is made of changes, and is shown nowhere."""

from __future__ import annotations

from truewatch_lineage.delivery.remembered import Remembered


def test_a_value_is_made_once_until_its_source_changes() -> None:
    """Equal sources have one value; only the last is kept."""
    remembered: Remembered[object] = Remembered()
    first, again, other, anew = (remembered.get([source], object) for source in ("a", "a", "b", "a"))

    assert first is again
    assert len({first, other, anew}) == 3


def test_what_was_made_is_not_shown() -> None:
    """A token may be in it, and in what it was made of."""
    remembered: Remembered[str] = Remembered()
    remembered.get("a-token", lambda: "Bearer a-token")

    assert "a-token" not in repr(remembered)
