"""What an exception of a library means, in our own words: those that a loopback server can't raise reliably."""

from __future__ import annotations

import errno
import ssl

import pytest
from urllib3.util.ssl_match_hostname import CertificateError

from truewatch_lineage.delivery.fault import Fault, explain

SECRET = "hunter2"


def _ssl(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, SECRET)
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "fault", "says"),
    [
        (_ssl("TLSV13_ALERT_CERTIFICATE_REQUIRED"), Fault.CERTIFICATE, "our client certificate"),
        (_ssl("TLSV1_ALERT_UNKNOWN_CA"), Fault.CERTIFICATE, "our client certificate"),
        (_ssl("SSLV3_ALERT_BAD_CERTIFICATE"), Fault.CERTIFICATE, "our client certificate"),
        (_ssl("SSLV3_ALERT_HANDSHAKE_FAILURE"), Fault.TLS, "alert handshake failure"),
        (_ssl("WRONG_VERSION_NUMBER"), Fault.TLS, "http://"),
        (_ssl(""), Fault.TLS, "no reason given"),
        (ssl.SSLEOFError(8, SECRET), Fault.RESET, "closed the connection"),
        (CertificateError(SECRET), Fault.CERTIFICATE, "another name"),
        (OSError(errno.ENETUNREACH, SECRET), Fault.OTHER, "Network is unreachable"),
        (OSError(SECRET), Fault.OTHER, "OSError"),
        (ValueError(SECRET), Fault.OTHER, "ValueError"),
    ],
)
def test_an_exception_is_told_without_its_own_text(error, fault, says) -> None:
    """Libraries quote headers and urls in theirs."""
    found, status, detail = explain(error, "host:443", 1.0)

    assert (found, status) == (fault, None)
    assert says in detail
    assert "host:443" in detail
    assert SECRET not in detail
