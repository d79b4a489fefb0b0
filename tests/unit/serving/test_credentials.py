"""What a request shows of secrets, wherever it shows it: none of it may stay in its event."""

from __future__ import annotations

import base64

import pytest

from truewatch_lineage.errors import TokenError
from truewatch_lineage.serving.answers import Refusal
from truewatch_lineage.serving.credentials import EVERYWHERE, MAX_CREDENTIAL, Gate, check_token

BASIC = base64.b64encode(b"user:password-of-one").decode()


@pytest.mark.parametrize(
    ("headers", "query", "found"),
    [
        pytest.param({}, "", [], id="nothing"),
        pytest.param({"authorization": "Bearer token-of-one"}, "", ["token-of-one"], id="bearer"),
        pytest.param({"x-token": "token-of-one"}, "", ["token-of-one"], id="X-Token"),
        pytest.param({}, "a=b&token=token%2Dof-one", ["token-of-one"], id="query"),
        pytest.param({"authorization": "ApiKey key-of-one"}, "", ["key-of-one"], id="another scheme"),
        pytest.param({"authorization": f"Basic {BASIC}"}, "", [BASIC, "password-of-one"], id="basic"),
        pytest.param({"authorization": "Basic no-base64!"}, "", ["no-base64!"], id="basic, broken"),
        pytest.param({"authorization": "Basic dXNlcg=="}, "", ["dXNlcg=="], id="basic, without a password"),
        pytest.param({"authorization": "Bearer"}, "", [], id="no token at all"),
        pytest.param({"api-key": "key-of-one"}, "", ["key-of-one"], id="api-key"),
        pytest.param({"x-api-key": "key-of-one"}, "", ["key-of-one"], id="x-api-key"),
    ],
)
def test_what_a_request_shows_is_secret(headers, query, found):
    """By whatever way clients show their keys, those for other services too."""
    scope = {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}
    scope["query_string"] = query.encode()
    assert Gate(["own-token"], owner="gateway").secrets(scope) == ["own-token", *found]


LONG = "x" * MAX_CREDENTIAL


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        pytest.param({"authorization": "Bearer {}"}, "", id="bearer"),
        pytest.param({"authorization": "Negotiate {}"}, "", id="another scheme"),
        pytest.param({"x-token": "{}"}, "", id="X-Token"),
        pytest.param({"x-api-key": "{}"}, "", id="x-api-key"),
        pytest.param({"api-key": "{}"}, "", id="api-key"),
        pytest.param({}, "token={}", id="query"),
        pytest.param({"authorization": "Bearer own-token", "x-token": "{}"}, "", id="beside the right one"),
    ],
)
@pytest.mark.parametrize(("tokens", "order"), [(("own-token", LONG), EVERYWHERE), ((), EVERYWHERE), (("a",), ())])
def test_what_is_too_long_is_refused_wherever_it_stands(headers, query, tokens, order):
    """And whether or not a token is asked for: what is not masked must not come in."""
    gate = Gate(tokens, owner="gateway")

    def check(text):
        fields = [(name.encode(), value.format(text).encode()) for name, value in headers.items()]
        gate.check({"headers": fields, "query_string": query.format(text).encode()}, order)

    with pytest.raises(Refusal, match="more than 4,096 characters") as told:
        check(f"{LONG}x")
    assert (told.value.status, told.value.code) == (401, "invalidToken")
    if not tokens or not order:
        check(LONG)


def test_other_long_headers_are_nobodys_business():
    """A cookie is no credential here."""
    Gate(owner="gateway").check({"headers": [(b"cookie", LONG.encode() * 2)], "query_string": b"a=" + b"b" * 9000}, ())


def test_a_token_that_clients_could_not_show_is_an_error():
    """The message does not show it."""
    assert check_token(f"{LONG}\n", "a file", "receiver") == LONG
    with pytest.raises(TokenError, match="The receiver's token has more than 4,096 characters") as told:
        check_token(f"{LONG}x", "a file", "receiver")
    assert LONG not in str(told.value)
