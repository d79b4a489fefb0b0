"""One attempt to deliver one event: token, headers and body put together, sent once, and judged."""

from __future__ import annotations

import functools
import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from importlib import metadata
from typing import Final
from urllib.parse import quote

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.delivery.fingerprint import FileState, file_state, keyed_hash
from truewatch_lineage.delivery.forks import PerProcess
from truewatch_lineage.delivery.http import HttpClient
from truewatch_lineage.delivery.outcome import Outcome, Verdict, judge
from truewatch_lineage.delivery.remembered import Remembered
from truewatch_lineage.destinations.tokens import Token, TokenSource
from truewatch_lineage.errors import TokenError, TokenLateError
from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.protocol import TOKEN_HEADER, TOKEN_QUERY

REREAD_SECONDS: Final = 5.0
"""How often a token is read again at most for a 403, which may be each event's own fault: a command may be slow."""


@functools.cache
def user_agent() -> str:
    """Return the User-Agent: the distribution's name and version."""
    try:
        return f"truewatch-lineage/{metadata.version('truewatch-lineage')}"
    except metadata.PackageNotFoundError:
        return "truewatch-lineage"


@dataclass(slots=True)
class _Reread:
    """When a process last read a refused token again, by its monotonic clock."""

    at: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)


class Sender:
    """Sends events to one destination; safe to use from threads and after a fork.

    Args:
        destination: Where to and how.
        connections: How many may be open at once.
        clock: Seconds since the epoch, for a Retry-After that is a date.
    """

    def __init__(
        self, destination: DestinationSettings, *, connections: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._destination = destination
        self._client = HttpClient(destination, connections)
        self._clock = clock
        self._gzip = destination.compression == "gzip"
        self._reread: PerProcess[_Reread] = PerProcess(lambda _parent: _Reread())
        self._print: Remembered[str] = Remembered()

    def send(self, body_gz: bytes, *, deadline: float) -> Outcome:
        """Try once to deliver an event; never raises.

        Within the one attempt a refused token is read again, and if it has changed the event is sent with the new one
        (401, 403); a refused coding is left out (415), for the following events too if that helped.

        Args:
            body_gz: The event's JSON, gzipped as the spool keeps it.
            deadline: By ``time.monotonic()``; the destination's timeout counts too, whichever is earlier.
        """
        source = self._source()
        try:
            token = self._token(source, deadline) if source else None
            began = time.monotonic()
            outcome = self._post(body_gz, token, deadline, coded=self._gzip)
            if outcome.reread_token and source and token:
                is_sure = outcome.status == HTTPStatus.UNAUTHORIZED
                since = began if is_sure else time.monotonic() - REREAD_SECONDS
                fresh = self._fresh(source, token, since, deadline)
                if fresh != token:
                    token = fresh
                    outcome = self._post(body_gz, token, deadline, coded=self._gzip)
        except TokenLateError as error:
            return Outcome(Verdict.RETRY, str(error))
        except TokenError as error:
            return Outcome(Verdict.PARK, str(error))
        if outcome.plain and self._gzip:
            outcome = self._post(body_gz, token, deadline, coded=False)
            self._gzip = outcome.verdict is not Verdict.DELIVERED
        return outcome

    def fingerprint(self, key: bytes) -> str | None:
        """Return a truncated keyed hash of the token and of all that decides how this destination is reached.

        The spool keeps it to see that something was mended; without the key nothing follows from it. A token that
        can't be read counts as none.

        Args:
            key: The spool's own secret.

        Returns:
            The hash, or None while only running a command would tell the token.
        """
        source, token = self._source(), None
        if source is not None:
            try:
                known = source.known()
            except TokenError:
                pass
            else:
                if known is None:
                    return None
                token = known.reveal()
        there = self._destination
        files = [file_state(path) for path in (there.ca_file, there.client_cert, there.client_key)]
        # Asked for each attempt.
        return self._print.get((key, token, files), lambda: self._digest(key, token, files))

    def _digest(self, key: bytes, token: str | None, files: list[FileState]) -> str:
        there, headers = self._destination, sorted(self._destination.headers.items())
        parts = [token, there.url, there.auth_method, headers, files, there.proxy, there.compression]
        return keyed_hash(key, parts)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _source(self) -> TokenSource | None:
        return self._destination.token_source if self._destination.profile.sends_token else None

    def _token(self, source: TokenSource, deadline: float) -> Token:
        """Return the source's token; where a command has to be run for it, one thread runs it and the others wait."""
        known = source.known()
        if known is not None:
            return known
        with self._alone(deadline):
            return source.get(within=deadline - time.monotonic())

    def _fresh(self, source: TokenSource, refused: Token, since: float, deadline: float) -> Token:
        """Return the source's token of now: read again, unless a thread has done so since a time."""
        with self._alone(deadline) as reread:
            current = source.known() or refused
            if current != refused or reread.at > since:
                return current
            current = source.get(refresh=True, within=deadline - time.monotonic())
            reread.at = time.monotonic()
            return current

    @contextmanager
    def _alone(self, deadline: float) -> Iterator[_Reread]:
        """Let one thread at a time ask the token's source.

        Raises:
            TokenLateError: Another thread is still asking at the deadline.
        """
        reread = self._reread.get()
        if not reread.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise TokenLateError("The token's source has not answered yet.")
        try:
            yield reread
        finally:
            reread.lock.release()

    def _post(self, body_gz: bytes, token: Token | None, deadline: float, *, coded: bool) -> Outcome:
        there = self._destination
        secret = token.reveal() if token else ""
        by_query = there.auth_method == "query"
        query = f"{TOKEN_QUERY}={quote(secret, safe='')}" if secret and by_query else ""
        result = self._client.post(
            body_gz if coded else gzip.decompress(body_gz),
            self._headers("" if by_query else secret, coded=coded),
            deadline=min(deadline, time.monotonic() + there.timeout),
            query=query,
        )
        outcome = judge(result, there.profile, now=self._clock())
        return _without(outcome, secret) if secret and outcome.verdict is not Verdict.DELIVERED else outcome

    def _headers(self, secret: str, *, coded: bool) -> dict[str, str]:
        headers = {
            **self._destination.headers,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": user_agent(),
        }
        if coded:
            headers["Content-Encoding"] = "gzip"
        if secret and self._destination.auth_method == "bearer":
            headers["Authorization"] = f"Bearer {secret}"
        elif secret:
            headers[TOKEN_HEADER] = secret
        return headers


def _without(outcome: Outcome, secret: str) -> Outcome:
    """Mask a token that a destination put into what we show of a refusal: an error code, a redirect's path."""
    shown = Redactor(secrets=lambda: (secret,)).text(outcome.reason)
    return outcome if shown == outcome.reason else replace(outcome, reason=shown)
