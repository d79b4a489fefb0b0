"""A scripted server on a raw socket, for the faults an HTTP framework can't give.

    with RawServer([reset(), answer(503), answer(200)]) as server:
        ...                       # three requests to server.url
        assert len(server.requests) == 2

Each item of the script serves one request (or, for the faults of a connection, one connection); after the last
one every request gets ``default``.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

POLL_SECONDS = 0.05
LINGER_OFF = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """One request as it came: ``headers`` in order and as spelt, ``body`` joined from its chunks, compressed."""

    connection: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    head: bytes

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case, or None."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def decoded(self) -> bytes:
        """The body after its Content-Encoding."""
        return gzip.decompress(self.body) if self.header("Content-Encoding") == "gzip" else self.body

    @property
    def json(self) -> Any:
        """The decoded body as JSON."""
        return json.loads(self.decoded)


class Exchange:
    """What a behaviour works on: the socket, the request if one was read, a pause that ends with the server."""

    def __init__(self, sock: socket.socket, stop: threading.Event, request: Request | None) -> None:
        self.sock = sock
        self.request = request
        self._stop = stop

    def send(self, data: bytes) -> None:
        """Write all of ``data``."""
        self.sock.sendall(data)

    def pause(self, seconds: float | None) -> None:
        """Wait ``seconds`` or, whichever comes first, until the server closes."""
        self._stop.wait(seconds)

    def hold(self) -> None:
        """Keep the connection open until the client leaves or the server closes."""
        self.sock.settimeout(None)
        while self.sock.recv(65536):
            pass

    def reset(self) -> None:
        """Close with a RST instead of a FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_OFF)
        self.sock.close()


Phase = Literal["accept", "head", "request"]


@dataclass(frozen=True)
class Behaviour:
    """What to do with a connection or request.

    Attributes:
        run: Does it; returns whether the connection stays open for another request.
        phase: When: on ``accept``, after the request's ``head``, or after the whole ``request``.
    """

    run: Callable[[Exchange], bool]
    phase: Phase = "request"


