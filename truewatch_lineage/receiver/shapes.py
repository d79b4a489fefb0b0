"""The shapes of the API's answers, as JSON schemas; `openapi` publishes them."""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.receiver.projection import RECORD_TYPES, SOURCES

Tree = dict[str, Any]

_TEXT: Final[Tree] = {"type": "string"}
_NUMBER: Final[Tree] = {"type": "number"}
_COUNT: Final[Tree] = {"type": "integer"}
_FLAG: Final[Tree] = {"type": "boolean"}
_ANY: Final[Tree] = {"type": "object"}


def _object(required: Tree, optional: Tree | None = None) -> Tree:
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def _maybe(schema: Tree) -> Tree:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(of: str | Tree) -> Tree:
    return {"type": "array", "items": _ref(of) if isinstance(of, str) else of}


def _ref(name: str) -> Tree:
    return {"$ref": f"#/components/schemas/{name}"}


def _counts() -> Tree:
    return {"type": "object", "additionalProperties": _COUNT}


_MAYBE_TEXT: Final = _maybe(_TEXT)
_WARNING: Final = _object({"path": _TEXT, "message": _TEXT})
_PROBLEM: Final = _object({"path": _TEXT, "message": _TEXT, "code": _TEXT})
_VERDICT: Final[Tree] = {"accepted": _FLAG, "problems": _list(_PROBLEM), "warnings": _list(_WARNING)}
_TRUEWATCH: Final = _object({**_VERDICT, "records": _counts(), "source": _TEXT})
_PORTAL: Final = _object({**_VERDICT, "nodes_upserted": _maybe(_COUNT), "edges_upserted": _maybe(_COUNT)})

_ARRIVAL: Final[Tree] = {
    "seq": _COUNT,
    "destination": _TEXT,
    "arrived_at": _TEXT,
    "last_at": _TEXT,
    "duplicates": _COUNT,
    "warnings": _list(_WARNING),
}
_EVENT: Final[Tree] = {
    "event_id": _TEXT,
    "kind": _TEXT,
    "event_type": _MAYBE_TEXT,
    "event_time": _MAYBE_TEXT,
    "run_id": _MAYBE_TEXT,
    "job_namespace": _MAYBE_TEXT,
    "job_name": _MAYBE_TEXT,
    "dataset_namespace": _MAYBE_TEXT,
    "dataset_name": _MAYBE_TEXT,
    "size": _COUNT,
    "records": _counts(),
    "verdicts": _ref("Verdicts"),
}
_NODE: Final[Tree] = {
    "id": _TEXT,
    "type": {"enum": ["job", "dataset", "column"]},
    "namespace": _TEXT,
    "name": _TEXT,
    "label": _TEXT,
}
_PLACE: Final[Tree] = {"x": _NUMBER, "y": _NUMBER, "width": _NUMBER, "height": _NUMBER}
_BY_TYPE: Final[Tree] = {
    "job_id": _TEXT,
    "dataset_id": _TEXT,
    "state": _MAYBE_TEXT,
    "run_id": _MAYBE_TEXT,
    "runs": _COUNT,
    "job_type": _MAYBE_TEXT,
    "integration": _MAYBE_TEXT,
    "columns": _COUNT,
    "columns_reason": _MAYBE_TEXT,
    "expanded": _FLAG,
    "parent": _TEXT,
    "field": _TEXT,
    "data_type": _MAYBE_TEXT,
    "description": _MAYBE_TEXT,
    "ordinal": _maybe(_COUNT),
}
_RELATIVE: Final = _maybe(
    _object({"run_id": _MAYBE_TEXT, "job_namespace": _MAYBE_TEXT, "job_name": _MAYBE_TEXT, "job": _MAYBE_TEXT})
)
_RUN: Final[Tree] = {
    "run_id": _TEXT,
    "job_namespace": _TEXT,
    "job_name": _TEXT,
    "job": _TEXT,
    "state": _MAYBE_TEXT,
    "started_at": _MAYBE_TEXT,
    "ended_at": _MAYBE_TEXT,
    "duration_s": _maybe(_NUMBER),
    "first_event_at": _TEXT,
    "last_event_at": _TEXT,
    "events": _COUNT,
    "duplicates": _COUNT,
    "parent": _RELATIVE,
    "root": _RELATIVE,
    "nominal_start": _MAYBE_TEXT,
    "nominal_end": _MAYBE_TEXT,
    "error_message": _MAYBE_TEXT,
    "open": _FLAG,
}
_EDGE: Final = _object(
    {
        "id": _TEXT,
        "source": _TEXT,
        "target": _TEXT,
        "type": {"enum": ["input", "output", "field"]},
        "event_id": _MAYBE_TEXT,
        "last_at": _MAYBE_TEXT,
    },
    {
        "jobs": _list(_TEXT),
        "transformations": _list(_ANY),
        "indirect": _FLAG,
        "points": _list(_list(_NUMBER)),
    },
)
_RECORD: Final[Tree] = {
    "type": "object",
    "required": ["source", "lineage_record_type"],
    "properties": {
        "source": {"enum": [*SOURCES.values(), "unknown_event"]},
        "lineage_record_type": {"enum": list(RECORD_TYPES)},
    },
    "additionalProperties": {"type": ["string", "number", "boolean"]},
}
_STATS: Final = _object(
    {
        "requests": {"type": "object", "additionalProperties": _counts()},
        "connections": _object({"now": _COUNT, "peak": _COUNT}),
        "stored": _COUNT,
        "duplicates": _COUNT,
        "events": _COUNT,
        "records": _counts(),
        "jobs": _COUNT,
        "datasets": _COUNT,
        "columns": _COUNT,
        "edges": _COUNT,
        "runs": _object({"total": _COUNT, "open": _COUNT}),
        "ingest_errors": _COUNT,
        "evicted": _COUNT,
        "bytes": _COUNT,
        "keep_days": _NUMBER,
        "keep_bytes": _COUNT,
    }
)
_RESULT: Final = _object(
    {
        "type": {"enum": ["job", "dataset", "column", "run"]},
        "id": _TEXT,
        "namespace": _TEXT,
        "name": _TEXT,
        "field": _MAYBE_TEXT,
        "run_id": _MAYBE_TEXT,
        "state": _MAYBE_TEXT,
        "label": _TEXT,
    }
)
_GRAPH: Final = _object(
    {
        "node": _MAYBE_TEXT,
        "depth": _COUNT,
        "direction": _TEXT,
        "granularity": _TEXT,
        "nodes": _list("Node"),
        "edges": _list(_EDGE),
        "truncated": _FLAG,
    },
    {"layout": _object({"width": _NUMBER, "height": _NUMBER})},
)
_COLUMN: Final = _object(
    {"id": _TEXT, "name": _TEXT, "type": _MAYBE_TEXT, "description": _MAYBE_TEXT, "ordinal": _maybe(_COUNT)}
)

