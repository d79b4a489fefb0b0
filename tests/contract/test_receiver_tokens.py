"""Where the receiver looks for a token, which one counts, and that none is ever shown."""

from __future__ import annotations

import gzip
import json
from urllib.parse import quote

import pytest
from support.receiver import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL, Receiver
from tables.hostile_requests import BODY
from tables.receiver_rules import SUCCESS, event

GOOD, OTHER, BAD = "good-token-%41+1", "other-token-22", "wrong-token-333"
PRECEDENCE = 'T: "the precedence is query token, X-Token, then Bearer"'
HEADER_P = 'P: "included in the Authorization: Bearer <token> header"'
IGNORED = 'T: "Client supplied query token, Bearer, and X-Token credentials cannot override DataKit\'s"'
SCHEME = "RFC 9110, 11.1: the scheme's name is case-insensitive"
SEVERAL = "D: tokens can be repeated"

# query, X-Token, Authorization → taken
ROWS = [
    (PRECEDENCE, DATAWAY, GOOD, None, None, True),
    (PRECEDENCE, DATAWAY, None, GOOD, None, True),
    (PRECEDENCE, DATAWAY, None, None, f"Bearer {GOOD}", True),
    (PRECEDENCE, DATAWAY, GOOD, BAD, f"Bearer {BAD}", True),
    (PRECEDENCE, DATAWAY, BAD, GOOD, f"Bearer {GOOD}", False),
    (PRECEDENCE, DATAWAY, None, BAD, f"Bearer {GOOD}", False),
    (PRECEDENCE, DATAWAY, None, GOOD, f"Bearer {BAD}", True),
    (PRECEDENCE, DATAWAY, "", None, f"Bearer {GOOD}", True),
    (PRECEDENCE, DATAWAY, None, None, None, False),
    (SCHEME, DATAWAY, None, None, f"bearer {GOOD}", True),
    (SCHEME, DATAWAY, None, None, f"Basic {GOOD}", False),
    (SCHEME, DATAWAY, None, None, GOOD, False),
    (SEVERAL, DATAWAY, None, OTHER, None, True),
    (SEVERAL, DATAWAY, None, f"{GOOD}x", None, False),
    (HEADER_P, PORTAL, None, None, f"Bearer {GOOD}", True),
    (HEADER_P, PORTAL, None, GOOD, None, False),
    (HEADER_P, PORTAL, GOOD, None, None, False),
    (HEADER_P, PORTAL, BAD, BAD, f"Bearer {GOOD}", True),
    (HEADER_P, PORTAL, None, None, None, False),
    (HEADER_P, OPENLINEAGE, None, None, f"Bearer {GOOD}", True),
    (HEADER_P, OPENLINEAGE, None, None, None, False),
    (IGNORED, DATAKIT, None, None, None, True),
    (IGNORED, DATAKIT, BAD, BAD, f"Bearer {BAD}", True),
]


@pytest.fixture(scope="module")
def receiver():
    """A receiver with two tokens."""
    with Receiver(tokens=[GOOD, OTHER]) as running:
        yield running


def send(receiver, path, query, x_token, authorization, body=BODY):
    """Send the event, unless another body, with exactly these credentials."""
    return receiver.show(path, query, x_token, authorization, body)


@pytest.mark.parametrize(("why", "path", "query", "x_token", "authorization", "taken"), ROWS)
def test_the_first_credential_by_precedence_decides(receiver, why, path, query, x_token, authorization, taken):
    """A row's credentials open the path or not; a lower one never mends a higher one."""
    receiver.clear()
    reply = send(receiver, path, query, x_token, authorization)
    assert reply.status == (SUCCESS[path] if taken else 401), why
    assert len(receiver.events()) == (1 if taken else 0)
    assert taken or reply.headers["www-authenticate"] == "Bearer"


def test_the_token_is_checked_before_the_body(receiver):
    """A stranger learns nothing of the rules: a bad token with a bad event is 401."""
    assert send(receiver, DATAWAY, None, BAD, None, body=b"[]").status == 401


def test_loopback_without_tokens_asks_for_none():
    """D: "Without a token option loopback asks for none"."""
    with Receiver() as open_receiver:
        assert send(open_receiver, DATAWAY, BAD, None, None).status == 200
        assert send(open_receiver, PORTAL, None, None, None).status == 201


def test_no_token_is_stored_logged_or_answered(tmp_path):
    """Not ours, not a client's wrong one: neither in the file, its journals, the log, the API nor an answer."""
    escaped = "".join(f"\\u{ord(character):04x}" for character in GOOD)
    leaky = event({"job.name": f"job {GOOD}", "run.facets": {"x": {GOOD: OTHER, "url": "https://me:pass-word@host/"}}})
    bodies = [
        json.dumps(leaky).encode(),
        json.dumps(event({"job.name": "HERE"})).replace("HERE", escaped).encode(),
        json.dumps(event({"job.name": f"client's own {BAD}"})).encode(),
    ]
    with Receiver(tokens=[GOOD, OTHER], data=tmp_path / "events") as receiver:
        replies = [send(receiver, DATAKIT, BAD, BAD, f"Bearer {BAD}", body) for body in bodies]
        replies += [send(receiver, DATAWAY, query, BAD, None, b"[") for query in (GOOD, BAD)]
        replies += [receiver.request("GET", f"/{GOOD}?token={BAD}"), receiver.request("GET", "/metrics")]
        shown = json.dumps(receiver.events()).encode() + b"".join(reply.body for reply in replies)
        assert len(receiver.events()) == 3
        assert receiver.events(job_name="job ***")[0]["event"]["run"]["facets"]["x"]["url"] == "https://me:***@host/"
        log = receiver.wait_for_log("GET /metrics").encode()
        receiver.kill()
        stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for secret in (GOOD, OTHER, BAD, "pass-word"):
        for place in (shown, log, stored):
            assert secret.encode() not in place
            assert quote(secret, safe="").encode() not in place


def test_a_gzipped_event_is_redacted_too(receiver):
    """Redaction looks at the decoded bytes."""
    receiver.clear()
    body = gzip.compress(json.dumps(event({"job.name": GOOD})).encode())
    headers = {"X-Token": GOOD, "Content-Encoding": "gzip"}
    assert receiver.request("POST", DATAWAY, body, headers).status == 200
    assert receiver.events()[0]["job_name"] == "***"
