"""A server's own tokens: where a request carries one, and whether it is one of ours."""

from __future__ import annotations

import base64
import contextlib
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, Protocol
from urllib.parse import parse_qsl

from starlette.types import Scope

from truewatch_lineage import protocol
from truewatch_lineage.errors import TokenError
from truewatch_lineage.serving.answers import Refusal

Credential = Literal["query", "x_token", "bearer"]
"""A place where a request may carry a token."""

EVERYWHERE: tuple[Credential, ...] = ("query", "x_token", "bearer")
"""T: "the precedence is query token, X-Token, then Bearer"."""

MAX_CREDENTIAL: Final = 4096
"""Characters: a JWT has about a thousand. What masks a credential in an event takes time in proportion to its length,
so that a longer one is refused before it is looked for anywhere."""

_VISIBLE = re.compile(r"[!-~]+")
_X_TOKEN = protocol.TOKEN_HEADER.lower().encode()
_KEYS = (b"api-key", b"x-api-key")
"""Where clients of other services send their keys: nothing is admitted by them, and none is kept."""


class Tokens(Protocol):
    """Texts of tokens; how many there are says whether one is asked for."""

    def __len__(self) -> int:
        """Count them."""

    def __iter__(self) -> Iterator[str]:
        """Give them as they are now."""


class Gate:
    """Admits requests that carry one of the tokens, or all if there are none.

    Args:
        tokens: Visible ASCII texts; looked through anew for each request, so that they may be rotated.
        owner: Whose they are, for messages: ``receiver``.
    """

    def __init__(self, tokens: Tokens = (), *, owner: str) -> None:
        self._tokens = tokens
        self._owner = owner

    def __repr__(self) -> str:
        return f"Gate({len(self._tokens)} tokens)"

    def check(self, scope: Scope, order: Sequence[Credential]) -> None:
        """Let a request pass or raise a 401 ``Refusal``; only the first credential present, by ``order``, counts.

        One of more than `MAX_CREDENTIAL` characters is refused in any place, also where none is asked for.
        """
        if _may_be_too_long(scope) and any(len(text) > MAX_CREDENTIAL for text in _shown(scope)):
            raise _unauthorized("invalidToken", f"A credential has more than {MAX_CREDENTIAL:,} characters.")
        if not len(self._tokens) or not order:
            return
        shown = next((token for kind in order if (token := present(scope, kind))), None)
        if shown is None:
            raise _unauthorized("missingToken", f"This path asks for a token: {_ways(order)}.")
        if not self._knows(shown):
            raise _unauthorized("invalidToken", f"The token is not one of this {self._owner}'s.")

    def secrets(self, scope: Scope) -> list[str]:
        """Return what must not be stored of the event of a request that `check` let pass: our tokens and its own."""
        return [*self._tokens, *_shown(scope)]

    def _knows(self, shown: str) -> bool:
        # Every token is compared, each in constant time, so that the time tells nothing.
        data = shown.encode("latin-1", "replace")
        matches = [hmac.compare_digest(data, token.encode()) for token in self._tokens]
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


def _shown(scope: Scope) -> Iterator[str]:
    """Give every credential that a request carries, for whatever service."""
    found = (*(present(scope, kind) for kind in EVERYWHERE), *(header(scope, name) for name in _KEYS))
    yield from (text for text in (*found, *_of_other_schemes(scope)) if text)


def _may_be_too_long(scope: Scope) -> bool:
    """Tell whether any part of a head has the room for such a credential: of nearly every request none has."""
    return len(scope["query_string"]) > MAX_CREDENTIAL or any(
        len(text) > MAX_CREDENTIAL for _, text in scope["headers"]
    )


def _of_other_schemes(scope: Scope) -> Iterator[str]:
    """Give what a client authorises itself with elsewhere than here, the password of RFC 7617 also decoded."""
    scheme, _, text = (header(scope, b"authorization") or "").partition(" ")
    if text and scheme.lower() != "bearer":
        yield text.strip()
        with contextlib.suppress(ValueError):
            yield base64.b64decode(text, validate=True).decode("latin-1").partition(":")[2]


def header(scope: Scope, name: bytes) -> str | None:
    """Return the first header of that lower-case name, or None."""
    for key, value in scope["headers"]:
        if key == name:
            found: str = value.decode("latin-1")
            return found
    return None


def check_token(text: str, source: str, owner: str) -> str:
    """Return a token without its surrounding newline.

    Args:
        text: As given.
        source: Where from, for the message.
        owner: Whose it is, for the message.

    Raises:
        TokenError: It is empty, too long, or holds what a header can't carry; the message never shows it.
    """
    token = text.strip("\r\n")
    if not _VISIBLE.fullmatch(token):
        raise TokenError(
            f"The {owner}'s token is empty or holds a space, a control or a non-ASCII character.",
            source=source,
            fix="Give the bare token: visible ASCII characters only.",
        )
    return check_length(token, source, owner)


def check_length(token: str, source: str, owner: str) -> str:
    """Return a token that clients may show, if it is not too long.

    Args:
        token: Its text.
        source: As of `check_token`.
        owner: As of `check_token`.

    Raises:
        TokenError: It has more than `MAX_CREDENTIAL` characters.
    """
    if len(token) > MAX_CREDENTIAL:
        problem = f"The {owner}'s token has more than {MAX_CREDENTIAL:,} characters."
        raise TokenError(problem, source=source, fix="Give a shorter one: 32 random characters are enough.")
    return token


def _unauthorized(code: str, message: str) -> Refusal:
    return Refusal(401, code, message, {"WWW-Authenticate": "Bearer"})


def _ways(order: Iterable[Credential]) -> str:
    texts = {"query": "?token=", "x_token": "X-Token: TOKEN", "bearer": "Authorization: Bearer TOKEN"}
    return " or ".join(texts[kind] for kind in order)