def message(status: int, headers: Mapping[str, str] | None = None, body: object = b"") -> bytes:
    """Build an answer's bytes; ``body`` is bytes, text, or anything JSON; Content-Length is added if not given."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = dict(headers or {})
    if not {"content-length", "transfer-encoding"} & {name.lower() for name in fields}:
        fields["Content-Length"] = str(len(data))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode("latin-1") + data


def answer(
    status: int = 200, headers: Mapping[str, str] | None = None, body: object = b"", *, close: bool = False
) -> Behaviour:
    """Answer, and keep the connection open unless ``close``."""
    return verbatim(message(status, headers, body), close=close)


def verbatim(data: bytes, *, close: bool = True) -> Behaviour:
    """Answer exactly these bytes."""

    def run(exchange: Exchange) -> bool:
        exchange.send(data)
        return not close

    return Behaviour(run)


def delay(seconds: float, then: Behaviour) -> Behaviour:
    """Wait before another behaviour."""

    def run(exchange: Exchange) -> bool:
        exchange.pause(seconds)
        return then.run(exchange)

    return Behaviour(run, then.phase)


def early(then: Behaviour) -> Behaviour:
    """Act after the head, while the body is still unread."""
    return Behaviour(then.run, "head")


def on_accept(then: Behaviour) -> Behaviour:
    """Act as soon as the connection is there, before any request."""
    return Behaviour(then.run, "accept")


def hang() -> Behaviour:
    """Read the request and never answer."""

    def run(exchange: Exchange) -> bool:
        exchange.hold()
        return False

    return Behaviour(run)


def drip(data: bytes, interval: float, size: int = 1) -> Behaviour:
    """Answer ``size`` bytes every ``interval`` seconds."""

    def run(exchange: Exchange) -> bool:
        for start in range(0, len(data), size):
            exchange.send(data[start : start + size])
            exchange.pause(interval)
        return False

    return Behaviour(run)


def reset() -> Behaviour:
    """Read the request, then reset the connection (RST)."""

    def run(exchange: Exchange) -> bool:
        exchange.reset()
        return False

    return Behaviour(run)


def close() -> Behaviour:
    """Read the request, then close without an answer."""
    return Behaviour(lambda _exchange: False)


def cut(status: int = 200, body: object = b'{"status":"ok"}', keep: int = 4) -> Behaviour:
    """Answer the head and only ``keep`` bytes of the body it announces, then close."""
    whole = message(status, None, body)
    return verbatim(whole[: whole.index(b"\r\n\r\n") + 4 + keep])


def huge(size: int = 100 * 1024 * 1024, status: int = 200) -> Behaviour:
    """Answer ``size`` bytes of body."""
    piece = b" " * 65536

    def run(exchange: Exchange) -> bool:
        exchange.send(message(status, {"Content-Length": str(size)}))
        for sent in range(0, size, len(piece)):
            exchange.send(piece[: size - sent])
        return True

    return Behaviour(run)


def gzip_bomb(decoded: int = 1024 * 1024 * 1024, status: int = 200) -> Behaviour:
    """Answer a small gzip body that decodes to ``decoded`` bytes of spaces."""

    def run(exchange: Exchange) -> bool:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        block = bytes(1024 * 1024)
        packed = b"".join(packer.compress(block) for _ in range(decoded // len(block))) + packer.flush()
        exchange.send(message(status, {"Content-Encoding": "gzip"}, packed))
        return True

    return Behaviour(run)


class RawServer:
    """The server: a thread for each connection, on 127.0.0.1; see the module.

    Args:
        script: The behaviours, in order.
        default: What follows when the script is used up.
        tls: An ``ssl.SSLContext`` to serve https with.
        port: 0 for a free one.

    Attributes:
        url: ``http://127.0.0.1:PORT`` or ``https://…``.
        connections: How many were accepted.
        handshake_errors: TLS handshakes that failed, as text.
    """

    def __init__(
        self,
        script: Iterable[Behaviour] = (),
        *,
        default: Behaviour | None = None,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self._script = deque(script)
        self._default = default or answer(200, body={})
        self._tls = tls
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.connections = 0
        self.handshake_errors: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self._listener.settimeout(POLL_SECONDS)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> RawServer:  # noqa: PYI034 - Self is in typing from 3.11 on
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def requests(self) -> list[Request]:
        """The requests read so far, in the order in which they were complete."""
        with self._changed:
            return list(self._requests)

    @property
    def bodies(self) -> list[Any]:
        """The decoded JSON bodies of the requests so far."""
        return [request.json for request in self.requests]

    def script(self, *behaviours: Behaviour) -> None:
        """Replace what is left of the script."""
        with self._changed:
            self._script = deque(behaviours)

    def behave(self, default: Behaviour) -> None:
        """Drop what is left of the script and behave so from now on."""
        with self._changed:
            self._script.clear()
            self._default = default

    def wait_for(self, count: int, timeout: float = 10) -> list[Request]:
        """Wait until ``count`` requests were read and return them; AssertionError after ``timeout`` seconds."""
        with self._changed:
            done = self._changed.wait_for(lambda: len(self._requests) >= count, timeout)
            assert done, f"{len(self._requests)} of {count} requests after {timeout} s"
            return list(self._requests)

    def close(self) -> None:
        """Stop, close every connection and join the threads."""
        self._stop.set()
        with self._changed:
            for sock in self._open:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            self._start(self._connection, sock, self.connections)

    def _connection(self, sock: socket.socket, number: int) -> None:
        sock.settimeout(30)
        with self._tracked(sock), contextlib.suppress(OSError, EOFError):
            first = self._take("accept")
            if first is not None:
                first.run(Exchange(sock, self._stop, None))
                return
            with self._secured(sock) as stream:
                while self._exchange(stream, number):
                    pass

    @contextlib.contextmanager
    def _tracked(self, sock: socket.socket) -> Iterator[None]:
        with self._changed:
            self._open.add(sock)
        try:
            yield
        finally:
            with self._changed:
                self._open.discard(sock)
            sock.close()

    def _secured(self, sock: socket.socket) -> socket.socket:
        if self._tls is None:
            return sock
        try:
            return self._tls.wrap_socket(sock, server_side=True)
        except OSError as error:
            self.handshake_errors.append(str(error))
            raise

    def _exchange(self, sock: socket.socket, number: int) -> bool:
        with sock.makefile("rb") as stream:
            head = _read_head(stream.readline)
            behaviour = self._take("head")
            request = None if behaviour else _request(number, head, stream.readline, stream.read)
        # Only now is the stream let go: a socket with an open stream would not really close.
        if request is None:
            if behaviour is not None:
                behaviour.run(Exchange(sock, self._stop, None))
            return False
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        behaviour = self._take("request") or self._default
        return behaviour.run(Exchange(sock, self._stop, request))

    def _take(self, phase: Phase) -> Behaviour | None:
        with self._changed:
            if self._script and self._script[0].phase == phase:
                return self._script.popleft()
            return None


def _read_head(readline: Callable[[], bytes]) -> bytes:
    lines = []
    while (line := readline()) not in (b"\r\n", b"\n"):
        if not line:
            raise EOFError
        lines.append(line)
    return b"".join(lines)


def _request(number: int, head: bytes, readline: Callable[[], bytes], read: Callable[[int], bytes]) -> Request:
    first, *rest = head.decode("latin-1").splitlines()
    method, path, _version = first.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in rest))
    found = {name.lower(): value for name, value in headers}
    if found.get("transfer-encoding", "").lower() == "chunked":
        body = b"".join(_chunks(readline, read))
    else:
        body = _exactly(read, int(found.get("content-length", "0")))
    return Request(number, method, path, headers, body, head)


def _chunks(readline: Callable[[], bytes], read: Callable[[int], bytes]) -> Iterator[bytes]:
    while size := int(readline().split(b";")[0], 16):
        yield _exactly(read, size)
        readline()
    while readline() not in (b"\r\n", b"\n", b""):
        pass


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    data = read(size)
    if len(data) < size:
        raise EOFError
    return data
