"""An answer means the same however it arrives: at once, head before body, or byte by byte."""

from __future__ import annotations

import http.client
import socket
import threading
import time

import pytest

from truewatch_lineage.delivery.answer import Answer, read_answer

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
ANSWERS = {
    "plain": PLAIN,
    "no reason": b"HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n",
    "an error": b"HTTP/1.1 503 Busy now\r\nRetry-After:  7 \r\nContent-Length: 4\r\n\r\nlate",
    "empty value": b"HTTP/1.1 200 OK\r\nX:\r\nContent-Length: 2\r\n\r\n{}",
    "closing": b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}",
    "kept": b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "without a body": b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
    "to the end": b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n{}",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN,
    "equal lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 1\r\n\r\n{}",
    "a repeated field": b"HTTP/1.1 200 OK\r\nX: a\r\nx: b\r\nContent-Length: 2\r\n\r\n{}",
    "a folded field": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
    "a space before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\nX: y\r\n\r\n{}",
    "a line without a colon": b"HTTP/1.1 200 OK\r\nnothing\r\nContent-Length: 2\r\n\r\n{}",
    "other characters": "HTTP/1.1 200 Gut\r\nX: größer\r\nContent-Length: 2\r\n\r\n{}".encode("latin-1"),
    "a signed length": b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}",
    "a padded length": b"HTTP/1.1 200 OK\r\nContent-Length:  002 \r\n\r\n{}",
    "a long body": b"HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + b"x" * 70_000,
    "a cut body": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
    "a cut head": b"HTTP/1.1 200 OK\r\nContent-Len",
    "nothing": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "too many fields": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 120 + b"Content-Length: 0\r\n\r\n",
    "many fields": b"HTTP/1.1 200 OK\r\n"
    + b"".join(b"X%d: y\r\n" % i for i in range(80))
    + b"Content-Length: 0\r\n\r\n",
}


def _read(*parts: bytes) -> Answer | str:
    """Read what a peer sends in these parts and then closes; returns the answer, or the error's name."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=_send, args=(theirs, parts))
        sender.start()
        try:
            return read_answer(ours)
        except http.client.HTTPException as error:
            return type(error).__name__
        finally:
            sender.join()


def _send(sock: socket.socket, parts: tuple[bytes, ...]) -> None:
    for part in parts:
        sock.sendall(part)
        time.sleep(0.01 if len(parts) > 1 else 0)
    sock.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_the_same_in_one_piece_and_in_several(name) -> None:
    """The quick reading of a plain answer finds what the careful one finds, which is had by cutting the first line."""
    whole = ANSWERS[name]
    head, blank, body = whole.partition(b"\r\n\r\n")

    assert _read(whole) == _read(head + blank, body) == _read(whole[:9], whole[9:])


@pytest.mark.parametrize(
    ("name", "reusable"), [("plain", True), ("kept", True), ("closing", False), ("to the end", False)]
)
def test_a_connection_is_used_again_where_its_answer_has_an_end(name, reusable) -> None:
    """By Content-Length and without `Connection: close` (RFC 9112, 9.3)."""
    answer = _read(ANSWERS[name])

    assert isinstance(answer, Answer)
    assert (answer.status, answer.body, answer.reusable) == (200, b"{}", reusable)
