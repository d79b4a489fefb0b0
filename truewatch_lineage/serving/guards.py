"""What stands before the routes: Host and Origin on loopback, a token elsewhere, and the access log."""

from __future__ import annotations

import ipaddress
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truewatch_lineage.serving.answers import Answer, Refusal
from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.credentials import EVERYWHERE, Gate, header

_USUAL = frozenset({"localhost", "127.0.0.1"})
"""What nearly every request names, which need not be parsed."""


Failed = Callable[[Scope, str, int | None, float, bytes], None]
"""Is told of a request that failed: its path's label, status, seconds, and the answer's body."""


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address, without a port, is this machine's own."""
    name = host.strip("[]").lower()
    if name in _USUAL or name.endswith(".localhost"):
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
        owner: What the server is called in messages, and the namespace of its ``error_code``: ``receiver``.
        loopback: Whether the server is bound to loopback.
        is_open: Tells of a path whether it asks for no token here.
        refuse: Makes the answer of a refusal, in the place of its own.
    """

    def __init__(
        self,
        app: ASGIApp,
        gate: Gate,
        *,
        owner: str,
        loopback: bool,
        is_open: Callable[[str], bool],
        refuse: Callable[[Scope, Refusal], Answer] | None = None,
    ) -> None:
        self._app = app
        self._gate = gate
        self._owner = owner
        self._loopback = loopback
        self._is_open = is_open
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass or answer 401 or 403."""
        try:
            if scope["type"] == "http":
                self._check(scope)
        except Refusal as refusal:
            answer = self._refuse(scope, refusal) if self._refuse else refusal.answer(self._owner)
            await answer.send(send)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        if self._loopback:
            _check_site(scope, self._owner)
        elif not self._is_open(scope["path"]):
            self._gate.check(scope, EVERYWHERE)


def _check_site(scope: Scope, owner: str) -> None:
    host = header(scope, b"host") or ""
    # A page whose name was rebound to 127.0.0.1 still sends its own name as Host.
    if not is_loopback(_hostname(f"//{host}")):
        raise Refusal(403, "hostNotAllowed", f"Address the {owner} as 127.0.0.1 or localhost.")
    origin = header(scope, b"origin")
    if origin is not None and origin.lower() != f"{scope['scheme']}://{host}".lower():
        raise Refusal(403, "originNotAllowed", f"Pages of other sites may not use this {owner}.")


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class AccessLog:
    """Counts every request and logs a line for it, without the query.

    Args:
        app: What comes behind.
        counters: The counters.
        label: Names a path in a bounded set; an unknown path is not repeated, as it may hold anything, a token too.
        failed: Is told of what failed, in the place of a line for each: at thousands a second they would fill a disk.
    """

    def __init__(
        self, app: ASGIApp, counters: Counters, label: Callable[[str], str], *, failed: Failed | None = None
    ) -> None:
        self._app = app
        self._counters = counters
        self._label = label
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note its status; None is a connection that got no whole answer's start."""
        if scope["type"] != "http":
            # What can't be read as a request reaches no application; the connection tells of it.
            scope["state"]["access_log"] = self
            await self._app(scope, receive, send)
            return
        status: int | None = None
        answer = b""
        began = time.monotonic()

        async def noting(message: Message) -> None:
            nonlocal status, answer
            if message["type"] == "http.response.start":
                status = message["status"]
            elif not answer and status is not None and status >= HTTPStatus.BAD_REQUEST:
                answer = message.get("body", b"")
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._note(scope, status, time.monotonic() - began, answer)

    def unreadable(self, client: tuple[str, int] | None, message: str) -> None:
        """Note what was answered 400 without being a request.

        Args:
            client: Its address and port.
            message: What is wrong, in words of the server's own.
        """
        scope: Scope = {"method": "unreadable", "path": "", "query_string": b"", "headers": [], "client": client}
        answer = Refusal(400, "unreadable", message).answer("http")
        self._note(scope, answer.status, 0.0, answer.body)

    def _note(self, scope: Scope, status: int | None, seconds: float, answer: bytes) -> None:
        path = self._label(scope["path"])
        self._counters.answered(path, status)
        if self._failed is not None:
            if status is None or status >= HTTPStatus.BAD_REQUEST:
                self._failed(scope, path, status, seconds, answer)
            return
        # Written by hand: a logging record a request costs as much as reading one.
        line = f"{_stamp(int(time.time()))} {scope['method']} {path} {status or 'dropped'} {seconds * 1000:.0f} ms\n"
        sys.stderr.write(line)


@lru_cache(1)
def _stamp(second: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
