"""A receiver as fast as Python has one, in a process of its own: it counts requests and keeps nothing of them.

``python benchmarks/sink.py DELAY PORT`` prints its port; after DELAY seconds it answers each POST by 200. ``GET /``
tells what it has counted since the last ``GET /``, as JSON: requests, when the last one was complete (by the system's
monotonic clock), and the most connections that were open at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TAKEN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@dataclass
class Counts:
    """What was seen since the last look."""

    requests: int = 0
    last: float = 0.0
    connections: int = 0
    peak: int = 0

    def take(self) -> bytes:
        """Return an answer that tells the counts, and begin anew."""
        told = json.dumps({"requests": self.requests, "last": self.last, "peak": self.peak}).encode()
        self.requests, self.last, self.peak = 0, 0.0, self.connections - 1
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(told), told)


class Connection(asyncio.Protocol):
    """One connection; a request's end is found by its Content-Length, which all the clients here send."""

    def __init__(self, counts: Counts, delay: float) -> None:
        self._counts = counts
        self._delay = delay
        self._buffer = bytearray()
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count one more."""
        self._transport = transport
        self._counts.connections += 1
        self._counts.peak = max(self._counts.peak, self._counts.connections)

    def connection_lost(self, _: Exception | None) -> None:
        """Count one less."""
        self._counts.connections -= 1

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            _, found, rest = head.partition(b"content-length:")
            size = end + 4 + (int(rest.split(b"\r\n", 1)[0]) if found else 0)
            if len(self._buffer) < size:
                return
            del self._buffer[:size]
            self._answer(is_post=head.startswith(b"post"))

    def _answer(self, *, is_post: bool) -> None:
        if not is_post:
            self._transport.write(self._counts.take())
            return
        self._counts.requests += 1
        self._counts.last = time.monotonic()
        if self._delay:
            asyncio.get_running_loop().call_later(self._delay, self._transport.write, TAKEN)
        else:
            self._transport.write(TAKEN)


@contextlib.contextmanager
def sink(delay: float = 0.0, port: int = 0) -> Iterator[str]:
    """Start a sink, on a free port unless one is named, and give its url."""
    command = [sys.executable, str(Path(__file__)), str(delay), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.terminate()


def seen(url: str) -> dict[str, Any]:
    """Return what a sink has counted since the last look."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as answer:
        counts: dict[str, Any] = json.load(answer)
    return counts


async def _serve(delay: float, port: int) -> None:
    counts = Counts()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(counts, delay), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2])))
