"""What the gateway tells of itself: whether it lives, whether it is ready, and its metrics."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from truewatch_lineage.errors import SpoolError
from truewatch_lineage.serving.exposition import CONTENT_TYPE, Metric, as_text
from truewatch_lineage.spool import Store
from truewatch_lineage.spool.exposition import metrics as of_spool
from truewatch_lineage.spool.report import status

KEEP_SECONDS: Final = 5.0
KEEP_TIMES: Final = 50
"""A look into the spool counts all that waits, so that its result is kept for this many times as long as it took."""


class Told(Protocol):
    """What is told."""

    def fault(self) -> str | None:
        """Say why the gateway can do nothing more and is to be started again, or None."""

    def problem(self) -> str | None:
        """Say why it takes no events now, or None."""

    def metrics(self) -> Iterable[Metric]:
        """Return the metrics, without those of the spool."""


class SpoolLook:
    """Looks into the spool, seldom enough that no number of scrapes costs more than a fraction of one processor.

    Args:
        store: The spool, by a connection of its own: counting what waits would hold up whoever shares it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._found: dict[str, Any] = {}
        self._keep_until = 0.0

    def status(self) -> dict[str, Any]:
        """Return what `report.status` did, by now or not long ago.

        Raises:
            SpoolError: If the spool can't be read.
        """
        with self._lock:
            began = time.monotonic()
            if began >= self._keep_until:
                self._found = status(self._store)
                ended = time.monotonic()
                self._keep_until = ended + max(KEEP_SECONDS, KEEP_TIMES * (ended - began))
            return self._found


class State:
    """The endpoints.

    Args:
        told: What is told.
        spool: Its look into the spool.
    """

    def __init__(self, told: Told, spool: SpoolLook) -> None:
        self._told = told
        self._spool = spool

    def routes(self) -> list[Route]:
        """Return ``/healthz``, ``/readyz`` and ``/metrics``."""
        return [
            Route("/healthz", self._answering(self._told.fault)),
            Route("/readyz", self._answering(lambda: self._told.fault() or self._told.problem())),
            Route("/metrics", self._metrics),
        ]

    def _answering(self, trouble: Callable[[], str | None]) -> Callable[[Request], Any]:
        async def answer(_request: Request) -> Response:
            found = trouble()
            return PlainTextResponse("ok\n" if found is None else f"{found}\n", 200 if found is None else 503)

        return answer

    async def _metrics(self, _request: Request) -> Response:
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, self._spool.status)
        except SpoolError as error:
            return PlainTextResponse(f"{error.problem}\n", 503)
        text = as_text([*self._told.metrics(), *of_spool(found)])
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})
