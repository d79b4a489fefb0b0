"""A server's certificate, read again when its files change, so that a renewed one needs no restart."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from truewatch_lineage.errors import ConfigError

_Signature = tuple[tuple[int, int, int], ...]


class Tls:
    """The context of an https server; TLS 1.2 at least, as Python's own default from 3.10 on.

    Args:
        certificate: The file of the certificate and its chain, PEM.
        key: The file of the private key, PEM, without a passphrase.

    Attributes:
        context: For connections from now on.

    Raises:
        ConfigError: They can't be read, or do not belong together.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = (certificate, key)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._seen = self._signature()
        self._load()

    def renew(self) -> None:
        """Read the files again if they have changed.

        Raises:
            ConfigError: As for the constructor; then the one before stays.
        """
        found = self._signature()
        if found != self._seen:
            self._load()
            self._seen = found

    def _load(self) -> None:
        certificate, key = self._files
        asked: list[bool] = []

        def no_passphrase() -> str:
            """Answer in the place of OpenSSL's own question on the terminal."""
            asked.append(True)
            return ""

        try:
            # First into one that is thrown away: a context keeps the certificate where the key turns out another's.
            for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.context):
                context.load_cert_chain(certificate, key, password=no_passphrase)
        except ssl.SSLError as error:
            reason = "the key has a passphrase" if asked else error.reason or "they are no PEM"
            problem = f"The certificate and the key can't be used: {reason}."
            fix = "Give the chain and its own key, both PEM, the key without a passphrase."
            raise ConfigError(problem, key="--tls-cert", source=f"{certificate}, {key}", fix=fix) from None
        except OSError as error:
            raise _unreadable(error) from None

    def _signature(self) -> _Signature:
        try:
            found = [os.stat(file) for file in self._files]  # noqa: PTH116 - plain numbers are wanted
        except OSError as error:
            raise _unreadable(error) from None
        return tuple((info.st_ino, info.st_size, info.st_mtime_ns) for info in found)


def _unreadable(error: OSError) -> ConfigError:
    return ConfigError(
        f"A file of TLS can't be read: {error.strerror}.",
        key="--tls-cert",
        source=None if error.filename is None else str(error.filename),
        fix="Name a certificate and its key that this user may read.",
    )
