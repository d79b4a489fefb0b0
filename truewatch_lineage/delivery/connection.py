"""Connections: urllib3's, for TLS and CONNECT, on sockets that keep the attempt's deadline.

Requests are written and answers read by our own code, and not by urllib3's pools: ``urlopen`` logs the target at DEBUG,
a query token included, and the lock of a pool's queue may be held by a lost thread in a forked child.
"""

from __future__ import annotations

import socket
import ssl
from typing import Final

from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.util.url import Url

from truewatch_lineage.delivery.answer import Response
from truewatch_lineage.delivery.proxy import Proxy
from truewatch_lineage.delivery.sockets import open_socket

_SUCCESSES: Final = range(200, 300)


class ProxyRefusedError(OSError):
    """The proxy did not open a tunnel.

    Args:
        status: What it answered to CONNECT.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"CONNECT was answered {status}")
        self.status = status


class Connection(HTTPConnection):
    """A connection by http.

    Attributes:
        connect_request: What opens a tunnel through a proxy.
        tunnelled: Whether a proxy has opened one.
    """

    connect_request = b""
    tunnelled = False

    def _new_conn(self) -> socket.socket:
        return open_socket(self._dns_host, self.port)

    def _tunnel(self) -> None:
        # http.client's own tells the status in an exception's text only, and in older versions leaves the socket open.
        self.sock.sendall(self.connect_request)
        response = Response(self.sock, method="CONNECT")
        try:
            response.begin()
        finally:
            response.close()
        if response.status not in _SUCCESSES:
            raise ProxyRefusedError(response.status)
        self.tunnelled = True


class TlsConnection(Connection, HTTPSConnection):
    """A connection by https."""


def direct(host: str, port: int, context: ssl.SSLContext | None) -> Connection:
    """Make a connection, not yet open, to the destination or to a proxy that forwards; by https with a context."""
    return Connection(host, port) if context is None else TlsConnection(host, port, ssl_context=context)


def tunnel(
    host: str, port: int, context: ssl.SSLContext, proxy: Proxy, proxy_context: ssl.SSLContext | None
) -> Connection:
    """Make a connection by https through a proxy's CONNECT, not yet open.

    Args:
        host: The destination's.
        port: The destination's.
        context: For TLS with the destination.
        proxy: The proxy.
        proxy_context: For TLS with the proxy itself, where it is spoken to by https.
    """
    connection = TlsConnection(
        proxy.host,
        proxy.port,
        ssl_context=context,
        proxy=Url(proxy.scheme, host=proxy.host, port=proxy.port),
        proxy_config=ProxyConfig(proxy_context, False, None, None),
    )
    connection.set_tunnel(host, port, scheme=proxy.scheme)
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    fields = {"Host": authority, **proxy.headers}
    lines = [f"CONNECT {authority} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "\r\n"]
    connection.connect_request = "\r\n".join(lines).encode("ascii")
    return connection
