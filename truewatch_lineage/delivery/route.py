"""The way to a destination: its host, how requests are addressed, which proxy and which certificates are in between."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.delivery import connection, proxy, tls
from truewatch_lineage.delivery.connection import Connection
from truewatch_lineage.delivery.proxy import DEFAULT_PORTS, Proxy
from truewatch_lineage.errors import ConfigError

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_TARGET: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests go and through what; made once, used for all connections.

    Attributes:
        host: The destination's, in ASCII.
        port: Its port.
        target: The request's target: a path, or the whole url where a proxy forwards it.
        authority: The Host header's value.
        proxy: The proxy, or None.
        context: For TLS with the destination, or None where it is spoken to by http.
        proxy_context: For TLS with the proxy, or None where it is spoken to by http.
    """

    host: str
    port: int
    target: str
    authority: str
    proxy: Proxy | None
    context: ssl.SSLContext | None = field(repr=False)
    proxy_context: ssl.SSLContext | None = field(repr=False)

    @classmethod
    def to(cls, destination: DestinationSettings, environ: Mapping[str, str]) -> Route:
        """Find the way to ``destination``.

        Raises:
            ConfigError: The url, the proxy's url or a certificate's file can't be used.
        """
        url = urlsplit(destination.url)
        host, authority = _host(url)
        by = proxy.choose(url, destination.proxy, environ)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        forwarded = by is not None and url.scheme == "http"
        return cls(
            host=host,
            port=url.port or DEFAULT_PORTS[url.scheme],
            target=f"http://{authority}{target}" if forwarded else target,
            authority=authority,
            proxy=by,
            context=tls.destination_context(destination, environ) if url.scheme == "https" else None,
            proxy_context=tls.server_context(destination, environ) if by and by.scheme == "https" else None,
        )

    def connection(self) -> Connection:
        """Make a connection, not yet open."""
        if self.proxy is None:
            return connection.direct(self.host, self.port, self.context)
        if self.context is None:
            return connection.direct(self.proxy.host, self.proxy.port, self.proxy_context)
        return connection.tunnel(self.host, self.port, self.context, self.proxy, self.proxy_context)

    def head(self, headers: Mapping[str, str], query: str) -> bytes:
        """Write the head of a POST but for its last field, Content-Length; what can't be in one is refused, not sent.

        Raises:
            ConfigError: The url or a header holds a character that HTTP does not allow there.
        """
        target = self.target
        if query:
            target += ("&" if "?" in target else "?") + query
        if not _TARGET.fullmatch(target):
            raise ConfigError("The url holds a space or another character that must be percent-encoded.", key="url")
        if self.proxy is not None and self.context is None:
            headers = {**headers, **self.proxy.headers}
        lines = [f"POST {target} HTTP/1.1\r\nHost: {self.authority}\r\n"]
        lines += [_line(name, value) for name, value in headers.items()]
        return "".join(lines).encode("ascii")

    def peer(self, opened: Connection | None) -> str:
        """Name whom ``opened`` speaks to: the proxy until it has opened its tunnel."""
        if self.proxy is None or (opened is not None and opened.tunnelled):
            return f"{self.host}:{self.port}"
        return f"the proxy {self.proxy.host}:{self.proxy.port}"


def _host(url: SplitResult) -> tuple[str, str]:
    """Return the host to connect to and the Host header's value: no zone, and the port if it is not the default."""
    try:
        host = (url.hostname or "").encode("idna" if not (url.hostname or "").isascii() else "ascii").decode()
        port = url.port
    except ValueError:
        host, port = "", None
    if not host or url.scheme not in DEFAULT_PORTS:
        raise ConfigError("The url is not one of http or https.", key="url", fix="Write it as https://host.")
    name = host.partition("%")[0]
    name = f"[{name}]" if ":" in name else name
    return host, name if port in {None, DEFAULT_PORTS[url.scheme]} else f"{name}:{port}"


def _line(name: str, value: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ConfigError("A header's name holds a character that HTTP does not allow.", key="headers")
    if not _HEADER_VALUE.fullmatch(value):
        # The value is not echoed: it may be a secret.
        raise ConfigError(f"The value of the header {name} holds a character that HTTP does not allow.", key="headers")
    return f"{name}: {value}\r\n"
