"""TLS: certificates are always verified, by the authorities that settings or environment name; never downgraded."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time

import pytest
from cryptography.hazmat.primitives import serialization as pem
from support.certificates import Authority
from support.destinations import EVENT_GZ, destination, send, sender
from support.raw_server import RawServer, drip, hang, huge, message, on_accept

from truewatch_lineage.delivery.http import Fault, HttpClient
from truewatch_lineage.delivery.outcome import Verdict


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    """Make one authority for the module."""
    return Authority(tmp_path_factory.mktemp("authority"))


def _post(url: str, seconds: float = 5.0, **settings):
    client = HttpClient(destination(url, **settings), 1)
    try:
        return client.post(EVENT_GZ, {}, deadline=time.monotonic() + seconds)
    finally:
        client.close()


def test_a_trusted_certificate_delivers_over_a_kept_connection(authority) -> None:
    """``ca_file`` names the authority; three events need one handshake."""
    with RawServer(tls=authority.server()) as server, sender(server.url, ca_file=authority.file) as to:
        assert [send(to).verdict for _ in range(3)] == [Verdict.DELIVERED] * 3
        assert server.connections == 1


def test_localhost_is_verified_by_its_name(authority) -> None:
    """A name is checked against the certificate, not the address it leads to."""
    with RawServer(tls=authority.server("localhost")) as server:
        url = server.url.replace("127.0.0.1", "localhost")

        assert _post(url, ca_file=authority.file).status == 200
        assert _post(server.url, ca_file=authority.file).fault is Fault.CERTIFICATE


@pytest.mark.parametrize(
    ("names", "expired", "trusted", "says"),
    [
        ((), False, False, "unable to get local issuer certificate"),
        (("other.example",), False, True, "127.0.0.1"),
        ((), True, True, "certificate has expired"),
    ],
    ids=["untrusted", "another name", "expired"],
)
def test_a_bad_certificate_parks_and_nothing_is_sent(authority, names, expired, trusted, says) -> None:
    """The event never leaves, the message says what is wrong and where to mend it."""
    context = authority.server(*names, expired=expired)
    with RawServer(tls=context) as server:
        settings = {"ca_file": authority.file} if trusted else {}
        with sender(server.url, **settings) as to:
            outcome = send(to)

        assert (outcome.verdict, outcome.ambiguous) == (Verdict.PARK, False)
        assert says in outcome.reason
        assert "ca_file" in outcome.reason
        assert server.requests == []


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_the_environment_may_name_the_authorities(authority, monkeypatch, variable) -> None:
    """Both variables count; ``ca_file`` counts more."""
    monkeypatch.setenv(variable, str(authority.file))
    with RawServer(tls=authority.server()) as server:
        assert _post(server.url).status == 200

        monkeypatch.setenv(variable, "/no/such/file")
        result = _post(server.url)
        assert result.fault is Fault.SETTINGS
        assert variable in result.detail
        assert _post(server.url, ca_file=authority.file).status == 200


def test_a_mended_file_is_read_by_the_next_attempt(authority, tmp_path) -> None:
    """An authority's file that appears later needs no restart."""
    late = tmp_path / "late.pem"
    another = Authority(tmp_path)
    with RawServer(tls=authority.server()) as server, sender(server.url, ca_file=late) as to:
        parked = send(to)
        late.write_bytes(b"no certificate")
        unusable = send(to)
        late.write_bytes(another.file.read_bytes())
        untrusted = send(to)
        late.write_bytes(authority.file.read_bytes())

        assert {parked.verdict, unusable.verdict, untrusted.verdict} == {Verdict.PARK}
        assert send(to).verdict is Verdict.DELIVERED
    assert "ca_file names" in parked.reason
    assert "no usable PEM" in unusable.reason
    assert "is not accepted" in untrusted.reason


