"""Certificates for servers and clients of tests, signed by an authority that nobody else trusts."""

from __future__ import annotations

import ssl
from datetime import datetime, timedelta, timezone
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


class Authority:
    """A certificate authority.

    Args:
        folder: Where its files go.

    Attributes:
        file: Its certificate, for ``ca_file``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(str(self.file))

    def server(self, *names: str, expired: bool = False, client_required: bool = False) -> ssl.SSLContext:
        """Make the context of a server with a certificate for ``names``, by default 127.0.0.1 and localhost."""
        now = datetime.now(timezone.utc)
        end = now - timedelta(days=1) if expired else now + timedelta(days=1)
        leaf = self._authority.issue_cert(
            *(names or ("127.0.0.1", "localhost")), not_before=now - timedelta(days=2), not_after=end
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf.configure_cert(context)
        if client_required:
            context.verify_mode = ssl.CERT_REQUIRED
            self._authority.configure_trust(context)
        return context

    def key_and_certificate(self, path: Path) -> Path:
        """Write a server's key (PKCS #8, for Java) and certificate for 127.0.0.1 and localhost into one file."""
        leaf = self._authority.issue_cert("127.0.0.1", "localhost")
        key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(text + b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
        return path

    def client(self) -> tuple[Path, Path]:
        """Write a client's certificate and key and return their files."""
        leaf = self._authority.issue_cert("client@example.com")
        certificate, key = self._folder / "client.pem", self._folder / "client.key"
        leaf.cert_chain_pems[0].write_to_path(str(certificate))
        leaf.private_key_pem.write_to_path(str(key))
        return certificate, key
