"""What stands before the routes: Host and Origin on loopback, a token elsewhere, and the access log."""

from __future__ import annotations

import ipaddress
import sys
import time
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truewatch_lineage.receiver import pages
from truewatch_lineage.receiver.answers import Refusal
from truewatch_lineage.receiver.auth import Gate, header
from truewatch_lineage.receiver.endpoints import KNOWN_PATHS
from truewatch_lineage.receiver.rules import ALL_RULES, EVERYWHERE
from truewatch_lineage.receiver.stats import Stats

NAMESPACE = "receiver"

_INTAKE = {rules.path for rules in ALL_RULES}
_KNOWN = {*_INTAKE, *KNOWN_PATHS, "/"}
_OPEN = {*_INTAKE, "/healthz"}
_EVENT_PATH = "/api/events/"
_OTHER = "other"


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address, without a port, is this machine's own."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Doorkeeper:
    """Refuses requests that a web page of another site made, and asks for the token off loopback.

    Args:
        app: What comes behind.
        gate: The tokens.
        loopback: Whether the receiver is bound to loopback.
    """

    def __init__(self, app: ASGIApp, gate: Gate, *, loopback: bool) -> None:
        self._app = app
        self._gate = gate
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass or answer 401 or 403."""
        try:
            if scope["type"] == "http":
                self._check(scope)
        except Refusal as refusal:
            answer = refusal.answer(NAMESPACE)
            asks = refusal.status == pages.ASKS and scope["path"] == "/"
            await (pages.door(answer.headers) if asks else answer).send(send)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        if self._loopback:
            _check_site(scope)
        elif scope["path"] not in _OPEN and not scope["path"].startswith(pages.STATIC):
            self._gate.check(scope, EVERYWHERE)


def _check_site(scope: Scope) -> None:
    host = header(scope, b"host") or ""
    # A page whose name was rebound to 127.0.0.1 still sends its own name as Host.
    if not is_loopback(_hostname(f"//{host}")):
        raise Refusal(403, "hostNotAllowed", "Address the receiver as 127.0.0.1 or localhost.")
    origin = header(scope, b"origin")
    if origin is not None and origin.lower() != f"{scope['scheme']}://{host}".lower():
        raise Refusal(403, "originNotAllowed", "Pages of other sites may not use this receiver.")


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class AccessLog:
    """Counts every request and logs a line for it, without the query.

    Args:
        app: What comes behind.
        stats: The counters.
    """

    def __init__(self, app: ASGIApp, stats: Stats) -> None:
        self._app = app
        self._stats = stats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note its status; None is a connection that got no whole answer's start."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None
        began = time.monotonic()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._note(scope, status, time.monotonic() - began)

    def _note(self, scope: Scope, status: int | None, seconds: float) -> None:
        path = _label(scope["path"])
        self._stats.answered(path, status)
        # Written by hand: a logging record a request costs as much as reading one.
        line = f"{_stamp(int(time.time()))} {scope['method']} {path} {status or 'dropped'} {seconds * 1000:.0f} ms\n"
        sys.stderr.write(line)


@lru_cache(1)
def _stamp(second: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))


def _label(path: str) -> str:
    # An unknown path is not repeated: it may hold anything, a token too.
    if path in _KNOWN:
        return path
    return "/api/events/{event_id}" if path.startswith(_EVENT_PATH) else _OTHER
