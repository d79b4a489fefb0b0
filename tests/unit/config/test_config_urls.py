"""From url and endpoint to the one address, and which destination they decide."""

import pytest

from truewatch_lineage.config import urls
from truewatch_lineage.config.found import Found
from truewatch_lineage.destinations.builtin import PROFILES
from truewatch_lineage.errors import ConfigError


def found(value, key="url"):
    """Make a setting, or none."""
    return None if value is None else Found(value, key, "the transport's settings")


def join(url, endpoint=None, kind="dataway"):
    """Join as the settings do."""
    return urls.final_url(found(url), found(endpoint, "endpoint"), PROFILES[kind])


JOINED = [
    ("https://h", None, "https://h/v1/write/openlineage"),
    ("https://h/", None, "https://h/v1/write/openlineage"),
    ("https://h//", None, "https://h/v1/write/openlineage"),
    ("HTTPS://h", None, "https://h/v1/write/openlineage"),
    ("https://h:8443", "/x", "https://h:8443/x"),
    ("https://[::1]:9", "/x", "https://[::1]:9/x"),
    ("https://h/gateway", "api/v1/lineage", "https://h/gateway/api/v1/lineage"),
    ("https://h/gateway/", "api/v1/lineage", "https://h/gateway/api/v1/lineage"),
    ("https://h/gateway/", "/v1/write/openlineage", "https://h/gateway/v1/write/openlineage"),
    ("https://h/gateway", "/v1/write/openlineage", "https://h/gateway/v1/write/openlineage"),
    ("https://h/", "//v1/write/openlineage", "https://h/v1/write/openlineage"),
    ("https://h", "/v1/write/openlineage/", "https://h/v1/write/openlineage"),
    ("https://h", "/custom/", "https://h/custom/"),
    ("https://h/v1/write/openlineage", None, "https://h/v1/write/openlineage"),
    ("https://h/v1/write/openlineage/", None, "https://h/v1/write/openlineage"),
    ("https://h/base/v1/write/openlineage", "v1/write/openlineage", "https://h/base/v1/write/openlineage"),
    ("https://h/v1/write/openlineage2", None, "https://h/v1/write/openlineage2/v1/write/openlineage"),
    ("https://h/openlineage/api/v1/lineage", "/api/v1/lineage", "https://h/openlineage/api/v1/lineage"),
    ("https://v1/write/openlineage", None, "https://v1/write/openlineage/v1/write/openlineage"),
    ("https://h/a%20b", "/x", "https://h/a%20b/x"),
]


@pytest.mark.parametrize(("url", "endpoint", "address"), JOINED)
def test_url_and_endpoint_are_joined_with_one_slash(url, endpoint, address):
    """Case 10: a base path stays, and a url that already ends with the endpoint is taken as it is."""
    assert join(url, endpoint) == address


REFUSED = [
    ("https://user:tkn_canary@h", None, "user or password"),
    ("https://tkn_canary@h", None, "user or password"),
    ("https://h?token=tkn_canary", None, "token in its query"),
    ("https://h/x?a=1&TOKEN=tkn_canary", None, "token in its query"),
    ("https://h?access_token=tkn_canary", None, "token in its query"),
    ("https://h?apiKey=tkn_canary", None, "token in its query"),
    ("https://h?a=canary", None, "query or fragment"),
    ("https://h?", None, "query or fragment"),
    ("https://h#canary", None, "query or fragment"),
    ("https://h", "v1/write/openlineage?token=tkn_canary", "token in its query"),
    ("https://h", "v1/write#canary", "query or fragment"),
    ("https://h", "https://canary/v1", "must be a path"),
    ("https://h", "/", "must be a path"),
    ("https://h", "", "is empty"),
    ("https://h", "/a b", "a blank"),
    ("https://h", "/a\r\nX: canary", "a blank"),
    ("https://h", "/../x", "as a part of its path"),
    ("https://h/a/./b", None, "as a part of its path"),
    ("tkn_canary", None, "must start with https://"),
    ("h:8080", None, "must start with https://"),
    ("//canary", None, "must start with https://"),
    ("ftp://canary", None, "must start with https://"),
    ("https://", None, "no host"),
    ("https:///canary", None, "no host"),
    ("https://:443", None, "no host"),
    ("https://h:0", None, "no host"),
    ("https://h:99999", None, "must start with https://"),
    ("https://[::1", None, "must start with https://"),
    ("https://h/a b", None, "a blank"),
    ("https://h\\@canary", None, "a blank"),
    ("https://bücher.canary", None, "outside ASCII"),
    ("https://h/\0canary", None, "a blank"),
    ("https://h/api/data-registry/lineage", None, "endpoint of another destination (portal)"),
    ("https://h/openlineage/api/v1/lineage", None, "endpoint of another destination (datakit)"),
]


@pytest.mark.parametrize(("url", "endpoint", "told"), REFUSED)
def test_a_wrong_url_is_refused_with_the_fix_and_without_being_shown(url, endpoint, told):
    """A credential may be anywhere in it."""
    with pytest.raises(ConfigError) as caught:
        join(url, endpoint)
    assert told in str(caught.value)
    assert caught.value.fix
    assert "canary" not in f"{caught.value} {caught.value!r}"


DECIDED = [
    (None, None, "https://h", "dataway"),
    ("DataKit", None, "https://h", "datakit"),
    ("portal", "/v1/write/openlineage", "https://h", "portal"),
    (None, "/v1/write/openlineage", "https://h", "dataway"),
    (None, "openlineage/api/v1/lineage", "https://h", "datakit"),
    (None, "/api/data-registry/lineage/", "https://h", "portal"),
    (None, "api/v1/lineage", "https://h", "openlineage"),
    (None, "/something/else", "https://h", "dataway"),
    (None, None, "https://h/api/data-registry/lineage", "portal"),
    (None, None, "https://h/openlineage/api/v1/lineage/", "datakit"),
    (None, None, "https://h/base/api/v1/lineage", "openlineage"),
    (None, None, None, "dataway"),
]


@pytest.mark.parametrize(("kind", "endpoint", "url", "expected"), DECIDED)
def test_the_destination_is_named_or_told_by_a_known_endpoint(kind, endpoint, url, expected):
    """So that OpenLineage's own settings, endpoint included, need no new key."""
    profile = urls.choose_profile(found(kind, "destination"), found(endpoint, "endpoint"), found(url))
    assert profile.kind == expected


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST.", "::1", "[::1]"])
def test_loopback_is_known_by_its_spelling(host):
    """Nothing is resolved to find out."""
    assert urls.is_loopback(host)


@pytest.mark.parametrize(
    "host", ["127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "127.1", ""]
)
def test_what_only_looks_like_loopback_is_none(host):
    """A token must not leave in the clear."""
    assert not urls.is_loopback(host)


@pytest.mark.parametrize("url", ["http://proxy:3128", "https://user:pw@proxy:3128/", "http://[::1]:3128"])
def test_a_proxy_may_hold_a_password(url):
    """Proxies have no other way to take one."""
    assert urls.check_proxy(found(url, "proxy")) == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["proxy:3128", "socks5://u:canary@p", "http://u:canary@p/x", "http://u:canary@p?x", "http://u:can ary@p"]
)
def test_a_wrong_proxy_is_refused_without_its_password(url):
    """The message tells the form."""
    with pytest.raises(ConfigError, match="`proxy`") as caught:
        urls.check_proxy(found(url, "proxy"))
    assert "can" not in str(caught.value).replace("can't", "")
