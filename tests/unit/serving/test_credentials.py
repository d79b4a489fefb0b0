"""What a request shows of secrets, wherever it shows it: none of it may stay in its event."""

from __future__ import annotations

import base64

import pytest

from truewatch_lineage.serving.credentials import Gate

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
