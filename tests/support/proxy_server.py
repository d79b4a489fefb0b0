"""A proxy that opens tunnels (CONNECT) or refuses them, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
from dataclasses import dataclass

POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Connect:
    """One request to the proxy: its first line, and its headers by lower-case names."""

    line: str
    headers: dict[str, str]


class ProxyServer:
    """The proxy, on 127.0.0.1, a thread for each tunnel.

    Args:
        to: The port that every tunnel leads to, whatever name was asked for.
        status: What CONNECT is answered; only 200 opens a tunnel.
        tls: A context to be spoken to by https.
    """

    def __init__(self, to: int, *, status: int = 200, tls: ssl.SSLContext | None = None) -> None:
        self._to = to
        self._status = status
        self._tls = tls
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(POLL_SECONDS)
        self.port: int = self._listener.getsockname()[1]
        self.asked: list[Connect] = []

    def __enter__(self) -> ProxyServer:  # noqa: PYI034 - Self is in typing from 3.11 on
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def _start(self, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]  # any callable
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                self._start(self._serve, self._listener.accept()[0])

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), raw:
            raw.settimeout(10)
            sock = self._tls.wrap_socket(raw, server_side=True) if self._tls else raw
            with sock:
                self.asked.append(_read(sock))
                sock.sendall(f"HTTP/1.1 {self._status} Scripted\r\n\r\n".encode())
                if self._status == 200:
                    self._tunnel(sock)

    def _tunnel(self, sock: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._to)) as upstream, selectors.DefaultSelector() as ready:
            pairs = {sock: upstream, upstream: sock}
            for one in pairs:
                one.settimeout(0.5)
                ready.register(one, selectors.EVENT_READ)
            while not self._stop.is_set():
                for key, _ in ready.select(POLL_SECONDS):
                    source = next(one for one in pairs if one is key.fileobj)
                    data = source.recv(65536)
                    if not data:
                        return
                    pairs[source].sendall(data)


def _read(sock: socket.socket) -> Connect:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte:
            raise EOFError
        head += byte
    first, *rest = head.decode("latin-1").strip().split("\r\n")
    fields = (line.partition(":") for line in rest)
    return Connect(first, {name.lower(): value.strip() for name, _, value in fields})
