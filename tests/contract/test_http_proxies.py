"""Proxies: the setting's, or HTTPS_PROXY for https; never http_proxy, never for loopback unasked, never netrc."""

from __future__ import annotations

import base64
import os
import socket
import time
from pathlib import Path

import pytest
from support.certificates import Authority
from support.destinations import EVENT_GZ, TOKEN, destination, send, sender
from support.private import write_private
from support.proxy_server import ProxyServer
from support.raw_server import Behaviour, RawServer, hang

from truewatch_lineage.delivery.http import Fault, HttpClient
from truewatch_lineage.delivery.outcome import Verdict

NAME = "lineage.example"
URL = f"https://{NAME}:8443"


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    """Make one authority for the module."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(authority):
    """Serve https for a name that only a proxy can find."""
    with RawServer(tls=authority.server(NAME)) as running:
        yield running


def _post(url: str, seconds: float = 5.0, kind: str = "dataway", **settings):
    client = HttpClient(destination(url, kind, **settings), 1)
    try:
        return client.post(EVENT_GZ, {}, deadline=time.monotonic() + seconds)
    finally:
        client.close()


def test_the_setting_proxy_opens_one_tunnel_for_many_events(authority, server) -> None:
    """CONNECT names the destination; the proxy sees no token, and the tunnel is kept."""
    with (
        ProxyServer(server.port) as proxy,
        sender(URL, ca_file=authority.file, proxy=f"http://127.0.0.1:{proxy.port}") as to,
    ):
        assert [send(to).verdict for _ in range(3)] == [Verdict.DELIVERED] * 3

        assert [asked.line.rpartition(" ")[0] for asked in proxy.asked] == [f"CONNECT {NAME}:8443"]
        assert TOKEN not in str(proxy.asked)
        assert server.requests[0].header("Host") == f"{NAME}:8443"


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
def test_the_environment_names_a_proxy_for_https(authority, server, monkeypatch, variable) -> None:
    """Credentials in its url go to the proxy, and nowhere else."""
    with ProxyServer(server.port) as proxy:
        monkeypatch.setenv(variable, f"http://user:p%40ss@127.0.0.1:{proxy.port}")
        assert _post(URL, ca_file=authority.file).status == 200

        expected = base64.b64encode(b"user:p@ss").decode()
        assert proxy.asked[0].headers["proxy-authorization"] == f"Basic {expected}"
        assert server.requests[0].header("Proxy-Authorization") is None


def test_a_proxy_may_be_spoken_to_by_https(authority, server) -> None:
    """TLS within TLS; the proxy's certificate is verified too, and the deadline holds."""
    with (
        ProxyServer(server.port, tls=authority.server("127.0.0.1")) as proxy,
        sender(URL, ca_file=authority.file, proxy=f"https://127.0.0.1:{proxy.port}") as to,
    ):
        assert [send(to).verdict for _ in range(2)] == [Verdict.DELIVERED] * 2
        assert len(proxy.asked) == 1
    with ProxyServer(server.port, tls=authority.server("other.example")) as proxy:
        result = _post(URL, ca_file=authority.file, proxy=f"https://127.0.0.1:{proxy.port}")
        assert result.fault is Fault.CERTIFICATE
        assert f"the proxy 127.0.0.1:{proxy.port}" in result.detail


@pytest.mark.parametrize(("status", "verdict"), [(407, Verdict.PARK), (403, Verdict.PARK), (503, Verdict.RETRY)])
def test_a_proxy_that_refuses_is_named_without_its_credentials(authority, server, status, verdict) -> None:
    """What the proxy answers to CONNECT is no answer of the destination."""
    with (
        ProxyServer(server.port, status=status) as proxy,
        sender(URL, ca_file=authority.file, proxy=f"http://user:hunter2@127.0.0.1:{proxy.port}") as to,
    ):
        outcome = send(to)

        assert (outcome.verdict, outcome.status, outcome.ambiguous) == (verdict, status, False)
        assert outcome.reason.startswith(f"the proxy 127.0.0.1:{proxy.port} answered {status} to CONNECT")
        assert "hunter2" not in outcome.reason