SCHEMAS: Final[Tree] = {
    "Accepted": _object({"event_id": _TEXT, "warnings": _list(_WARNING)}),
    "Done": _object({"status": {"enum": ["ok"]}}),
    "Error": _object({"error_code": _TEXT, "message": _TEXT}),
    "EventDetails": _object(
        {**_EVENT, "event": _ANY, "arrivals": _list(_object(_ARRIVAL)), "record_list": _list("Record")}
    ),
    "Events": _object({"events": _list(_object({**_EVENT, **_ARRIVAL}, {"event": _ANY})), "next": _maybe(_COUNT)}),
    "FaultStep": _object(
        {},
        {
            "status": {"type": "integer", "minimum": 200, "maximum": 599},
            "headers": {"type": "object", "additionalProperties": _TEXT},
            "body": {},
            "delay": {"type": "number", "minimum": 0, "maximum": 3600},
            "times": _maybe({"type": "integer", "minimum": 1}),
            "drop": _maybe({"enum": ["before", "after", "mid"]}),
        },
    ),
    "Faults": _object({"status": {"enum": ["ok"]}, "steps": _COUNT}),
    "Graph": _GRAPH,
    "Node": _object(_NODE, {**_BY_TYPE, **_PLACE, "distance": _maybe(_COUNT), "side": _MAYBE_TEXT}),
    "NodeDetails": _object(
        {
            "node": _ref("Node"),
            "columns": _list(_COLUMN),
            "runs": _list(_object(_RUN)),
            "events": _list(_object({**_EVENT, "seq": _COUNT, "arrived_at": _TEXT})),
            "facets": _ANY,
        }
    ),
    "Open": _object(
        {
            "runs": _list(_object({**_RUN, "reason": _TEXT})),
            "datasets": _list(_object({**_NODE, "reason": _TEXT}, _BY_TYPE)),
            "runs_total": _COUNT,
            "datasets_total": _COUNT,
        }
    ),
    "OpenApi": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
    "Record": _RECORD,
    "Records": _object({"records": _list("Record"), "next": _MAYBE_TEXT}),
    "Runs": _object({"runs": _list(_object(_RUN)), "next": _maybe(_COUNT)}),
    "Search": _object({"results": _list(_RESULT), "truncated": _FLAG}),
    "Stats": _STATS,
    "Upserted": _object(
        {"status": {"enum": ["ok"]}, "data": _object({"nodesUpserted": _COUNT, "edgesUpserted": _COUNT})}
    ),
    "Verdicts": _object(
        {"dataway": _TRUEWATCH, "datakit": _TRUEWATCH, "portal": _PORTAL, "openlineage": _object(_VERDICT)}
    ),
}
