"""Which proxy a url is reached by."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from truewatch_lineage.delivery.proxy import choose
from truewatch_lineage.errors import ConfigError

PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}


def _chosen(url: str, environ, setting=None):
    proxy = choose(urlsplit(url), setting, environ)
    return proxy and f"{proxy.scheme}://{proxy.host}:{proxy.port}"


@pytest.mark.parametrize(
    ("url", "environ", "setting", "expected"),
    [
        ("https://a.example/x", {}, None, None),
        ("https://a.example/x", PROXY, None, "http://proxy.example:3128"),
        ("https://a.example/x", {"https_proxy": "lower:1", **PROXY}, None, "http://lower:1"),
        ("https://a.example/x", {"HTTPS_PROXY": "https://proxy.example"}, None, "https://proxy.example:443"),
        ("https://a.example/x", {"HTTPS_PROXY": " "}, None, None),
        ("http://a.example/x", PROXY, None, None),
        ("http://a.example/x", {"http_proxy": "http://p:1", "ALL_PROXY": "http://p:1"}, None, None),
        ("https://localhost/x", PROXY, None, None),
        ("https://127.1.2.3/x", PROXY, None, None),
        ("https://[::1]/x", PROXY, None, None),
        ("https://a.example/x", PROXY, "http://own:8080", "http://own:8080"),
        ("https://localhost/x", {}, "http://own:8080", "http://own:8080"),
        ("https://a.example/x", {"NO_PROXY": "*"}, "http://own:8080", "http://own:8080"),
    ],
)
def test_the_setting_counts_and_else_the_environment_for_https(url, environ, setting, expected) -> None:
    """Never ``http_proxy``; for loopback only what is set for the destination itself."""
    assert _chosen(url, environ, setting) == expected


@pytest.mark.parametrize(
    ("no_proxy", "host", "excluded"),
    [
        ("*", "a.example", True),
        ("a.example", "a.example", True),
        ("A.Example", "a.example", True),
        ("example", "a.example", True),
        (".example", "a.example", True),
        ("*.example", "a.example", True),
        ("b.example, a.example", "a.example", True),
        ("a.example:443", "a.example", True),
        ("a.example:8443", "a.example", False),
        ("ample", "a.example", False),
        ("a.example.com", "a.example", False),
        ("", "a.example", False),
        (",", "a.example", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3:443", "10.1.2.3", True),
        ("10.1.2.3:80", "10.1.2.3", False),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("fd00::/8", "[fd00::1]", True),
        ("[fd00::1]", "[fd00::1]", True),
        ("10.0.0.0/8", "a.example", False),
        ("10.0.0.0/99", "10.0.0.1", False),
    ],
)
def test_no_proxy_names_hosts_domains_addresses_and_networks(no_proxy, host, excluded) -> None:
    """As curl and Go read it."""
    chosen = _chosen(f"https://{host}/x", {**PROXY, "NO_PROXY": no_proxy})

    assert (chosen is None) is excluded


def test_credentials_are_in_no_repr_and_no_error() -> None:
    """They are for the proxy alone."""
    proxy = choose(urlsplit("https://a.example"), "http://user:hunter2@p:1", {})

    assert proxy is not None
    assert "dXNlcjpodW50ZXIy" in proxy.headers["Proxy-Authorization"]
    assert "dXNlcjpodW50ZXIy" not in repr(proxy)
    with pytest.raises(ConfigError) as caught:
        choose(urlsplit("https://a.example"), "ftp://user:hunter2@p:1", {})
    assert "hunter2" not in str(caught.value)