def test_a_proxy_that_is_down_is_named() -> None:
    """The fault is the proxy's, not the destination's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    result = _post(URL, proxy=f"http://user:hunter2@127.0.0.1:{port}")

    assert (result.fault, result.detail) == (Fault.REFUSED, f"refused by the proxy 127.0.0.1:{port}")


def test_a_proxy_that_says_nothing_is_a_timeout() -> None:
    """The tunnel is part of the total deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        result = _post(URL, 0.4, proxy=f"http://127.0.0.1:{silent.getsockname()[1]}")

    assert result.fault is Fault.TIMEOUT
    assert time.monotonic() - started < 0.7


def test_once_the_tunnel_is_open_the_destination_is_named(authority) -> None:
    """Who did not answer is the destination, not the proxy."""
    with RawServer([hang()], tls=authority.server(NAME)) as silent, ProxyServer(silent.port) as proxy:
        result = _post(URL, 0.4, ca_file=authority.file, proxy=f"http://127.0.0.1:{proxy.port}")

    assert result.detail == f"no answer from {NAME}:8443 within 0.4 s"


def test_a_slow_tunnel_leaves_less_for_the_handshake() -> None:
    """What the proxy takes is not given again to what follows."""

    def open_late_and_say_nothing(exchange) -> bool:
        exchange.pause(0.6)
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.hold()
        return False

    with RawServer([Behaviour(open_late_and_say_nothing, "accept")]) as proxy:
        started = time.monotonic()
        result = _post(URL, 0.8, proxy=proxy.url)

    assert result.fault is Fault.TIMEOUT
    assert time.monotonic() - started < 1.1


def test_plain_http_through_the_set_proxy_is_forwarded() -> None:
    """RFC 9112, 3.2.2: to a proxy the target is the whole url."""
    with RawServer() as proxy:
        url = f"http://user:pw@127.0.0.1:{proxy.port}"
        assert _post("http://datakit.example:9529", kind="datakit", proxy=url).status == 200

        assert proxy.requests[0].path == "http://datakit.example:9529/openlineage/api/v1/lineage"
        assert proxy.requests[0].header("Host") == "datakit.example:9529"
        assert proxy.requests[0].header("Proxy-Authorization") == "Basic dXNlcjpwdw=="


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://", "://x", "http://hunter2:x"])
def test_a_proxy_of_another_kind_is_a_setting_to_mend(proxy) -> None:
    """It is not echoed, since it may hold a password."""
    result = _post(URL, proxy=proxy)

    assert result.fault is Fault.SETTINGS
    assert "hunter2" not in result.detail


def test_proxy_variables_never_capture_loopback(monkeypatch, authority) -> None:
    """Case 14: with every proxy variable set, events for 127.0.0.1 and localhost go straight there."""
    with RawServer() as proxy, RawServer() as plain, RawServer(tls=authority.server()) as secure:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert _post(plain.url).status == 200
        assert _post(secure.url, ca_file=authority.file).status == 200
        assert _post(secure.url.replace("127.0.0.1", "localhost"), ca_file=authority.file).status == 200

        assert proxy.connections == 0


def test_http_proxy_never_counts(monkeypatch) -> None:
    """Not even for another host by http: the name is looked up, not handed to a proxy."""
    with RawServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert _post("http://no-such-host.invalid", 2).fault is Fault.DNS

        assert proxy.connections == 0


def test_netrc_never_replaces_the_token(monkeypatch) -> None:
    """Case 14: the configured token wins over ``~/.netrc``."""
    netrc = write_private(Path(os.environ["HOME"]) / ".netrc", "machine 127.0.0.1 login bob password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with RawServer() as server, sender(server.url) as to:
        send(to)

        assert server.requests[0].header("Authorization") == f"Bearer {TOKEN}"
