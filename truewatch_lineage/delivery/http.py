"""One HTTP POST, within a total deadline, as a frozen result; nothing is raised, followed, decoded or tried again."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin, urlsplit

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.delivery.answer import Answer, read_answer
from truewatch_lineage.delivery.connection import Connection
from truewatch_lineage.delivery.fault import Fault, explain
from truewatch_lineage.delivery.pool import Pool
from truewatch_lineage.delivery.remembered import Remembered
from truewatch_lineage.delivery.route import Route
from truewatch_lineage.delivery.sockets import until

__all__ = ["Fault", "HttpClient", "HttpResult"]

_SHOWN_URL: Final = 200


@dataclass(frozen=True, slots=True)
class HttpResult:
    """What became of a POST.

    Attributes:
        status: The answer's, or None where there was none; with ``Fault.PROXY`` the proxy's to CONNECT.
        headers: The answer's, by lower-case names.
        body: The answer's first 64 KiB, as they came.
        fault: What went wrong on the way, or None for a whole answer.
        detail: The fault, or where a redirect pointed, in plain words without any secret.
        elapsed: Seconds it took.
        sent: Whether any of the request may have left, so that after a fault the destination may have it all the same.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    fault: Fault | None = None
    detail: str = ""
    elapsed: float = 0.0
    sent: bool = False


@dataclass(slots=True)
class _Attempt:
    """How far an attempt has come."""

    started: float
    connection: Connection | None = None
    sent: bool = False

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started


class HttpClient:
    """Makes POSTs to one destination; safe to use from threads and after a fork.

    Args:
        destination: Where to, and how it is reached.
        connections: How many may be open at once; a further ``post`` waits for one within its deadline.
        environ: Where HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and REQUESTS_CA_BUNDLE are looked up.
    """

    def __init__(
        self, destination: DestinationSettings, connections: int, *, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._destination = destination
        self._environ = environ
        self._pool = Pool(connections)
        self._route: Route | None = None
        self._head: Remembered[bytes] = Remembered()

    def post(self, body: bytes, headers: Mapping[str, str], *, deadline: float, query: str = "") -> HttpResult:
        """Send ``body`` and return what came of it, by ``deadline`` at the latest; never raises.

        Args:
            body: What is sent, byte for byte.
            headers: All but Host and Content-Length.
            deadline: By ``time.monotonic()``; it covers everything, name resolution included.
            query: Added to the url's query; it is in no log and no message.
        """
        attempt = _Attempt(time.monotonic())
        try:
            with until(deadline):
                answer = self._exchange(attempt, body, headers, query)
        except Exception as error:  # noqa: BLE001 - the outermost guard: whatever a library raises is a result here
            return self._failed(attempt, error, deadline)
        detail = _pointed_to(self._destination.url, answer)
        return HttpResult(answer.status, answer.headers, answer.body, None, detail, attempt.elapsed, sent=True)

    def close(self) -> None:
        """Close the idle connections, and those in use as soon as their answer is read."""
        self._pool.close()

    def _exchange(self, attempt: _Attempt, body: bytes, headers: Mapping[str, str], query: str) -> Answer:
        route = self._route = self._route or Route.to(self._destination, self._environ)
        head = self._head.get((route, headers, query), lambda: route.head(headers, query))
        request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        attempt.connection = self._pool.take(route.connection)
        keep = False
        try:
            answer = _talk(attempt, attempt.connection, request)
            keep = answer.reusable
            return answer
        finally:
            self._pool.give(attempt.connection, keep=keep)

    def _failed(self, attempt: _Attempt, error: Exception, deadline: float) -> HttpResult:
        peer = self._route.peer(attempt.connection) if self._route else self._destination.name
        fault, status, detail = explain(error, peer, deadline - attempt.started)
        if fault is Fault.CERTIFICATE:
            # The next attempt reads the files again: they may have been mended.
            self._route = None
        return HttpResult(status, fault=fault, detail=detail, elapsed=attempt.elapsed, sent=attempt.sent)


def _talk(attempt: _Attempt, connection: Connection, request: bytes) -> Answer:
    if connection.is_closed:
        connection.connect()
    attempt.sent = True
    # A server may answer before it has read all, such as 413, and then close: its answer is there to be read.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.sock.sendall(request)
    return read_answer(connection.sock)


def _pointed_to(url: str, answer: Answer) -> str:
    """Name where a redirect pointed, without its query, fragment and credentials; empty for another answer."""
    location = answer.headers.get("location")
    if not 300 <= answer.status < 400 or location is None:  # noqa: PLR2004 - the 3xx (RFC 9110, 15.4)
        return ""
    try:
        found = urlsplit(urljoin(url, location))
        host = f"[{found.hostname}]" if ":" in (found.hostname or "") else found.hostname
        shown = f"{found.scheme}://{host}{f':{found.port}' if found.port else ''}{found.path}"
    except ValueError:
        host, shown = None, ""
    return f"redirected to {shown[:_SHOWN_URL]}" if host and shown.isprintable() else "redirected to what is no url"
