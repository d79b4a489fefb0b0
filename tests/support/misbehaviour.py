"""How a receiver misbehaves in kill loops: nothing of it may lose an event, and some of it may repeat one."""

from __future__ import annotations

from typing import Any, Final

FAULTS: Final[tuple[dict[str, Any], ...]] = (
    {"status": 503, "times": 3},
    {"status": 500, "times": 2},
    {"drop": "before", "times": 2},
    {"drop": "after", "times": 2},
    {"drop": "mid", "times": 2},
)
"""Steps of a receiver's script."""


def ambiguous(fault: dict[str, Any]) -> int:
    """Return how many events a step stores without saying so, which are therefore sent again."""
    return int(fault["times"]) if fault.get("drop") in {"after", "mid"} else 0
