"""The rules of each destination that the receiver stands in for, one frozen record a path.

Quotations: (T) TrueWatch's "OpenLineage" page, (P) Spotify Portal's "Data Lineage" page.
"""

from __future__ import annotations

from dataclasses import dataclass

from truewatch_lineage import protocol
from truewatch_lineage.serving.credentials import EVERYWHERE, Credential

OWNER = "receiver"
"""What the receiver calls itself in messages, and the namespace of the ``error_code`` of its own."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How one destination answers.

    Attributes:
        name: ``dataway``, ``datakit``, ``portal`` or ``openlineage``; also the namespace of its error codes.
        path: Where it takes events.
        success: The status of an accepted event.
        credentials: Where it looks for a token, the first that is present decides; empty where it asks for none.
        max_received: Bytes of a body as received.
        max_decoded: Bytes of an event after decompression.
        required: The top-level texts an event must have.
        run_events_only: Whether JobEvents and DatasetEvents are refused.
        needs_event_type: Whether ``eventType`` is required, in the exact spelling.
        needs_offset: Whether ``eventTime`` must have a time zone's offset.
        schema_url: The only ``schemaURL`` it takes, or None for any.
    """

    name: str
    path: str
    success: int
    credentials: tuple[Credential, ...]
    max_received: int
    max_decoded: int
    required: tuple[str, ...]
    run_events_only: bool = False
    needs_event_type: bool = False
    needs_offset: bool = False
    schema_url: str | None = None


# T: "All three types require eventTime (an ISO 8601 timestamp), producer (a producer URI), and schemaURL".
_TRUEWATCH_REQUIRED = ("eventTime", "producer", "schemaURL")

DATAWAY = Rules(
    name="dataway",
    path=protocol.DATAWAY_ENDPOINT,
    success=200,
    credentials=EVERYWHERE,
    max_received=protocol.MAX_RECEIVED_BYTES,
    max_decoded=protocol.MAX_DECODED_BYTES,
    required=_TRUEWATCH_REQUIRED,
)

DATAKIT = Rules(
    name="datakit",
    path=protocol.DATAKIT_ENDPOINT,
    success=200,
    # T: "Client supplied query token, Bearer, and X-Token credentials cannot override DataKit's".
    credentials=(),
    max_received=protocol.MAX_RECEIVED_BYTES,
    max_decoded=protocol.MAX_DECODED_BYTES,
    required=_TRUEWATCH_REQUIRED,
)

PORTAL = Rules(
    name="portal",
    path=protocol.PORTAL_ENDPOINT,
    success=201,
    # P: "included in the Authorization: Bearer <token> header".
    credentials=("bearer",),
    max_received=protocol.MAX_RECEIVED_BYTES,
    # P names no limit; this one only bounds the receiver's own memory.
    max_decoded=protocol.MAX_RECEIVED_BYTES,
    # P: "required: eventType, eventTime, run (with runId), job (with namespace and name), producer, and schemaURL".
    required=("eventTime", "producer", "schemaURL"),
    run_events_only=True,
    needs_event_type=True,
    # P: "Must be an ISO-8601 timestamp including timezone offset".
    needs_offset=True,
    schema_url=protocol.PORTAL_SCHEMA_URL,
)

OPENLINEAGE = Rules(
    name="openlineage",
    path=protocol.OPENLINEAGE_ENDPOINT,
    success=201,
    credentials=("bearer",),
    max_received=protocol.MAX_RECEIVED_BYTES,
    max_decoded=protocol.MAX_RECEIVED_BYTES,
    # Marquez, the reference for this path, takes events without a schemaURL.
    required=("eventTime", "producer"),
)

FILE = Rules(
    name="file",
    path="",
    success=200,
    credentials=(),
    max_received=protocol.MAX_RECEIVED_BYTES,
    max_decoded=protocol.MAX_RECEIVED_BYTES,
    required=(),
)
"""No destination: events that were loaded from files, to see what each destination would make of them."""

ALL_RULES = (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE)