def test_a_client_certificate_is_shown_to_a_server_that_wants_one(authority) -> None:
    """With it the event is delivered; without it nothing is."""
    certificate, key = authority.client()
    with RawServer(tls=authority.server(client_required=True)) as server:
        given = _post(server.url, ca_file=authority.file, client_cert=certificate, client_key=key)
        missing = _post(server.url, ca_file=authority.file)

    assert given.status == 200
    # The server's alert and its reset race in TLS 1.3, where it looks only after the handshake.
    assert missing.fault in {Fault.CERTIFICATE, Fault.RESET}
    assert missing.status is None


def test_an_encrypted_key_asks_nobody(authority, tmp_path) -> None:
    """OpenSSL would stop the job and ask on the terminal for the key's password."""
    certificate, key = authority.client()
    loaded = pem.load_pem_private_key(key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    secret = pem.BestAvailableEncryption(b"secret")
    locked.write_bytes(loaded.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, secret))

    result = _post("https://127.0.0.1:9", ca_file=authority.file, client_cert=certificate, client_key=locked)

    assert result.fault is Fault.SETTINGS
    assert "encrypted" in result.detail


def test_https_to_a_plain_port_is_told(authority) -> None:
    """The answer in clear is no TLS; the event is not sent in clear either."""
    with RawServer([on_accept(drip(message(400), 0, 1000))]) as server:
        result = _post(server.url.replace("http://", "https://"), ca_file=authority.file)

    assert result.fault is Fault.TLS
    assert "http://" in result.detail


@pytest.mark.parametrize(
    "behaviour",
    [hang(), drip(message(200, {"Content-Length": "1000"}, b"x" * 999), 0.01)],
    ids=["hang", "drip"],
)
def test_the_deadline_holds_over_tls(authority, behaviour) -> None:
    """TLS reads through other layers; they keep the same deadline."""
    with RawServer([behaviour], tls=authority.server()) as server:
        started = time.monotonic()
        result = _post(server.url, 0.5, ca_file=authority.file)

    assert result.fault is Fault.TIMEOUT
    assert time.monotonic() - started < 0.8


def test_a_handshake_that_never_ends_is_a_timeout(authority) -> None:
    """A listener that accepts and says nothing."""
    with RawServer([on_accept(hang())]) as server:
        started = time.monotonic()
        result = _post(server.url.replace("http://", "https://"), 0.4, ca_file=authority.file)

    assert (result.fault, result.sent) == (Fault.TIMEOUT, False)
    assert time.monotonic() - started < 0.7


@pytest.mark.serial
def test_a_large_request_over_tls_ends_at_the_deadline(authority) -> None:
    """Records are written one by one, each of them within what is left of the same deadline."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        listener.settimeout(10)  # a busy machine may use the deadline up before it connects
        context = authority.server()

        def serve_slowly() -> None:
            try:
                raw, _ = listener.accept()
            except TimeoutError:
                return
            with context.wrap_socket(raw, server_side=True) as sock, contextlib.suppress(OSError):
                end = time.monotonic() + 1.5
                while time.monotonic() < end and sock.recv(16384):
                    time.sleep(0.002)

        server = threading.Thread(target=serve_slowly)
        server.start()
        client = HttpClient(destination(f"https://127.0.0.1:{listener.getsockname()[1]}", ca_file=authority.file), 1)
        started = time.monotonic()
        result = client.post(bytes(64 * 1024 * 1024), {}, deadline=started + 0.5)
        elapsed = time.monotonic() - started
        client.close()
        server.join()

    assert result.fault is Fault.TIMEOUT
    assert elapsed < 0.8


def test_a_huge_answer_over_tls_is_read_to_its_limit(authority) -> None:
    """Delivered by its status, without reading 100 MB."""
    with RawServer([huge()], tls=authority.server()) as server:
        started = time.monotonic()
        assert _post(server.url, ca_file=authority.file).status == 200

    assert time.monotonic() - started < 2


def test_old_tls_is_refused(authority) -> None:
    """TLS 1.1 and older are never spoken."""
    context = authority.server()
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with RawServer(tls=context) as server:
        result = _post(server.url, ca_file=authority.file)

    assert result.fault in {Fault.TLS, Fault.RESET}
