"""``/metrics`` and ``/healthz`` of a courier: on loopback, for GET alone, few at a time, each within seconds."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any, Final
from urllib.parse import urlsplit

from truewatch_lineage.errors import ConfigError, SpoolError
from truewatch_lineage.serving.exposition import CONTENT_TYPE, as_text
from truewatch_lineage.spool import Store
from truewatch_lineage.spool.exposition import metrics
from truewatch_lineage.spool.report import status

HOST: Final = "127.0.0.1"

_MOST_AT_ONCE: Final = 8
_SECONDS: Final = 5.0
_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})


@contextlib.contextmanager
def serve(port: int, store: Store, is_alive: Callable[[], bool]) -> Iterator[str]:
    """Serve for a ``with`` block; yields the url.

    Args:
        port: 0 for a free one.
        store: The spool.
        is_alive: Whether the courier delivers to every destination.

    Raises:
        ConfigError: The port can't be bound.
    """
    try:
        server = _Server((HOST, port), _Handler)
    except OSError as error:
        raise ConfigError(
            f"Port {port} of {HOST} can't be used: {error.strerror}.", key="--metrics-port", fix="Choose another."
        ) from error
    server.store, server.is_alive = store, is_alive
    thread = threading.Thread(target=server.serve_forever, name="truewatch-lineage-metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingMixIn, HTTPServer):
    """A thread a connection, and no more connections than a scraper needs."""

    daemon_threads = True
    store: Store
    is_alive: Callable[[], bool]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._room = threading.Semaphore(_MOST_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _SECONDS
    server_version = "truewatch-lineage"
    sys_version = ""  # whose release is nobody's business
    server: _Server

    def do_GET(self) -> None:
        """Answer."""
        if urlsplit(f"//{self.headers.get('Host', '')}").hostname not in _HOSTS:
            self._answer(421, "This is served to this machine only.\n")  # a page elsewhere that rebinds its name
            return
        answers = {"/metrics": self._metrics, "/healthz": self._health}
        answer = answers.get(urlsplit(self.path).path)
        if answer is None:
            self._answer(404, "There are /metrics and /healthz.\n")
            return
        try:
            self._answer(*answer())
        except SpoolError as error:
            self._answer(503, f"{error}\n")

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _metrics(self) -> tuple[int, str]:
        return 200, as_text(metrics(status(self.server.store)))

    def _health(self) -> tuple[int, str]:
        status(self.server.store)
        return (200, "ok\n") if self.server.is_alive() else (503, "the courier does not deliver\n")

    def _answer(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
