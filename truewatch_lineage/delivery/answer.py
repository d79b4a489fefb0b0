"""Reading an answer: the plainest kind by one expression, and every other by ``http.client``, made stricter."""

from __future__ import annotations

import http.client
import io
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from truewatch_lineage.protocol import MAX_ANSWER_BYTES

_SWITCHING_PROTOCOLS: Final = 101
_INTERIM: Final = range(100, 200)
_BODILESS: Final = frozenset({204, 304})
_LENGTH: Final = re.compile(r"[0-9]{1,19}")
_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
"""A chunk's size and its extensions (RFC 9112, 7.1); some servers fill the size up with spaces."""
_LONGEST_CHUNK_LINE: Final = 65_536

_FIRST_READ: Final = 16_384
_PLAIN: Final = re.compile(
    rb"HTTP/1\.1 ([2-9][0-9]{2})(?: [\t\x20-\x7e]*)?\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n){1,64})\r\n"
)
"""A head without anything that readers could take in different ways: a status and its fields (RFC 9112, 4 and 5)."""
_FIELD: Final = re.compile(r"([^:]+):[\t ]*([^\r]*)\r\n")
_SHORT_LENGTH: Final = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: 200 to 999, or 101.
        headers: By lower-case names.
        body: At most ``MAX_ANSWER_BYTES``, as it came: no content coding is undone.
        reusable: Whether all of it was read and the connection stays open.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    reusable: bool


def read_answer(sock: socket.socket) -> Answer:
    """Read the answer to a POST, interim answers (1xx) passed over, of its body 64 KiB at most.

    Raises:
        OSError: The connection broke, or the deadline passed (``TimeoutError``).
        http.client.HTTPException: It is no HTTP, or is cut off (``IncompleteRead``).
    """
    data = sock.recv(_FIRST_READ)
    found = _PLAIN.match(data)
    if found is not None:
        headers = {name.lower(): value for name, value in _FIELD.findall(found[2].decode("ascii"))}
        end = _end(found, headers)
        if len(data) < end:  # head and body may come one after the other
            data += sock.recv(end - len(data))
        if len(data) == end:
            return Answer(
                int(found[1]), headers, data[found.end() :], "close" not in headers.get("connection", "").lower()
            )
    return _read_any(sock, data)


def _end(found: re.Match[bytes], headers: Mapping[str, str]) -> int:
    """Return where a plain answer ends by its length, 0 where it has none or several readings."""
    length = headers.get("content-length", "")
    clear = len(headers) == found[2].count(b"\n") and "transfer-encoding" not in headers
    if not clear or int(found[1]) in _BODILESS or not _SHORT_LENGTH.fullmatch(length):
        return 0
    return found.end() + int(length)


def _read_any(sock: socket.socket, begun: bytes) -> Answer:
    """Read an answer of which some bytes have been read."""
    response = Response(sock, "POST", begun)
    try:
        response.begin()
        response.check_length()
        expected = response.length
        body = response.read(MAX_ANSWER_BYTES)
        if expected is not None and len(body) < min(expected, MAX_ANSWER_BYTES):
            raise http.client.IncompleteRead(body, expected - len(body))
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, headers, body, response.isclosed() and not response.will_close)
    finally:
        response.close()


class Response(http.client.HTTPResponse):
    """An answer whose interim answers are all passed over (RFC 9110, 15.2), and whose head and sizes must be whole.

    ``http.client`` reads sizes by ``int``, which takes a sign, ``0x``, spaces and underscores too; it then reads a
    chunk of -1 bytes to the end of the stream, however long that is.
    """

    def __init__(self, sock: socket.socket, method: str, begun: bytes = b"") -> None:
        super().__init__(sock, method=method)
        self._lines = self.fp = _Lines(_Begun(begun, self.fp.detach()))

    def begin(self) -> None:
        """Read the head."""
        super().begin()
        while self.status in _INTERIM and self.status != _SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]  # begin() reads a head only where there is none
            super().begin()
        self._lines.in_head = False

    def check_length(self) -> None:
        """Refuse a Content-Length that is no number, or several (RFC 9112, 6.3, rule 5: "unrecoverable error").

        Raises:
            http.client.HTTPException: It is such.
        """
        lengths = {text.strip() for text in self.headers.get_all("content-length", ())}
        if not self.chunked and (len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths))):
            raise http.client.HTTPException("The length of the answer is no number.")

    def _read_next_chunk_size(self) -> int:
        line = self._lines.readline(_LONGEST_CHUNK_LINE)
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            raise http.client.IncompleteRead(b"")
        return int(found[1], 16)


class _Begun(io.RawIOBase):
    """A stream of which the first bytes have been read already."""

    def __init__(self, begun: bytes, rest: io.RawIOBase) -> None:
        self._begun = begun
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if not self._begun:
            return self._rest.readinto(buffer)
        count = min(len(buffer), len(self._begun))
        buffer[:count], self._begun = self._begun[:count], self._begun[count:]
        return count

    def close(self) -> None:
        self._rest.close()
        super().close()


class _Lines(io.BufferedReader):
    """A reader that takes a head cut off by the end of the stream for what it is; ``http.client`` would accept it."""

    in_head = True
    _begun = False

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if self.in_head and self._begun and not line.endswith(b"\n") and len(line) != size:
            raise http.client.IncompleteRead(line)
        self._begun = True
        return line
