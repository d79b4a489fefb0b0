"""A load generator in a process of its own: raw HTTP on 64 kept connections, every answer waited for.

So every event that is counted has been answered by 2xx, and whatever that promises holds for it.
"""

from __future__ import annotations

import multiprocessing
import re
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

CONNECTIONS = 64
SLICES = 10
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)

Requests = Callable[[], Callable[[int], bytes]]
"""Makes, in the generator's process, what makes the request of a number."""


def request(body: bytes, *headers: str, path: str = "/v1/write/openlineage") -> bytes:
    """Write a whole POST."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers, "\r\n"]
    return "\r\n".join(lines).encode() + body


def slices(port: int, requests: Requests, count: int) -> Iterator[float]:
    """Send ``count`` requests and yield the seconds that each tenth of them took to be answered."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_generate, args=(port, requests, count, theirs))
    process.start()
    theirs.close()  # so that an end of the generator ends `recv`
    for _ in range(SLICES):
        yield ours.recv()
    process.join()


def _generate(port: int, requests: Requests, count: int, reports: Connection) -> None:
    make, selector = requests(), selectors.DefaultSelector()
    waiting: dict[socket.socket, bytes] = {}
    sent = answered = 0
    last = time.perf_counter()

    def send(client: socket.socket) -> None:
        nonlocal sent
        client.sendall(make(sent))
        waiting[client] = b""
        sent += 1

    for _ in range(min(CONNECTIONS, count)):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(client, selectors.EVENT_READ)
        send(client)
    while answered < count:
        for key, _ in selector.select():
            client = key.fileobj  # type: ignore[assignment]  # they are sockets all
            waiting[client] += client.recv(65_536) or b"the end"
            if not _is_whole(waiting[client]):
                continue
            answered += 1
            if answered * SLICES // count > (answered - 1) * SLICES // count:
                now = time.perf_counter()
                reports.send(now - last)
                last = now
            if sent < count:
                send(client)


def _is_whole(answer: bytes) -> bool:
    """Tell whether an answer is complete.

    Raises:
        AssertionError: It is none that promises something.
    """
    assert answer.startswith(b"HTTP/1.1 2"[: len(answer)]), answer
    head, end, body = answer.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return bool(end) and len(body) >= int(length[1] if length else 0)
