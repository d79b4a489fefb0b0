"""How a request is put together: the token's place, the coding, one more try where that can help."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.destinations import EVENT, TOKEN, destination, send, sender
from support.private import write_private
from support.raw_server import Behaviour, RawServer, answer

from truewatch_lineage.delivery.outcome import Verdict
from truewatch_lineage.delivery.sender import Sender, user_agent
from truewatch_lineage.destinations.tokens import CommandToken, FileToken, StaticToken, Token

PERCENT = "canary-7f3a9c1e55~%21%2A%27%28%29%3B%3A%40%26%3D%2B%24%2C%2F%3F%23%5B%5D"
PATHS = {
    "dataway": "/v1/write/openlineage",
    "datakit": "/openlineage/api/v1/lineage",
    "portal": "/api/data-registry/lineage",
    "openlineage": "/api/v1/lineage",
}


def _token_file(folder: Path, text: str) -> FileToken:
    path = write_private(folder / "token", text)
    return FileToken(path)


@pytest.mark.parametrize("kind", PATHS)
def test_the_request_is_what_the_destinations_page_shows(kind) -> None:
    """POST, the documented path, JSON, gzip where the page knows it, and the event byte for byte."""
    with RawServer([answer(201)]) as server, sender(server.url, kind) as to:
        assert send(to).verdict is Verdict.DELIVERED
        request = server.requests[0]

    assert (request.method, request.path) == ("POST", PATHS[kind])
    assert request.header("Content-Type") == "application/json"
    assert request.header("Content-Encoding") == (None if kind == "portal" else "gzip")
    assert request.header("User-Agent") == user_agent()
    assert request.header("Accept-Encoding") == "identity"
    assert request.decoded == json.dumps(EVENT).encode()
    assert request.header("Authorization") == (None if kind == "datakit" else f"Bearer {TOKEN}")


@pytest.mark.parametrize(
    ("method", "authorization", "x_token", "query"),
    [
        ("bearer", f"Bearer {TOKEN}", None, ""),
        ("x_token", None, TOKEN, ""),
        ("query", None, None, f"?token={PERCENT}"),
    ],
)
def test_the_token_is_in_one_place(method, authorization, x_token, query) -> None:
    """T: "Do not configure different tokens in the same request."."""
    with RawServer() as server, sender(server.url, auth_method=method) as to:
        send(to)
        request = server.requests[0]

    assert request.header("Authorization") == authorization
    assert request.header("X-Token") == x_token
    assert request.path == PATHS["dataway"] + query


def test_a_query_of_the_url_is_kept() -> None:
    """The token is added to it."""
    with RawServer() as server:
        there = replace(destination(server.url, auth_method="query"), url=f"{server.url}/p?workspace=7")
        to = Sender(there, connections=1)
        send(to)
        to.close()

        assert server.requests[0].path == f"/p?workspace=7&token={PERCENT}"


def test_extra_headers_go_along_and_never_replace_ours() -> None:
    """What the product sends itself is not for settings to change."""
    headers = {"X-Team": "data", "Content-Type": "text/plain"}
    with RawServer() as server, sender(server.url, headers=headers) as to:
        send(to)
        request = server.requests[0]

    assert request.header("X-Team") == "data"
    assert [value for name, value in request.headers if name == "Content-Type"] == ["application/json"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_rotated_token_is_read_again_and_tried_once(tmp_path, status) -> None:
    """P: "If the token was recently rotated, ensure you are using the new value."."""
    source = _token_file(tmp_path, "old-token")

    def rotate_and_refuse(exchange) -> bool:
        source.path.write_text("new-token\n")
        return answer(status).run(exchange)

    script = [Behaviour(rotate_and_refuse), answer()]
    with RawServer(script) as server, sender(server.url, token_source=source) as to:
        assert send(to).verdict is Verdict.DELIVERED

        sent = [request.header("Authorization") for request in server.requests]
        assert sent == ["Bearer old-token", "Bearer new-token"]


def test_a_command_is_asked_again_only_when_its_token_is_refused(tmp_path) -> None:
    """Its token is kept until then; the new one is tried once within the same attempt."""
    counter = tmp_path / "count"
    script = f"echo x >> {counter}; echo token-$(wc -l < {counter})"
    source = CommandToken(["/bin/sh", "-c", script])
    with (
        RawServer([answer(), answer(401), answer(), answer()]) as server,
        sender(server.url, token_source=source) as to,
    ):
        assert [send(to).verdict for _ in range(3)] == [Verdict.DELIVERED] * 3

        sent = [request.header("Authorization") for request in server.requests]
        assert sent == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2"]


def test_a_new_token_that_is_refused_too_parks(tmp_path) -> None:
    """One more try, never a loop."""
    source = CommandToken(["/bin/sh", "-c", "date +%s%N"])
    with RawServer(default=answer(401)) as server, sender(server.url, token_source=source) as to:
        assert send(to).verdict is Verdict.PARK

        assert len(server.requests) == 2


def test_many_refusals_at_once_ask_a_command_once(tmp_path) -> None:
    """A refused token that the command still gives is not asked for again by each event."""
    counter = tmp_path / "count"
    source = CommandToken(["/bin/sh", "-c", f"echo x >> {counter}; echo same-token"])
    with RawServer(default=answer(403)) as server, sender(server.url, token_source=source) as to:
        assert {send(to).verdict for _ in range(5)} == {Verdict.PARK}

        assert len(server.requests) == 5
        assert len(counter.read_text().splitlines()) == 2


def test_a_token_that_is_rotated_right_after_a_refusal_is_found_at_the_next(tmp_path) -> None:
    """However little time is between: the second refusal is of a token that was read before the rotation."""
    file = write_private(tmp_path / "token", "old-token")
    source = CommandToken(["cat", str(file)])
    with RawServer([answer(401), answer(401), answer()]) as server, sender(server.url, token_source=source) as to:
        assert send(to).verdict is Verdict.PARK
        write_private(file, "new-token")
        assert send(to).verdict is Verdict.DELIVERED

        assert server.requests[-1].header("Authorization") == "Bearer new-token"


def test_a_token_that_can_not_be_read_parks_without_a_request(tmp_path) -> None:
    """The message says how to mend it; the event stays."""
    missing = FileToken(tmp_path / "missing")
    with RawServer() as server, sender(server.url, token_source=missing) as to:
        outcome = send(to)

        assert outcome.verdict is Verdict.PARK
        assert "is not there" in outcome.reason
        assert server.connections == 0


def test_a_token_that_vanishes_while_it_is_refused_parks(tmp_path) -> None:
    """Reading it again may fail, which is a reason of its own."""
    source = CommandToken(["/bin/sh", "-c", f"cat {tmp_path}/secret && rm {tmp_path}/secret"])
    (tmp_path / "secret").write_text("only-once")
    with RawServer([answer(401)]) as server, sender(server.url, token_source=source) as to:
        assert send(to).verdict is Verdict.PARK
        assert len(server.requests) == 1


def test_gzip_that_is_refused_is_left_out_from_then_on() -> None:
    """415: once more without gzip; where that helped, the next event is sent plain at once."""
    with RawServer([answer(415), answer(), answer()]) as server, sender(server.url) as to:
        assert [send(to).verdict, send(to).verdict] == [Verdict.DELIVERED] * 2

        codings = [request.header("Content-Encoding") for request in server.requests]
        assert codings == ["gzip", None, None]
        assert [body["eventType"] for body in server.bodies] == ["START"] * 3


def test_gzip_is_kept_where_leaving_it_out_did_not_help() -> None:
    """The next event starts with gzip again."""
    with RawServer([answer(415), answer(415), answer()]) as server, sender(server.url) as to:
        assert [send(to).verdict, send(to).verdict] == [Verdict.PARK, Verdict.DELIVERED]

        assert [request.header("Content-Encoding") for request in server.requests] == ["gzip", None, "gzip"]


def test_a_413_with_retry_after_is_asked_once() -> None:
    """Case 02: a deterministic refusal is never retried, whatever it says."""
    with RawServer([answer(413, {"Retry-After": "0"}, "too big")]) as server, sender(server.url) as to:
        outcome = send(to)

        assert (outcome.verdict, outcome.retry_after) == (Verdict.DEAD, None)
        assert len(server.requests) == 1


def test_nothing_is_tried_again_below_the_courier() -> None:
    """Case 01 and 02: one event, one request, whatever fails."""
    with RawServer(default=answer(503)) as server, sender(server.url) as to:
        assert send(to).verdict is Verdict.RETRY

        assert len(server.requests) == 1


class TestFingerprint:
    """What the spool keeps to see that token or settings have changed."""

    KEY = b"the spool's own secret"

    def _of(self, key: bytes = KEY, **settings) -> str:
        base = destination("https://lineage.example")
        return Sender(replace(base, **settings), connections=1).fingerprint(key)

    def test_it_is_short_stable_and_says_nothing(self) -> None:
        """Sixteen hexadecimal digits, the same each time."""
        assert self._of() == self._of()
        assert len(bytes.fromhex(self._of())) == 8

    @pytest.mark.parametrize(
        "changed",
        [
            {"token_source": StaticToken(Token.parse("another"))},
            {"token_source": None},
            {"url": "https://lineage.example/other"},
            {"auth_method": "x_token"},
            {"headers": {"X-Team": "a"}},
            {"compression": "none"},
            {"proxy": "http://p:1"},
            {"ca_file": Path("/no/such/file")},
            {"client_cert": Path("/no/such/file")},
        ],
        ids=lambda changed: next(iter(changed)),
    )
    def test_what_decides_over_success_changes_it(self, changed) -> None:
        """A mended setting opens a parked destination at once."""
        assert self._of(**changed) != self._of()

    def test_what_does_not_matter_leaves_it(self) -> None:
        """Another budget does not make a refused token good."""
        assert self._of(timeout=1.0, concurrency=3) == self._of()

    def test_another_key_gives_another_one(self) -> None:
        """So that equal tokens can't be seen across spools."""
        assert self._of(b"another") != self._of()

    def test_a_replaced_file_changes_it(self, tmp_path) -> None:
        """Mending the authorities' file in place counts too."""
        path = tmp_path / "ca.pem"
        path.write_text("a")
        before = self._of(ca_file=path)
        path.write_text("ab")

        assert self._of(ca_file=path) != before

    def test_a_token_that_can_not_be_read_counts_as_none(self, tmp_path) -> None:
        """It raises nothing, and changes once the token is there."""
        source = FileToken(tmp_path / "token")
        before = self._of(token_source=source)
        _token_file(tmp_path, "there-now")

        assert self._of(token_source=source) != before


def test_a_slow_token_command_keeps_the_deadline_and_stops_nothing_for_good():
    """An emit's budget covers the command too; the event is tried again, and the destination is not parked."""
    with (
        RawServer([], default=answer(200)) as server,
        sender(server.url, token_source=CommandToken(["sleep", "20"])) as to,
    ):
        began = time.monotonic()
        outcome = send(to, 0.5)
        assert time.monotonic() - began < 2
        assert outcome.verdict is Verdict.RETRY
        assert server.requests == []


def test_many_threads_run_a_token_command_once(tmp_path):
    """64 connections that start together ask the secret manager once."""
    command = CommandToken(["sh", "-c", f"echo x >> {tmp_path / 'runs'}; sleep 0.2; echo tkn_12345678"])
    with RawServer([], default=answer(200)) as server, sender(server.url, token_source=command, connections=8) as to:
        threads = [threading.Thread(target=send, args=(to,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.wait_for(8)
    assert (tmp_path / "runs").read_text() == "x\n"
