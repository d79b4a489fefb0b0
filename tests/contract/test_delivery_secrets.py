"""A token is in the request and nowhere else: no log at DEBUG, no repr, no reason, no detail, whatever goes wrong."""

from __future__ import annotations

import logging
import socket
from urllib.parse import quote

import pytest
from support.destinations import TOKEN, destination, sender
from support.destinations import send as send_event
from support.raw_server import RawServer, answer, close, cut, drip, hang, message, reset, verbatim

TOKENS = (TOKEN, quote(TOKEN, safe=""))

BEHAVIOURS = {
    "delivered": answer(200),
    "refused": answer(401, body=f"your token {TOKEN} is wrong"),
    "unavailable": answer(503, {"X-Echo": TOKEN}),
    "a redirect that echoes it": answer(302, {"Location": f"https://other.example/{TOKENS[1]}?token={TOKENS[1]}"}),
    "broken headers": verbatim(f"HTTP/1.1 200 OK\r\nno colon {TOKEN}\r\n: x\r\nContent-Length: 0\r\n\r\n".encode()),
    "no HTTP": verbatim(f"{TOKEN}\r\n".encode()),
    "a status line that echoes it": verbatim(f"HTTP/1.1 {TOKEN}\r\n\r\n".encode()),
    "a length that echoes it": verbatim(f"HTTP/1.1 200 OK\r\nContent-Length: {TOKEN}\r\n\r\n".encode()),
    "cut": cut(),
    "reset": reset(),
    "close": close(),
    "hang": hang(),
    "drip": drip(message(200), 0.02),
}


@pytest.mark.parametrize("method", ["bearer", "x_token", "query"])
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_whatever_comes_back_the_token_is_not_shown(caplog, capfd, name, method) -> None:
    """Every logger at DEBUG, every warning and every string that leaves the sender is searched."""
    caplog.set_level(logging.DEBUG)
    shown = []
    with RawServer([BEHAVIOURS[name]]) as server, sender(server.url, auth_method=method) as to:
        client = to._client
        outcome = send_event(to, 0.3)
        to.fingerprint(b"a key of the spool")
        shown += [repr(outcome), outcome.reason, repr(to), repr(client), repr(vars(client)), repr(vars(to))]
    shown += [caplog.text, *(str(vars(record)) for record in caplog.records), *capfd.readouterr()]

    assert not [text for text in shown for token in TOKENS if token in text]


def test_an_error_code_that_echoes_the_token_is_masked() -> None:
    """A token may look like a code."""
    token = "canary.0123456789"
    with RawServer([answer(400, body={"error_code": token})]) as server, sender(server.url, token=token) as to:
        assert "(***)" in send_event(to).reason


def test_settings_with_a_token_can_be_printed() -> None:
    """Logs of applications show what they are given."""
    assert TOKEN not in repr(destination("https://lineage.example"))


def test_an_exception_inside_is_not_one_outside(monkeypatch) -> None:
    """What a library raises with the request in its text ends as a result with our own words."""

    def explode(*_args: object) -> None:
        raise ValueError(f"invalid header value b'Bearer {TOKEN}'")

    with RawServer() as server, sender(server.url) as to:
        monkeypatch.setattr(socket.socket, "connect", explode)
        reason = send_event(to).reason

    assert TOKEN not in reason
    assert "ValueError" in reason
