"""What can go wrong between us and an answer, told from the exception and put in our own words."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from enum import Enum
from typing import Final

from urllib3.util.ssl_match_hostname import CertificateError

from truewatch_lineage.delivery.connection import ProxyRefusedError
from truewatch_lineage.delivery.resolve import NameTimeoutError
from truewatch_lineage.errors import ConfigError


class Fault(Enum):
    """Why there is no whole answer."""

    DNS = "dns"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    RESET = "reset"
    TRUNCATED = "truncated"
    CERTIFICATE = "certificate"
    TLS = "tls"
    PROXY = "proxy"
    PROTOCOL = "protocol"
    SETTINGS = "settings"
    OTHER = "other"


_RESETS: Final = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
)

_TABLE: Final[tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Fault, str], ...]] = (
    (NameTimeoutError, Fault.DNS, "the name of {peer} was not resolved within {seconds:.3g} s"),
    (TimeoutError, Fault.TIMEOUT, "no answer from {peer} within {seconds:.3g} s"),
    (socket.gaierror, Fault.DNS, "the name of {peer} can't be resolved"),
    (ConnectionRefusedError, Fault.REFUSED, "refused by {peer}"),
    (_RESETS, Fault.RESET, "{peer} closed the connection without an answer"),
    (http.client.IncompleteRead, Fault.TRUNCATED, "the answer of {peer} was cut off"),
    (http.client.HTTPException, Fault.PROTOCOL, "what {peer} answered is no HTTP"),
    (CertificateError, Fault.CERTIFICATE, "the certificate of {peer} is for another name"),
)
"""The first that fits counts; no text is taken from an exception, since libraries quote headers and urls there."""


def explain(error: Exception, peer: str, seconds: float) -> tuple[Fault, int | None, str]:
    """Tell what an exception means.

    Args:
        error: What was raised on the way to an answer.
        peer: Whom we spoke to, such as ``127.0.0.1:9`` or ``the proxy 10.0.0.1:3128``.
        seconds: How long the attempt was allowed to take.

    Returns:
        The fault, the status of a proxy that refused or None, and a sentence without any secret.
    """
    if isinstance(error, ConfigError):
        return Fault.SETTINGS, None, str(error)
    if isinstance(error, ProxyRefusedError):
        return Fault.PROXY, error.status, f"{peer} answered {error.status} to CONNECT"
    for types, fault, text in _TABLE:
        if isinstance(error, types):
            return fault, None, text.format(peer=peer, seconds=max(0.0, seconds))
    if isinstance(error, ssl.SSLError):
        return _tls(error, peer)
    number = error.errno if isinstance(error, OSError) else None
    why = type(error).__name__ if number is None else os.strerror(number)
    return Fault.OTHER, None, f"{peer} can't be reached ({why})"


def _tls(error: ssl.SSLError, peer: str) -> tuple[Fault, int | None, str]:
    reason = error.reason or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Fault.CERTIFICATE, None, f"the certificate of {peer} is not accepted: {error.verify_message}"
    if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
        return Fault.CERTIFICATE, None, f"{peer} does not accept our client certificate, or wants one"
    if reason == "WRONG_VERSION_NUMBER":
        return Fault.TLS, None, f"{peer} does not speak TLS: should the url start with http://?"
    return Fault.TLS, None, f"TLS with {peer} failed ({reason.replace('_', ' ').lower() or 'no reason given'})"
