"""What the intake hands to the store: an event that was taken, or the fact that one was refused."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from truewatch_lineage.receiver.checks import Finding, kind_of
from truewatch_lineage.receiver.ids import event_id
from truewatch_lineage.receiver.parsing import parse
from truewatch_lineage.receiver.redact import redact


@dataclass(frozen=True, slots=True)
class Arrival:
    """An accepted event as it came.

    Attributes:
        event_id: The sha256 of its decoded bytes, in hex.
        destination: The name of the rules that took it.
        arrived_at: Seconds since the epoch.
        warnings: What the rules advise, a JSON array of ``{"path", "message"}``.
        kind: ``RunEvent``, ``JobEvent`` or ``DatasetEvent``.
        size: Its decoded bytes.
        body: Its JSON, redacted.
        tree: ``body``, parsed.
    """

    event_id: str
    destination: str
    arrived_at: float
    warnings: str
    kind: str
    size: int
    body: bytes
    tree: dict[str, Any]

    @classmethod
    def of(
        cls,
        destination: str,
        body: bytes,
        tree: dict[str, Any],
        findings: Sequence[Finding],
        secrets: Iterable[str] = (),
    ) -> Arrival:
        """Make one of an event that passed the checks.

        Args:
            destination: The name of the rules that took it.
            body: Its decoded bytes.
            tree: ``body``, parsed.
            findings: What the rules advise.
            secrets: Texts that must not be kept.
        """
        kept = redact(body, secrets)
        # What is projected is what is kept, so that records hold no secret either.
        shown = tree if kept is body else parse(kept)
        return cls(
            event_id=event_id(body),
            destination=destination,
            arrived_at=time.time(),
            warnings=orjson.dumps([{"path": item.path, "message": item.message} for item in findings]).decode(),
            kind=str(kind_of(shown)),
            size=len(body),
            body=kept,
            tree=shown,
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """A payload that was refused; never the payload itself.

    Attributes:
        destination: The name of the rules that refused it.
        reason: The refusal's ``error_code``.
        at: Seconds since the epoch.
        payload_hash: The sha256 of the decoded payload, in hex, or None if it never was whole.
        payload_size: Its bytes, or None if unknown.
    """

    destination: str
    reason: str
    at: float
    payload_hash: str | None
    payload_size: int | None


Entry = Arrival | Refused
