"""Tokens of the receiver: where a request carries one, and whether it is one of ours."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl

from starlette.types import Scope

from truewatch_lineage import protocol
from truewatch_lineage.errors import TokenError
from truewatch_lineage.receiver.answers import Refusal
from truewatch_lineage.receiver.rules import EVERYWHERE, Credential

_VISIBLE = re.compile(r"[!-~]+")
_X_TOKEN = protocol.TOKEN_HEADER.lower().encode()


class Gate:
    """Admits requests that carry one of the tokens, or all if there are none.

    Args:
        tokens: Texts that ``check_token`` let pass.
    """

    def __init__(self, tokens: Sequence[str] = ()) -> None:
        self._tokens = tuple(token.encode("ascii") for token in tokens)

    def __repr__(self) -> str:
        return f"Gate({len(self._tokens)} tokens)"

    def check(self, scope: Scope, order: Sequence[Credential]) -> None:
        """Let a request pass or raise a 401 ``Refusal``; only the first credential present, by ``order``, counts."""
        if not self._tokens or not order:
            return
        shown = next((token for kind in order if (token := present(scope, kind))), None)
        if shown is None:
            raise _unauthorized("missingToken", f"This path asks for a token: {_ways(order)}.")
        if not self._knows(shown):
            raise _unauthorized("invalidToken", "The token is not one of this receiver's.")

    def secrets(self, scope: Scope) -> list[str]:
        """Return what must not be stored of this request's event: our tokens and those it carries."""
        shown = (present(scope, kind) for kind in EVERYWHERE)
        return [token.decode("ascii") for token in self._tokens] + [token for token in shown if token]

    def _knows(self, shown: str) -> bool:
        # Every token is compared, each in constant time, so that the time tells nothing.
        data = shown.encode("latin-1", "replace")
        matches = [hmac.compare_digest(data, token) for token in self._tokens]
        return any(matches)


def present(scope: Scope, kind: Credential) -> str | None:
    """Return the token that a request carries in that place, or None; an empty one counts as none."""
    if kind == "query":
        query = parse_qsl(scope["query_string"].decode("latin-1")) if scope["query_string"] else []
        return next((value for name, value in query if name == protocol.TOKEN_QUERY), None)
    if kind == "x_token":
        return header(scope, _X_TOKEN) or None
    scheme, _, token = (header(scope, b"authorization") or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def header(scope: Scope, name: bytes) -> str | None:
    """Return the first header of that lower-case name, or None."""
    for key, value in scope["headers"]:
        if key == name:
            found: str = value.decode("latin-1")
            return found
    return None


def check_token(text: str, source: str) -> str:
    """Return a token without its surrounding newline.

    Args:
        text: As given.
        source: Where from, for the message.

    Raises:
        TokenError: It is empty or holds what a header can't carry; the message never shows it.
    """
    token = text.strip("\r\n")
    if not _VISIBLE.fullmatch(token):
        raise TokenError(
            "The receiver's token is empty or holds a space, a control or a non-ASCII character.",
            source=source,
            fix="Give the bare token: visible ASCII characters only.",
        )
    return token


def _unauthorized(code: str, message: str) -> Refusal:
    return Refusal(401, code, message, {"WWW-Authenticate": "Bearer"})


def _ways(order: Iterable[Credential]) -> str:
    texts = {"query": "?token=", "x_token": "X-Token: TOKEN", "bearer": "Authorization: Bearer TOKEN"}
    return " or ".join(texts[kind] for kind in order)
