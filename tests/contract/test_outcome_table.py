"""The outcome table (design, section 4), row by row, over real sockets; each row names the sentence behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.destinations import destination, send, sender
from support.raw_server import RawServer, answer, verbatim
from tables.outcomes import NOW, ROWS, verdict_of

from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.delivery.sender import Sender

CASES = [pytest.param(row, kind, id=f"{kind}-{row}-{n}") for n, row in enumerate(ROWS) for kind in row.kinds]


@pytest.fixture(scope="module")
def server():
    """Serve all rows: only the script differs."""
    with RawServer() as running:
        yield running


@pytest.mark.parametrize(("row", "kind"), CASES)
def test_a_row_of_the_table(server, row, kind) -> None:
    """The answer leads to the row's verdict and flags, to the row's number of requests and no more."""
    server.script(*[answer(row.status, row.headers, row.body)] * row.requests)
    before = len(server.requests)
    with_clock = Sender(destination(server.url, kind), connections=1, clock=lambda: NOW)

    outcome = send(with_clock)
    with_clock.close()

    assert replace(outcome, reason="") == Outcome(Verdict(row.verdict), "", row.status, **row.flags), row.why
    assert row.says in outcome.reason, row.why
    assert "secret reason" not in outcome.reason
    assert len(server.requests) - before == row.requests


@pytest.mark.parametrize("kind", ["dataway", "datakit", "openlineage"])
def test_every_status_has_its_verdict(server, kind) -> None:
    """No status from 200 to 599 is forgotten: each is delivered, retried, parked or dead by its class."""
    found = {}
    with sender(server.url, kind) as to:
        for status in range(200, 600):
            # One more than is used: 415 asks twice.
            server.script(answer(status), answer(status))
            found[status] = send(to).verdict.value

    assert found == {status: verdict_of(status) for status in found}


def test_interim_answers_are_passed_over(server) -> None:
    """RFC 9110, 15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response"."""
    interim = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
    )
    server.script(verbatim(interim + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", close=False))

    with sender(server.url) as to:
        assert send(to).verdict is Verdict.DELIVERED


def test_an_error_code_that_is_no_word_is_not_shown(server) -> None:
    """Only letters, digits, dots and underscores of a body are ever shown."""
    server.script(answer(400, body={"error_code": "x\n<script>"}))

    with sender(server.url) as to:
        assert "script" not in send(to).reason
