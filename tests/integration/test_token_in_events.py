"""A token that a job writes into its events: in neither the spool nor a log, whichever part of the event holds it."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import sqlite3
from urllib.parse import quote

import pytest
from support.events import tree
from support.private import write_private
from support.raw_server import RawServer

from truewatch_lineage import TrueWatchTransport

TOKEN = "tkn_in/events=12345"
ENCODED = "".join(f"%{byte:02x}" for byte in TOKEN.encode())


@pytest.fixture
def transport(tmp_path):
    """Give a way to make transports that store into one spool, closed afterwards."""
    with contextlib.ExitStack() as stack:

        def make(**settings):
            given = {"url": "http://127.0.0.1:9", "delivery": "spool", "spool_dir": str(tmp_path / "spool"), **settings}
            made = TrueWatchTransport(
                {"token": TOKEN, **given} if not {"token_file", "token_command"} & set(given) else given
            )
            stack.callback(made.close, 1)
            return made

        yield make


def stored(folder):
    """Return what the spool of a folder holds: its files' bytes, its bodies', and its reasons."""
    with contextlib.closing(sqlite3.connect(folder / "spool.db")) as database:
        bodies = [gzip.decompress(data).decode() for (data,) in database.execute("SELECT data FROM body ORDER BY id")]
        reasons = [reason for (reason,) in database.execute("SELECT reason FROM event ORDER BY id")]
    return b"".join(path.read_bytes() for path in folder.iterdir()), bodies, reasons


def cycle(key):
    """Return a facet that contains itself under a key."""
    facet = {}
    facet[key] = facet
    return facet


def deep(key):
    """Return facets nested too deep, the innermost path of which holds a key."""
    facet = {}
    for _ in range(250):
        facet = {"x": facet}
    return {key: facet}


HOSTILE = {
    "a repeated key": lambda token: f'{{"run": {{"runId": "r"}}, {json.dumps(token)}: 1, {json.dumps(token)}: 2}}',
    "a cycle": lambda token: tree(run={"runId": "r", "facets": {"f": cycle(token)}}),
    "a cycle within": lambda token: tree(run={"runId": "r", "facets": {token: cycle("f")}}),
    "too deep": lambda token: tree(run={"runId": "r", "facets": deep(token)}),
    "a huge number": lambda token: tree(run={"runId": "r", "facets": {"f": {token: 10**5000}}}),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("token", [TOKEN, "tkn'quoted\\"])
def test_no_reason_and_no_log_line_holds_the_token(transport, tmp_path, caplog, name, token):
    """An event that can't be sent is told by the path to its fault, which is made of the event's own keys."""
    caplog.set_level(logging.DEBUG)
    transport(token=token).emit(HOSTILE[name](token))
    raw, _, (reason,) = stored(tmp_path / "spool")
    assert "***" in reason
    for form in {token, repr(token)[1:-1], json.dumps(token)[1:-1], token.replace("\\", "\\\\").replace("'", "\\'")}:
        assert form.encode() not in raw
        assert form not in caplog.text


@pytest.mark.parametrize("text", [quote(TOKEN), quote(TOKEN, safe=""), quote(TOKEN, safe="/="), ENCODED])
def test_no_body_holds_the_token_percent_encoded(transport, tmp_path, text):
    """Whichever characters a library encodes, and however it writes the digits."""
    transport().emit(tree(run={"runId": "r", "facets": {"f": {"url": f"https://h/?x={text}&y=1"}}}))
    _, (body,), _ = stored(tmp_path / "spool")
    assert "https://h/?x=***&y=1" in body


def test_tokens_of_before_and_after_a_rotation_are_masked(transport, tmp_path):
    """The old one, and the new one also while the file is gone."""
    file = tmp_path / "token"

    def rotate(text):
        write_private(tmp_path / "new", text)
        (tmp_path / "new").replace(file)

    rotate("first-token")
    to = transport(token_file=str(file))
    to.emit(tree(job={"namespace": "first-token", "name": "n"}))
    rotate("second-token")
    to.emit(tree(job={"namespace": "first-token", "name": "second-token"}))
    file.unlink()
    to.emit(tree(job={"namespace": "second-token", "name": "first-token"}))
    raw, bodies, _ = stored(tmp_path / "spool")
    assert [json.loads(body)["job"] for body in bodies] == [
        {"namespace": "***", "name": "n"},
        {"namespace": "***", "name": "***"},
    ]
    assert b"-token" not in raw


@pytest.mark.parametrize("delivery", ["inline", "background"])
def test_the_first_event_is_masked_where_a_command_gives_the_token(transport, tmp_path, delivery):
    """The command runs before the event is stored, and once: what sends the event uses the same token."""
    runs = tmp_path / "runs"
    command = ["sh", "-c", f"echo x >> {runs}; sleep 0.2; echo {TOKEN}"]
    with RawServer() as server:
        to = transport(url=server.url, token_command=command, delivery=delivery)
        to.emit(tree(job={"namespace": "n", "name": TOKEN}))
        to.close()
        assert [one.header("Authorization") for one in server.requests] == [f"Bearer {TOKEN}"]
        assert [body["job"]["name"] for body in server.bodies] == ["***"]
    assert runs.read_text() == "x\n"
    assert TOKEN.encode() not in stored(tmp_path / "spool")[0]


@pytest.mark.parametrize(("delivery", "expected"), [("inline", 1), ("spool", 0)])
def test_a_command_that_fails_costs_no_event_and_is_run_once(transport, tmp_path, delivery, expected):
    """The event is stored unmasked, as nobody knows the token; with ``delivery: spool`` nobody needs it."""
    runs = tmp_path / "runs"
    runs.touch()
    to = transport(token_command=["sh", "-c", f"echo x >> {runs}; exit 1"], delivery=delivery)
    for _ in range(3):
        to.emit(tree())
    assert len(runs.read_text().split()) == expected
    assert len(stored(tmp_path / "spool")[2]) == 3
