"""What Spark masks on its pages and in its logs: widened, so that a token is, and never narrowed."""

from __future__ import annotations

from typing import Final

KEY: Final = "spark.redaction.regex"
SLOW_EVENTS: Final = "spark.scheduler.listenerbus.logSlowEvent"
"""An event that takes a listener over a second is written to the driver's log at INFO, with every property as it is."""

SPARKS_OWN: Final = "(?i)secret|password|token|access[.]?key"
"""Spark's default, in 3.5 and 4.0: it covers neither ``auth.apiKey`` nor ``Authorization``."""

WORDS: Final = "secret|password|token|access[.]?key|api[._-]?key|authorization"
"""Measured: it masks every place but the process list and ``spark.conf.get``."""


def widened(existing: str | None) -> str:
    """Return an expression that masks what ``existing`` masks, and tokens.

    Args:
        existing: The one in force, or None for Spark's own.
    """
    ours = f"(?i){WORDS}"
    if not existing or existing in (SPARKS_OWN, ours):
        return ours
    group = f"(?i:{WORDS})"
    # The group keeps a flag or an alternative of the other to itself.
    return existing if existing.endswith(f"|{group}") else f"(?:{existing})|{group}"
