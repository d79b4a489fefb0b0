"""The table of the API: each path with its parameters and the shape of its answer; read by `api` and `openapi`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from truewatch_lineage.receiver.graph import MAX_DEPTH
from truewatch_lineage.receiver.params import Param, limit, texts
from truewatch_lineage.receiver.projection import RECORD_TYPES, SOURCES
from truewatch_lineage.receiver.queries import EVENT_FILTERS, RECORD_FILTERS
from truewatch_lineage.receiver.run_queries import FILTERS

MAX_LIMIT: Final = 1000
MAX_GRAPH: Final = 10_000
_SOURCES: Final = (*SOURCES.values(), "unknown_event")
_ORDER: Final = Param("order", "text", "asc: the oldest first; desc: the newest", "asc", choices=("asc", "desc"))
_AFTER: Final = "the next of the page before"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path and method.

    Attributes:
        method: Of HTTP.
        path: With ``{name}`` for parts that vary.
        name: The handler's, a method of ``Api``.
        summary: What it does.
        answer: The name of its answer's schema in `openapi`, or a media type where it is no JSON.
        params: Its query parameters.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: str
    params: tuple[Param, ...] = ()


ENDPOINTS: Final = (
    Endpoint(
        "GET",
        "/api/records",
        "records",
        "Records as TrueWatch projects them",
        "Records",
        (
            Param("source", "text", "only those of this source", choices=_SOURCES),
            Param("lineage_record_type", "text", "only those of this type", choices=RECORD_TYPES),
            *texts(*RECORD_FILTERS),
            limit(MAX_LIMIT),
            Param("after", "cursor", _AFTER),
            _ORDER,
        ),
    ),
    Endpoint(
        "GET",
        "/api/events",
        "events",
        "Events as received, redacted, with each destination's verdict",
        "Events",
        (
            *texts(*EVENT_FILTERS),
            limit(MAX_LIMIT),
            Param("after", "integer", _AFTER),
            _ORDER,
            Param("fields", "text", "summary: without the event itself", "all", choices=("all", "summary")),
        ),
    ),
    Endpoint("DELETE", "/api/events", "clear_events", "Forget every event", "Done"),
    Endpoint("GET", "/api/events/{event_id}", "event", "One event, its arrivals and records", "EventDetails"),
    Endpoint(
        "GET",
        "/api/graph",
        "graph",
        "The graph around a node, breadth first; without node the newest nodes",
        "Graph",
        (
            Param("node", "text", "a node's id, or a record's job_id or dataset_id"),
            Param("depth", "integer", "steps", 3, 0, MAX_DEPTH),
            Param("direction", "text", "which way", "both", choices=("upstream", "downstream", "both")),
            Param("granularity", "text", "the grain", "table", choices=("table", "column")),
            limit(MAX_GRAPH, 1000),
            Param("layout", "flag", "with positions, up to 1000 nodes", default=False),
            Param("expand", "texts", "datasets to show with their columns, by id; * for all"),
        ),
    ),
    Endpoint(
        "GET",
        "/api/node",
        "node",
        "One node with what is known of it",
        "NodeDetails",
        (Param("node", "text", "its id"),),
    ),
    Endpoint(
        "GET",
        "/api/search",
        "search",
        "Jobs, datasets, columns and runs by a part of their name",
        "Search",
        (Param("q", "text", "a part of namespace/name, or the start of a runId", ""), limit(100, 20)),
    ),
    Endpoint(
        "GET",
        "/api/runs",
        "runs",
        "Runs with state and times, the latest first",
        "Runs",
        (
            *texts(*FILTERS),
            Param("open", "flag", "true: only those without a terminal event; false: only the others"),
            limit(MAX_LIMIT),
            Param("after", "integer", _AFTER),
        ),
    ),
    Endpoint(
        "GET",
        "/api/open",
        "open",
        "Open runs, and datasets without columns, with the reason",
        "Open",
        (limit(MAX_LIMIT),),
    ),
    Endpoint("GET", "/api/live", "live", "Server-sent events: hello, changed, refused, cleared", "text/event-stream"),
    Endpoint("GET", "/api/stats", "stats", "Counters", "Stats"),
    Endpoint("GET", "/api/faults", "faults", "How many steps of the script are left", "Faults"),
    Endpoint("POST", "/api/faults", "set_faults", "Misbehave by a script", "Faults"),
    Endpoint("DELETE", "/api/faults", "clear_faults", "Behave again", "Done"),
    Endpoint("GET", "/healthz", "healthz", "Whether it runs", "Done"),
    Endpoint("GET", "/metrics", "metrics", "Counters for Prometheus", "text/plain"),
    Endpoint("GET", "/openapi.json", "openapi", "This description", "OpenApi"),
)
"""In the order of design's table; ``/`` and ``/static/`` are the page's."""

KNOWN_PATHS: Final = frozenset(endpoint.path for endpoint in ENDPOINTS)
