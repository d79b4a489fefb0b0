"""Which proxy a destination is reached by: the setting's, else for https the environment's; loopback only if set."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from truewatch_lineage.delivery.resolve import is_loopback
from truewatch_lineage.errors import ConfigError

DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy; its credentials are never shown.

    Attributes:
        scheme: ``http`` or ``https``: how the proxy itself is spoken to.
        host: Its name or address.
        port: Its port.
        headers: ``Proxy-Authorization`` where its url holds credentials.
    """

    scheme: str
    host: str
    port: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def choose(url: SplitResult, setting: str | None, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy for ``url``, or None.

    The setting is obeyed whatever the url. HTTPS_PROXY counts for https only, and neither for a loopback host nor for
    one that NO_PROXY names; ``http_proxy`` never counts, since it would capture a DataKit on this host.

    Raises:
        ConfigError: The proxy's url is malformed or of another kind.
    """
    if setting is not None:
        return _parse(setting, "proxy")
    host = url.hostname or ""
    if url.scheme != "https" or is_loopback(host) or _excluded(host, url.port or 443, _get(environ, "NO_PROXY")):
        return None
    found = _get(environ, "HTTPS_PROXY")
    return _parse(found, "HTTPS_PROXY") if found else None


def _get(environ: Mapping[str, str], name: str) -> str:
    """Read a variable by its lower-case name first, as curl does."""
    return (environ.get(name.lower()) or environ.get(name) or "").strip()


def _parse(text: str, key: str) -> Proxy:
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        scheme, host, port = url.scheme.lower(), url.hostname, url.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in DEFAULT_PORTS or not host:
        # The text is not echoed: it may hold a password.
        raise ConfigError(
            f"{key} is not the url of an HTTP proxy.", key=key, fix="Write it as http://host:port or https://host:port."
        )
    return Proxy(scheme, host, port or DEFAULT_PORTS[scheme], _authorization(url))


def _authorization(url: SplitResult) -> Mapping[str, str]:
    if url.username is None:
        return {}
    user = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(user.encode()).decode()}"}


def _excluded(host: str, port: int, no_proxy: str) -> bool:
    """Tell whether NO_PROXY names the host: ``*``, a name and all below it, an address or network, ``host:port``."""
    entries = [entry.strip().lower() for entry in no_proxy.split(",") if entry.strip()]
    return any(_names(entry, host.rstrip(".").lower(), port) for entry in entries)


def _names(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        name, colon, number = entry.rpartition(":")
        if colon and number.isdigit():
            if int(number) != port:
                return False
            entry = name.strip("[]")
        entry = entry.removeprefix("*").lstrip(".")
        return host == entry or host.endswith(f".{entry}")
