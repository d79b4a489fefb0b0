"""Extra headers: which are taken and which refused."""

import pytest

from truewatch_lineage.config.found import Found
from truewatch_lineage.config.headers import headers
from truewatch_lineage.errors import ConfigError


def read(value):
    """Read headers as from a dict."""
    return headers(Found(value, "headers", "file x"))


@pytest.mark.parametrize(
    "value",
    [{"X-Tenant": "a b", "X-Shard": 7}, '{"X-Tenant": "a b", "X-Shard": 7}', '{"X-Tenant": "a b", "X-Shard": "7"}'],
)
def test_plain_headers_are_taken(value):
    """As a mapping or its JSON text; a whole number stands for its digits."""
    assert read(value) == {"X-Tenant": "a b", "X-Shard": "7"}


CREDENTIALS = [
    "Authorization", "authorization", "Proxy-Authorization", "X-Token", "x-token", "Cookie", "Set-Cookie", "X-API-Key",
    "api_key", "ApiKey", "X-Auth", "X-Auth-Request", "X-Amz-Security-Token", "Client-Secret", "X-Password",
]  # fmt: skip


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_is_refused_with_its_right_place(name):
    """Headers are logged by too many; tokens have settings of their own."""
    with pytest.raises(ConfigError, match=r"is a credential.*token_file") as caught:
        read({name: "canary"})
    assert f"headers.{name}" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["Host", "content-type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection"]
)
def test_what_the_sender_sets_is_refused(name):
    """Two of them would break the request."""
    with pytest.raises(ConfigError, match="set by the sender itself"):
        read({name: "x"})


@pytest.mark.parametrize(
    "value", ["a\r\nX-Token: canary", "a\ncanary", "canary\0", "canaré", "canary\x7f", " canary", "canary\n"]
)
def test_a_value_no_header_can_have_is_refused(value):
    """A line break would smuggle in a header of its own."""
    with pytest.raises(ConfigError, match=r"headers\.X-A") as caught:
        read({"X-A": value})
    assert "canar" not in str(caught.value)


@pytest.mark.parametrize("value", ["Bearer canary", "basic Y2FuYXJ5"])
def test_a_credential_in_a_value_is_refused(value):
    """Whatever the header is called."""
    with pytest.raises(ConfigError, match="holds a credential") as caught:
        read({"X-Forwarded-For-App": value})
    assert value not in str(caught.value)


@pytest.mark.parametrize("value", [{"X A": "x"}, {"": "x"}, {"X\r": "x"}, {1: "x"}, {"X:": "x"}])
def test_a_name_no_header_can_have_is_refused(value):
    """RFC 9110, 5.6.2."""
    with pytest.raises(ConfigError, match="no HTTP header can have"):
        read(value)


@pytest.mark.parametrize(
    "value", [{"X-A": 1.5}, {"X-A": True}, {"X-A": None}, {"X-A": [1]}, {"X-A": ""}, ["X-A"], "x", 5]
)
def test_other_shapes_are_refused(value):
    """A float would lose its spelling."""
    with pytest.raises(ConfigError, match="`headers"):
        read(value)


def test_one_header_in_two_spellings_is_refused():
    """HTTP knows no case in names."""
    with pytest.raises(ConfigError, match="names a header twice"):
        read({"X-A": "1", "x-a": "2"})
