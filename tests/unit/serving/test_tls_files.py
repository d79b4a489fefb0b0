"""The files of a server's certificate."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from support.certificates import Authority

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.serving.tls import Tls


@pytest.fixture
def file(tmp_path):
    """A file with a certificate and its key."""
    return Authority(tmp_path).key_and_certificate(tmp_path / "server.pem")


def test_what_is_no_certificate_is_an_error(tmp_path, file):
    """With the files' names, and what to give."""
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for certificate, key in ((broken, file), (file, broken), (file, tmp_path / "absent")):
        with pytest.raises(ConfigError) as found:
            Tls(certificate, key)
        assert found.value.key == "--tls-cert"
        assert key.name in str(found.value)


def test_a_key_that_is_another_certificates_is_an_error(tmp_path, file):
    """It would fail at each handshake."""
    other = Authority(tmp_path).key_and_certificate(tmp_path / "other.pem")
    with pytest.raises(ConfigError, match="can't be used"):
        Tls(file, other)


def test_a_key_with_a_passphrase_is_told_as_such(tmp_path, file):
    """OpenSSL itself says nothing of it; it must not ask on the terminal either."""
    private = serialization.load_pem_private_key(file.read_bytes(), None)
    encryption = serialization.BestAvailableEncryption(b"swordfish")
    locked = tmp_path / "locked.pem"
    form = serialization.PrivateFormat.PKCS8
    locked.write_bytes(private.private_bytes(serialization.Encoding.PEM, form, encryption))
    with pytest.raises(ConfigError, match=r"can't be used: the key has a passphrase"):
        Tls(file, locked)


def test_a_broken_renewal_leaves_what_was(tmp_path, file):
    """And is tried again, until it is whole."""
    tls = Tls(file, file)
    context = tls.context
    whole = file.read_bytes()
    file.write_text("half")
    for _ in range(2):
        with pytest.raises(ConfigError):
            tls.renew()
    file.write_bytes(whole)
    tls.renew()
    assert tls.context is context
