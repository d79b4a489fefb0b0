"""TLS contexts: certificates are always verified, by whichever authorities the settings or the environment name."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import certifi

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.delivery.sockets import DeadlineTlsSocket
from truewatch_lineage.errors import ConfigError

CA_VARIABLES: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Where to find certificates if ``ca_file`` is not set, the first that is set."""


def server_context(destination: DestinationSettings, environ: Mapping[str, str]) -> ssl.SSLContext:
    """Make the context for a server (the destination or a proxy): verified, TLS 1.2 or newer, no client certificate.

    Raises:
        ConfigError: The authorities' file can't be read.
    """
    path, key = _authorities(destination, environ)
    folder = Path(path).is_dir()
    try:
        context = ssl.create_default_context(cafile=None if folder else path, capath=path if folder else None)
    except (OSError, ssl.SSLError) as error:
        raise _unreadable(key, path, error) from None
    context.sslsocket_class = DeadlineTlsSocket
    return context


def destination_context(destination: DestinationSettings, environ: Mapping[str, str]) -> ssl.SSLContext:
    """Make the context for the destination itself: as :func:`server_context`, with the client certificate if set.

    Raises:
        ConfigError: A certificate or key file can't be read.
    """
    context = server_context(destination, environ)
    if destination.client_cert is not None:
        try:
            context.load_cert_chain(destination.client_cert, destination.client_key, password=_no_password)
        except (OSError, ssl.SSLError) as error:
            raise _unreadable("client_cert", str(destination.client_cert), error) from None
    return context


def _authorities(destination: DestinationSettings, environ: Mapping[str, str]) -> tuple[str, str]:
    if destination.ca_file is not None:
        return str(destination.ca_file), "ca_file"
    for variable in CA_VARIABLES:
        if environ.get(variable):
            return environ[variable], variable
    return certifi.where(), "certifi"


def _no_password() -> str:
    # Without this OpenSSL would stop the job and ask on the terminal.
    raise ConfigError(
        "client_key is encrypted, and there is nobody to ask for its password.",
        key="client_key",
        fix="Name a key file without a password, readable only by you.",
    )


def _unreadable(key: str, path: str, error: OSError) -> ConfigError:
    why = error.strerror if not isinstance(error, ssl.SSLError) else "it holds no usable PEM certificate or key"
    return ConfigError(f"{key} names {path}, which can't be used: {why}.", key=key, fix="Correct the path or the file.")
