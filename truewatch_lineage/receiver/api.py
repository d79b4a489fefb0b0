"""The API that tests, people and the page look through; `endpoints` is its table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from truewatch_lineage.receiver import graph, nodes, queries, run_queries
from truewatch_lineage.receiver.details import details
from truewatch_lineage.receiver.endpoints import ENDPOINTS, Endpoint
from truewatch_lineage.receiver.faults import FaultScript, parse_script
from truewatch_lineage.receiver.graph_api import answer
from truewatch_lineage.receiver.live import Live
from truewatch_lineage.receiver.openapi import describe
from truewatch_lineage.receiver.params import filters, read_params
from truewatch_lineage.receiver.stats import Stats
from truewatch_lineage.receiver.store import Store
from truewatch_lineage.serving.answers import Refusal

MAX_SCRIPT_BYTES = 1024 * 1024
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"

Values = dict[str, Any]


class Api:
    """The endpoints under ``/api``, ``/healthz``, ``/metrics`` and ``/openapi.json``.

    A handler takes the request and the values of its parameters, and returns a response, or what becomes one as JSON.

    Args:
        store: The events.
        faults: The script of misbehaviour.
        stats: The counters.
        live: The live updates.
    """

    def __init__(self, store: Store, faults: FaultScript, stats: Stats, live: Live) -> None:
        self._store = store
        self._faults = faults
        self._stats = stats
        self._live = live

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(endpoint.path, _handler(endpoint, getattr(self, endpoint.name)), methods=[endpoint.method])
            for endpoint in ENDPOINTS
        ]

    async def events(self, _request: Request, values: Values) -> object:
        """``{"events": […], "next"}``, in the order of arrival; see `queries.events`."""
        found, following = await self._store.read(
            queries.events,
            filters(values, queries.EVENT_FILTERS),
            after=values["after"],
            limit=values["limit"],
            order=values["order"],
            summary=values["fields"] == "summary",
        )
        return {"events": found, "next": following}

    async def event(self, request: Request, _values: Values) -> object:
        """One event with its arrivals and records; 404 if unknown."""
        found = await self._store.read(queries.event, request.path_params["event_id"])
        if found is None:
            raise Refusal(404, "unknownEvent", "No event has this event_id.")
        return found

    async def clear_events(self, _request: Request, _values: Values) -> object:
        """Forget every event; the counters of requests stay."""
        await self._store.clear()
        self._live.cleared()
        return {"status": "ok"}

    async def records(self, _request: Request, values: Values) -> object:
        """``{"records": […], "next"}``; see `queries.records`."""
        found, following = await self._store.read(
            queries.records,
            filters(values, queries.RECORD_FILTERS),
            source=values["source"],
            record_type=values["lineage_record_type"],
            after=values["after"],
            limit=values["limit"],
            order=values["order"],
        )
        return {"records": found, "next": following}

    async def graph(self, _request: Request, values: Values) -> object:
        """``{"nodes": […], "edges": […], …}``; see `graph_api.answer`."""
        question = graph.Question(
            values["depth"], values["direction"], values["granularity"], values["limit"], values["expand"]
        )
        return await self._store.read(answer, values["node"], question, layout=values["layout"])

    async def node(self, _request: Request, values: Values) -> object:
        """One node with its columns, runs, events and facets; 404 if unknown."""
        if values["node"] is None:
            raise Refusal(400, "invalidParameter", "node is required.")
        row = await self._store.read(nodes.resolve, values["node"])
        if row is None:
            raise Refusal(404, "unknownNode", "No job, dataset or column has this id.")
        return await self._store.read(details, row)

    async def search(self, _request: Request, values: Values) -> object:
        """``{"results": […], "truncated"}``; see `nodes.search`."""
        found, truncated = await self._store.read(nodes.search, values["q"].strip(), values["limit"])
        return {"results": found, "truncated": truncated}

    async def runs(self, _request: Request, values: Values) -> object:
        """``{"runs": […], "next"}``; see `run_queries.runs`."""
        found, following = await self._store.read(
            run_queries.runs,
            filters(values, tuple(run_queries.FILTERS)),
            only_open=values["open"],
            after=values["after"] or 0,
            limit=values["limit"],
        )
        return {"runs": found, "next": following}

    async def open(self, _request: Request, values: Values) -> object:
        """``{"runs", "datasets", "runs_total", "datasets_total"}``: what is not whole, each with the reason."""
        runs, runs_total = await self._store.read(run_queries.open_runs, values["limit"])
        datasets, datasets_total = await self._store.read(nodes.without_columns, values["limit"])
        return {"runs": runs, "datasets": datasets, "runs_total": runs_total, "datasets_total": datasets_total}

    async def live(self, _request: Request, _values: Values) -> object:
        """Server-sent events; see `live`."""
        self._live.check()
        seq = await self._store.read(queries.last_seq)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._live.stream(seq), headers=headers, media_type="text/event-stream")

    async def faults(self, _request: Request, _values: Values) -> object:
        """``{"status", "steps"}``: what is left of the script."""
        return {"status": "ok", "steps": self._faults.left}

    async def set_faults(self, request: Request, _values: Values) -> object:
        """Replace the script of misbehaviour; see ``faults.py``."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_SCRIPT_BYTES:
                raise Refusal(413, "scriptTooLarge", f"A script has at most {MAX_SCRIPT_BYTES} bytes.")
        steps = parse_script(bytes(body))
        self._faults.replace(steps)
        return {"status": "ok", "steps": len(steps)}

    async def clear_faults(self, _request: Request, _values: Values) -> object:
        """Behave again."""
        self._faults.replace([])
        return {"status": "ok"}

    async def stats(self, _request: Request, _values: Values) -> object:
        """Return the counters; see ``Stats.as_json``."""
        keep = {"keep_days": self._store.keep.days, "keep_bytes": self._store.keep.size}
        return self._stats.as_json({**await self._store.read(queries.stats), **keep})

    async def metrics(self, _request: Request, _values: Values) -> object:
        """Return the counters for Prometheus."""
        text = self._stats.as_text(await self._store.read(queries.stats))
        return PlainTextResponse(text, headers={"Content-Type": PROMETHEUS})

    async def healthz(self, _request: Request, _values: Values) -> object:
        """Tell that the receiver runs."""
        return {"status": "ok"}

    async def openapi(self, _request: Request, _values: Values) -> object:
        """Describe the API in OpenAPI 3.1."""
        return describe()


def _handler(
    endpoint: Endpoint, handle: Callable[[Request, Values], Awaitable[object]]
) -> Callable[[Request], Awaitable[Response]]:
    async def answering(request: Request) -> Response:
        result = await handle(request, read_params(endpoint.params, request.query_params))
        if isinstance(result, Response):
            return result
        return Response(orjson.dumps(result), media_type="application/json")

    return answering
