"""What is known of a kind of destination: a frozen record, one for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

AuthMethod = Literal["bearer", "x_token", "query"]
EventKind = Literal["RunEvent", "JobEvent", "DatasetEvent"]

_CLASS_SUCCESSFUL: Final = 2
"""The first digit of the statuses that mean success (RFC 9110, 15.3)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one kind of destination.

    Attributes:
        kind: ``dataway``, ``datakit``, ``portal``, ``openlineage`` or ``kafka``.
        label: The name people know it by.
        endpoint: The path that is appended to the url; empty where events do not go by HTTP.
        default_url: The url where none is set, or None where one must be.
        sends_token: Whether a token is sent at all.
        needs_token: Whether a token is required.
        success: The statuses that mean delivered, or None for any 2xx.
        accepts: The kinds of event it takes; others are skipped and counted.
        max_decoded: Bytes of one event before compression, or None for no limit.
        compression: The default, ``gzip`` or ``none``.
        schema_url: What the top-level ``schemaURL`` is sent as, or None to leave it.
        missing: What to do about a 404, in the destination's own terms.
        look: Where to look for the lineage once it is delivered.
    """

    kind: str
    label: str
    endpoint: str
    default_url: str | None
    sends_token: bool
    needs_token: bool
    success: frozenset[int] | None
    accepts: frozenset[EventKind]
    max_decoded: int | None
    compression: Literal["gzip", "none"]
    schema_url: str | None
    missing: str
    look: str

    def is_success(self, status: int) -> bool:
        """Tell whether ``status`` means that the destination has taken the event."""
        return status // 100 == _CLASS_SUCCESSFUL if self.success is None else status in self.success
