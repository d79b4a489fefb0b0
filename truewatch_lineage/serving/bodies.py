"""Bodies under limits: read as they come, decompressed as they come, stopped at the first byte too many."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from starlette.types import Receive, Scope

from truewatch_lineage.serving.answers import ClientGoneError, Refusal
from truewatch_lineage.serving.credentials import header

MAX_GZIP_MEMBERS = 1024
"""An empty member is 20 bytes: without a limit 64 MiB of them would keep the event loop busy for long."""

_GZIP_WINDOW = 31
_STEP = 1024 * 1024
"""Bytes decoded at once: what a small piece decodes to is in memory twice for a moment."""


class Limits(Protocol):
    """How large a body may be."""

    @property
    def max_received(self) -> int:
        """Bytes as received."""

    @property
    def max_decoded(self) -> int:
        """Bytes after decompression."""


class Lease:
    """The part of a budget that one request has.

    Args:
        budget: The budget.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = 0

    def resize(self, size: int) -> None:
        """Have ``size`` bytes from now on; raises ``Refusal`` 503 where all requests together would have too many."""
        self._budget.move(size - self._size)
        self._size = size


class Budget:
    """Bytes that the bodies of all requests together may take in memory.

    Args:
        limit: How many.

    Attributes:
        limit: As given.
        held: How many they take now.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """Give a request its part for a ``with`` block."""
        lease = Lease(self)
        try:
            yield lease
        finally:
            lease.resize(0)

    def move(self, size: int) -> None:
        """Take so many bytes more, or give back where negative; raises ``Refusal`` 503 where there are not so many."""
        if size > 0 and self.held + size > self.limit:
            message = "The bodies of all requests together are too large now; send it again."
            raise Refusal(503, "tooManyBytes", message, {"Retry-After": "1"})
        self.held += size


class Decoder(Protocol):
    """Takes a body piece by piece."""

    @property
    def size(self) -> int:
        """Bytes decoded so far."""

    def feed(self, data: bytes) -> None:
        """Take the next piece; raises ``Refusal``."""

    def finish(self) -> bytes:
        """Return the decoded body; raises ``Refusal`` if it is not whole."""


class Plain:
    """A body without compression.

    Args:
        limit: Bytes that may be decoded.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._out = bytearray()

    @property
    def size(self) -> int:
        """Bytes so far."""
        return len(self._out)

    def feed(self, data: bytes) -> None:
        """Take the next piece; raises ``Refusal`` 413."""
        self._out += data
        _check_decoded(len(self._out), self._limit)

    def finish(self) -> bytes:
        """Return the body."""
        return bytes(self._out)


class Gunzip:
    """A gzip body of one or more members (RFC 1952, 2.2), never decoded past the limit.

    Args:
        limit: Bytes that may be decoded.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._out = bytearray()
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._members = 1

    @property
    def size(self) -> int:
        """Bytes decoded so far."""
        return len(self._out)

    def feed(self, data: bytes) -> None:
        """Take the next piece; raises ``Refusal`` 413 or 400."""
        try:
            while data:
                if self._member.eof:
                    self._next_member()
                # One byte more than allowed is asked for, so that "too much" shows without decoding a bomb.
                self._out += self._member.decompress(data, min(_STEP, self._limit + 1 - len(self._out)))
                _check_decoded(len(self._out), self._limit)
                data = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise _broken(str(error)) from None

    def finish(self) -> bytes:
        """Return the decoded body; raises ``Refusal`` 400 if the last member is cut."""
        if not self._member.eof:
            raise _broken("it ends before its last member does")
        return bytes(self._out)

    def _next_member(self) -> None:
        self._members += 1
        if self._members > MAX_GZIP_MEMBERS:
            raise _broken(f"it has more than {MAX_GZIP_MEMBERS} members")
        self._member = zlib.decompressobj(_GZIP_WINDOW)


async def read_body(scope: Scope, receive: Receive, limits: Limits, lease: Lease | None = None) -> bytes:
    """Read and decode one request's body.

    Args:
        scope: The request's ASGI scope.
        receive: Its ASGI channel.
        limits: How large it may be.
        lease: Is told how much memory the body takes so far.

    Raises:
        Refusal: 413 past a limit, 503 past the budget, 415 for an unknown Content-Encoding, 400 for broken gzip.
        ClientGoneError: The connection ended first.
    """
    _check_received(int(header(scope, b"content-length") or 0), limits.max_received)
    decoder = _decoder(scope, limits.max_decoded)
    received = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        data: bytes = message.get("body", b"")
        received += len(data)
        _check_received(received, limits.max_received)
        decoder.feed(data)
        if lease is not None:
            lease.resize(decoder.size)
        more = message.get("more_body", False)
    return decoder.finish()


def _decoder(scope: Scope, limit: int) -> Decoder:
    encoding = (header(scope, b"content-encoding") or "identity").strip().lower()
    if encoding in {"gzip", "x-gzip"}:
        return Gunzip(limit)
    if encoding == "identity":
        return Plain(limit)
    raise Refusal(415, "unsupportedEncoding", "Content-Encoding must be gzip, or absent.")


def _check_received(size: int, limit: int) -> None:
    if size > limit:
        message = f"The body is larger than {limit} bytes as received; send less in one event."
        raise Refusal(413, "bodyTooLarge", message)


def _check_decoded(size: int, limit: int) -> None:
    if size > limit:
        message = f"The event is larger than {limit} bytes once decoded; leave out its large facets."
        raise Refusal(413, "eventTooLarge", message)


def _broken(problem: str) -> Refusal:
    return Refusal(400, "brokenGzip", f"The body can't be decompressed as gzip: {problem}.")
