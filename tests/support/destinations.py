"""Destinations to send to in tests, and a sender that is closed afterwards."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.delivery.outcome import Outcome
from truewatch_lineage.delivery.sender import Sender
from truewatch_lineage.destinations.builtin import PROFILES
from truewatch_lineage.destinations.tokens import StaticToken, Token

TOKEN: Final = "canary-7f3a9c1e55~!*'();:@&=+$,/?#[]"
"""A token whose text is unlike anything else, with what must be percent-encoded in a query."""

EVENT: Final[dict[str, Any]] = {
    "eventType": "START",
    "eventTime": "2026-10-21T08:00:00Z",
    "run": {"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"},
    "job": {"namespace": "example.scheduler", "name": "daily_orders"},
    "producer": "https://example.com/openlineage/integration",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
}
EVENT_GZ: Final = gzip.compress(json.dumps(EVENT).encode(), mtime=0)


def destination(url: str, kind: str = "dataway", *, token: str | None = TOKEN, **more: Any) -> DestinationSettings:
    """Make the settings of a destination whose origin is ``url``; ``more`` are further settings."""
    profile = PROFILES[kind]
    settings: dict[str, Any] = {
        "name": "default",
        "profile": profile,
        "url": url + profile.endpoint,
        "token_source": None if token is None else StaticToken(Token.parse(token)),
        "compression": profile.compression,
    }
    return DestinationSettings(**(settings | more))


@contextmanager
def sender(url: str, kind: str = "dataway", *, connections: int = 4, **more: Any) -> Iterator[Sender]:
    """Make a sender to ``url`` and close it afterwards; ``more`` as for :func:`destination`."""
    made = Sender(destination(url, kind, **more), connections=connections)
    try:
        yield made
    finally:
        made.close()


def send(to: Sender, seconds: float = 5.0) -> Outcome:
    """Send the example event with a deadline ``seconds`` from now."""
    return to.send(EVENT_GZ, deadline=time.monotonic() + seconds)
