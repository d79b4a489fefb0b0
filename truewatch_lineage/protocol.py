"""What goes over the wire: every fact once, with the sentence of the destination's own page beside it.

Quotations are from TrueWatch's "OpenLineage" page (T) and Spotify Portal's "Data Lineage" page (P); where a page is
silent the RFC or the public source that was measured is named.
"""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

DATAWAY_ENDPOINT: Final = "/v1/write/openlineage"
"""T: "The complete URL is: <OPENLINEAGE_BASE_URL>/v1/write/openlineage"."""

DATAKIT_ENDPOINT: Final = "/openlineage/api/v1/lineage"
"""T: "The collector registers POST /openlineage/api/v1/lineage by default"."""

DATAKIT_URL: Final = "http://127.0.0.1:9529"
"""T: "DataKit normally listens on HTTP port 9529"."""

PORTAL_ENDPOINT: Final = "/api/data-registry/lineage"
"""P: ``export OPENLINEAGE_ENDPOINT="/api/data-registry/lineage"``."""

OPENLINEAGE_ENDPOINT: Final = "/api/v1/lineage"
"""T: "clients normally default to /api/v1/lineage"."""

PORTAL_SCHEMA_URL: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
"""P: "Wrong schemaURL: Should be https://openlineage.io/spec/2-0-2/OpenLineage.json."."""

SCHEMA_URLS: Final = {
    "RunEvent": f"{PORTAL_SCHEMA_URL}#/$defs/RunEvent",
    "JobEvent": f"{PORTAL_SCHEMA_URL}#/$defs/JobEvent",
    "DatasetEvent": f"{PORTAL_SCHEMA_URL}#/$defs/DatasetEvent",
}
"""T: "schemaURL (the specification version URL)"; filled in where an event lacks it."""

EVENT_TYPES: Final = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
"""P: "Must be one of START, RUNNING, COMPLETE, ABORT, FAIL, or OTHER."."""

TERMINAL_EVENT_TYPES: Final = ("COMPLETE", "FAIL", "ABORT")
"""T: "A run normally emits START followed by a terminal COMPLETE, FAIL, or ABORT."."""

MAX_DECODED_BYTES: Final = 8 * MIB
"""T: "downstream still limits each decoded event to 8 MiB"."""

MAX_RECEIVED_BYTES: Final = 64 * MIB
"""T: "max_lineage_body_mb defaults to a 64 MiB limit on the received body, measured before decompression"."""

CACHED_ERROR_CODE: Final = "dataway.cached"
"""T: "A 200 body with error_code=dataway.cached means DataWay cached the event"."""

QUOTA_MARK: Final = "beyondDataUsage"
"""DataWay's public source: a 403 whose body holds it is a quota, not a bad token."""

TOKEN_HEADER: Final = "X-Token"  # noqa: S105 - a header's name
"""T: "the precedence is query token, X-Token, then Bearer"."""

TOKEN_QUERY: Final = "token"  # noqa: S105 - a parameter's name
"""DataWay's public source: the query parameter is ``token``."""

MAX_ANSWER_BYTES: Final = 64 * 1024
"""How much of an answer is read; the rest is never looked at and its connection is closed."""

MAX_RETRY_AFTER: Final = 3600.0
"""Seconds: a longer Retry-After (RFC 9110, 10.2.3) is cut to this, so that a mistake can't stop lineage for days."""
