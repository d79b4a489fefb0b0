"""The API that tests and people look through."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from truewatch_lineage.receiver.answers import Refusal
from truewatch_lineage.receiver.faults import FaultScript, parse_script
from truewatch_lineage.receiver.stats import Stats
from truewatch_lineage.receiver.store import Store

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000
MAX_SCRIPT_BYTES = 1024 * 1024
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Api:
    """The endpoints under ``/api``, ``/healthz`` and ``/metrics``.

    Args:
        store: The events.
        faults: The script of misbehaviour.
        stats: The counters.
    """

    def __init__(self, store: Store, faults: FaultScript, stats: Stats) -> None:
        self._store = store
        self._faults = faults
        self._stats = stats

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/api/events", self.events, methods=["GET"]),
            Route("/api/events", self.clear_events, methods=["DELETE"]),
            Route("/api/events/{event_id}", self.event, methods=["GET"]),
            Route("/api/faults", self.set_faults, methods=["POST"]),
            Route("/api/faults", self.clear_faults, methods=["DELETE"]),
            Route("/api/stats", self.stats, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/healthz", self.healthz, methods=["GET"]),
        ]

    async def events(self, request: Request) -> Response:
        """``?run_id=&job_namespace=&job_name=&destination=&limit=&after=`` → ``{"events": […], "next": seq or null}``.

        In the order of arrival; ``next`` is the ``after`` of the following page.
        """
        limit = _number(request, "limit", DEFAULT_LIMIT, MAX_LIMIT)
        rows = await self._store.page(dict(request.query_params), after=_number(request, "after", 0), limit=limit + 1)
        more = len(rows) > limit or (rows and await self._more(request, rows[-1]["seq"]))
        shown = rows[:limit]
        return _json({"events": [_row(row) for row in shown], "next": shown[-1]["seq"] if more else None})

    async def event(self, request: Request) -> Response:
        """Return one event with every arrival of it: ``{"event_id", …, "event", "arrivals": […]}``; 404 if unknown."""
        rows = await self._store.page({"event_id": request.path_params["event_id"]}, after=0, limit=MAX_LIMIT)
        if not rows:
            raise Refusal(404, "unknownEvent", "No event has this event_id.")
        return _json({**_event(rows[0]), "arrivals": [_arrival(row) for row in rows]})

    async def clear_events(self, _request: Request) -> Response:
        """Forget every event; the counters of requests stay."""
        await self._store.clear()
        return _json({"status": "ok"})

    async def set_faults(self, request: Request) -> Response:
        """Replace the script of misbehaviour; see ``faults.py``."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_SCRIPT_BYTES:
                raise Refusal(413, "scriptTooLarge", f"A script has at most {MAX_SCRIPT_BYTES} bytes.")
        steps = parse_script(bytes(body))
        self._faults.replace(steps)
        return _json({"status": "ok", "steps": len(steps)})

    async def clear_faults(self, _request: Request) -> Response:
        """Behave again."""
        self._faults.replace([])
        return _json({"status": "ok"})

    async def stats(self, _request: Request) -> Response:
        """Return the counters; see ``Stats.as_json``."""
        return _json(self._stats.as_json(*await self._store.counts()))

    async def metrics(self, _request: Request) -> Response:
        """Return the counters for Prometheus."""
        text = self._stats.as_text(*await self._store.counts())
        return PlainTextResponse(text, headers={"Content-Type": PROMETHEUS})

    async def healthz(self, _request: Request) -> Response:
        """Tell that the receiver runs."""
        return _json({"status": "ok"})

    async def _more(self, request: Request, seq: int) -> bool:
        # A page can end early by its bytes, so only a look past it tells whether it was the last.
        return bool(await self._store.page(dict(request.query_params), after=seq, limit=1))


def _json(body: object) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**_event(row), **_arrival(row)}


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("event_id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name", "size")
    return {**{name: row[name] for name in names}, "event": orjson.Fragment(row["body"])}


def _arrival(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "seq": row["seq"],
        "destination": row["destination"],
        "arrived_at": _iso(row["arrived_at"]),
        "last_at": _iso(row["last_at"]),
        "duplicates": row["copies"] - 1,
        "warnings": orjson.Fragment(row["warnings"]),
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat().replace("+00:00", "Z")


def _number(request: Request, name: str, default: int, most: int = 2**53) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < len(str(2**53)) and int(text) <= most):
        raise Refusal(400, "invalidParameter", f"{name}: a whole number up to {most}.")
    return int(text)
