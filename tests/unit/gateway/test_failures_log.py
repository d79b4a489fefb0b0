"""What the log says of requests that failed."""

from __future__ import annotations

import json
import logging

import pytest

from truewatch_lineage.gateway.http import failures as module
from truewatch_lineage.gateway.http.failures import Failures
from truewatch_lineage.serving.credentials import Gate

PATH = "/v1/write/openlineage"
OWN, SHOWN = "token-of-the-gateway", "token-of-a-client"


@pytest.fixture
def failed(caplog):
    """Log a failure, and return the line, or None where none was written."""
    log = Failures(Gate([OWN], owner="gateway"), [PATH, "/readyz"])

    def fail(status=400, message="", *, code="gateway.refusedEvent", client=("192.0.2.7", 1), path=PATH, body=None):
        scope = {"method": "POST", "path": path, "query_string": b"token=" + SHOWN.encode(), "headers": []}
        caplog.clear()
        answer = json.dumps({"error_code": code, "message": message}).encode() if body is None else body
        with caplog.at_level(logging.WARNING):
            log({**scope, "client": client}, path if path == PATH else "other", status, 0.001, answer)
        return caplog.records[0].getMessage() if caplog.records else None

    return fail


def test_a_message_is_one_line_without_tokens(failed):
    """An event's own keys stand in it; what is long is cut."""
    line = failed(message=f"$.{OWN}.{SHOWN}\n2026 \x1b[31m: Missing." + "x" * 1000)
    start = f"POST {PATH} 400 1 ms from 192.0.2.7 gateway.refusedEvent: $.***.***�2026 �[31m: Missing.xxx"
    assert line.startswith(start)
    assert len(line) < 600


@pytest.mark.parametrize(
    ("given", "end"),
    [
        (
            {"status": 503, "code": "gateway.spoolFull", "message": "not shown"},
            "503 1 ms from 192.0.2.7 gateway.spoolFull",
        ),
        ({"status": None, "body": b""}, "dropped 1 ms from 192.0.2.7"),
        ({"status": 503, "body": b"the gateway is stopping\n"}, "503 1 ms from 192.0.2.7 the gateway is stopping"),
        ({"client": None, "message": "No."}, "400 1 ms from an unknown address gateway.refusedEvent: No."),
    ],
)
def test_a_line_says_whose_and_why(failed, given, end):
    """A message for what the client did wrong, else the code; a probe's answer is text."""
    assert failed(**given) == f"POST {PATH} {end}"


class Looked(list):
    """Tokens that count how often they are looked through, as masking does."""

    times = 0

    def __iter__(self):
        """Count."""
        self.times += 1
        return super().__iter__()


def test_only_a_message_that_is_written_is_masked(caplog):
    """Whoever is refused can make thousands of lines a second, each with another token of any length."""
    tokens = Looked([OWN])
    log = Failures(Gate(tokens, owner="gateway"), [PATH])
    scope = {"method": "POST", "path": PATH, "query_string": b"", "headers": [], "client": ("192.0.2.7", 1)}
    answer = json.dumps({"error_code": "gateway.x", "message": f"{OWN}."}).encode()
    for status in (401, 503, 400, 400, 400):
        log(scope, PATH, status, 0.001, answer)
    ends = [record.getMessage().partition("192.0.2.7 ")[2] for record in caplog.records]
    assert (ends, tokens.times) == (["gateway.x", "gateway.x", "gateway.x: ***."], 1)


def test_an_unknown_path_shows_the_words_of_known_ones(failed):
    """Any other may be a token."""
    line = failed(404, code="gateway.unknownPath", path=f"/v1/write/openlineage/{SHOWN}/v1/")
    assert line.startswith("POST /v1/write/openlineage/…/v1/ 404")


def test_each_clients_failures_of_a_kind_are_told_once_a_minute(failed, monkeypatch):
    """Others' are told too, as far as there are not so many that telling them apart takes memory."""
    monkeypatch.setattr(module, "MAX_TOPICS", 3)
    clients = [("192.0.2.1", 1), ("192.0.2.1", 2), ("192.0.2.2", 1), ("192.0.2.3", 1)]
    assert [failed(client=client) is not None for client in clients] == [True, False, True, True]
    assert failed(401, client=("192.0.2.4", 1)) is not None
    assert failed(401, client=("192.0.2.5", 1)) is None
