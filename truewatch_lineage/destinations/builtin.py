"""The destinations this package knows, as their own pages describe them."""

from __future__ import annotations

from typing import Final

from truewatch_lineage import protocol
from truewatch_lineage.destinations.profile import EventKind, Profile

ALL_KINDS: Final[frozenset[EventKind]] = frozenset({"RunEvent", "JobEvent", "DatasetEvent"})
_TRUEWATCH_LOOK: Final = "In TrueWatch, search for the record by job namespace, job name, or runId."

DATAWAY: Final = Profile(
    kind="dataway",
    label="TrueWatch DataWay",
    endpoint=protocol.DATAWAY_ENDPOINT,
    default_url=None,
    sends_token=True,
    needs_token=True,
    success=None,
    accepts=ALL_KINDS,
    max_decoded=protocol.MAX_DECODED_BYTES,
    compression="gzip",
    schema_url=None,
    missing="Check the url: it must be your site's data ingestion URL, such as https://openway.truewatch.com.",
    look=_TRUEWATCH_LOOK,
)

DATAKIT: Final = Profile(
    kind="datakit",
    label="DataKit",
    endpoint=protocol.DATAKIT_ENDPOINT,
    default_url=protocol.DATAKIT_URL,
    sends_token=False,
    needs_token=False,
    success=None,
    accepts=ALL_KINDS,
    max_decoded=protocol.MAX_DECODED_BYTES,
    compression="gzip",
    schema_url=None,
    missing="Enable DataKit's ddtrace collector, which registers this path.",
    look=_TRUEWATCH_LOOK,
)

PORTAL: Final = Profile(
    kind="portal",
    label="Spotify Portal",
    endpoint=protocol.PORTAL_ENDPOINT,
    default_url=None,
    sends_token=True,
    needs_token=True,
    success=frozenset({201}),
    accepts=frozenset({"RunEvent"}),
    max_decoded=None,
    compression="none",
    schema_url=protocol.PORTAL_SCHEMA_URL,
    missing="Check that the url points to your Portal instance.",
    look="In Portal, open /data-overview/lineage.",
)

OPENLINEAGE: Final = Profile(
    kind="openlineage",
    label="OpenLineage endpoint",
    endpoint=protocol.OPENLINEAGE_ENDPOINT,
    default_url=None,
    sends_token=True,
    needs_token=False,
    success=None,
    accepts=ALL_KINDS,
    max_decoded=None,
    compression="gzip",
    schema_url=None,
    missing="Check the url and the endpoint.",
    look="Look for the job in that service's own pages.",
)

KAFKA: Final = Profile(
    kind="kafka",
    label="Kafka",
    endpoint="",
    default_url=None,
    sends_token=False,
    needs_token=False,
    success=None,
    accepts=ALL_KINDS,
    max_decoded=None,
    compression="gzip",
    schema_url=None,
    missing="Create the topic, or check the url.",
    look="Read the topic.",
)

PROFILES: Final = {profile.kind: profile for profile in (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE, KAFKA)}
BY_ENDPOINT: Final = {profile.endpoint: profile for profile in PROFILES.values() if profile.endpoint}
