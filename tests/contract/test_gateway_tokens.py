"""Whom the gateway lets in: its own tokens, https, and pages of other sites; and that no token goes further."""

from __future__ import annotations

import json
import ssl
import time
from importlib.metadata import version
from urllib.parse import quote

import pytest
from support.certificates import Authority
from support.cli import run
from support.gateway import NOWHERE, Gateway
from support.private import write_private
from support.receiver import Receiver
from support.served import DATAKIT, DATAWAY, OPENLINEAGE, PORTAL
from support.spooled import stored
from tables.hostile_requests import BODY
from tables.receiver_rules import EVENT, event

GOOD, OTHER, BAD = "good-token-%41+1", "other-token-22", "wrong-token-333"
PATHS = (DATAWAY, DATAKIT, PORTAL, OPENLINEAGE)

# query, X-Token, Authorization, taken
WAYS = [
    (GOOD, None, None, True),
    (None, GOOD, None, True),
    (None, None, f"Bearer {GOOD}", True),
    (None, None, f"bearer {OTHER}", True),
    (None, None, None, False),
    (None, None, f"Bearer {BAD}", False),
    (None, None, f"Basic {GOOD}", False),
    (None, f"{GOOD}x", None, False),
    (BAD, GOOD, f"Bearer {GOOD}", False),  # the first by DataWay's precedence decides
    (None, None, "Bearer ü", False),
]


@pytest.fixture(scope="module")
def gateway():
    """A gateway with two tokens."""
    with Gateway(tokens=[GOOD, OTHER]) as running:
        yield running


def send(gateway, path, query, x_token, authorization, body=BODY):
    """Send the event, unless another body, with exactly these credentials."""
    return gateway.show(path, query, x_token, authorization, body)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("query", "x_token", "authorization", "taken"), WAYS)
def test_every_path_asks_for_one_of_the_gateways_tokens(gateway, path, query, x_token, authorization, taken):
    """Anywhere a client may put one; on DataKit's path too, which DataKit itself leaves open."""
    reply = send(gateway, path, query, x_token, authorization)
    assert reply.status in ({200, 201} if taken else {401})
    assert taken or reply.headers["www-authenticate"] == "Bearer"


def test_a_stranger_learns_nothing_of_the_rules(gateway):
    """The token is looked at before the body."""
    assert send(gateway, DATAWAY, None, BAD, None, body=b"[]").status == 401


def test_on_loopback_what_it_tells_is_open(gateway):
    """As the receiver's."""
    for path in ("/healthz", "/readyz", "/metrics"):
        assert gateway.request("GET", path).status == 200


def test_off_loopback_the_metrics_ask_for_the_token():
    """They name destinations; health and readiness do not, and whoever runs containers has no token to send."""
    with Gateway(tokens=[GOOD], args=["--host", "0.0.0.0"]) as gateway:
        statuses = [gateway.request("GET", path).status for path in ("/healthz", "/readyz", "/metrics", "/nowhere")]
        assert statuses == [200, 200, 401, 401]
        assert gateway.metrics()["truewatch_gateway_ready"] == 1
        assert gateway.request("GET", "/healthz", headers={"Host": "gateway.example"}).status == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "rebound.example"}, "hostNotAllowed"),
        ({"Origin": "https://example.com"}, "originNotAllowed"),
        ({"Origin": "null"}, "originNotAllowed"),
    ],
)
def test_on_loopback_pages_of_other_sites_are_refused(gateway, headers, code):
    """A page whose name was rebound, and a form of a page that a user looks at."""
    reply = gateway.post(EVENT, headers={"Authorization": f"Bearer {GOOD}", **headers})
    assert (reply.status, reply.json["error_code"]) == (403, f"gateway.{code}")


def test_a_token_is_rotated_without_a_restart(tmp_path):
    """Its file is read again when it changes; while it is gone or broken the last one counts; others stay."""
    rotated, fixed = write_private(tmp_path / "rotated", f"{GOOD}\n"), write_private(tmp_path / "fixed", OTHER)
    with Gateway(args=["--token-file", rotated, "--token-file", fixed]) as gateway:

        def taken(token):
            return send(gateway, DATAWAY, None, token, None).status == 200

        assert (taken(GOOD), taken(OTHER), taken(BAD)) == (True, True, False)
        write_private(tmp_path / "new", BAD).replace(rotated)
        assert (taken(GOOD), taken(OTHER), taken(BAD)) == (False, True, True)
        rotated.unlink()
        assert (taken(BAD), taken(OTHER)) == (True, True)
        gateway.wait_for_log("The last token that was read stays accepted")
        write_private(rotated, "with a space")
        assert (taken(BAD), taken("with a space")) == (True, False)


def test_no_token_is_stored_forwarded_or_logged(tmp_path):
    """Not the gateway's, not the destination's, and not the one that a client has for a destination."""
    own = "token-of-the-destination"
    escaped = "".join(f"\\u{ord(character):04x}" for character in GOOD)
    leaky = event({"job.name": f"job {GOOD} {own}", "run.facets": {"x": {OTHER: f"x?y={quote(BAD, safe='')}"}}})
    bodies = [json.dumps(leaky).encode(), json.dumps(event({"job.name": "HERE"})).replace("HERE", escaped).encode()]
    with Receiver(tokens=[own]) as receiver, Gateway(receiver.url, token=own, spool=tmp_path / "s") as gateway:
        for body in bodies:  # no token is asked for, so that each is a client's own
            assert send(gateway, DATAWAY, GOOD, OTHER, f"Bearer {BAD}", body).status == 200
        gateway.wait_until_empty()
        assert send(gateway, DATAWAY, None, None, f"Bearer {GOOD}", b'{"a": {"%s": NaN}}' % GOOD.encode()).status == 400
        shown = json.dumps(receiver.events()).encode() + receiver.stderr().encode() + gateway.stderr().encode()
        assert len(receiver.events()) == 2
        gateway.kill()
        kept = b"".join(file.read_bytes() for file in (tmp_path / "s").iterdir())
    for secret in (GOOD, OTHER, BAD, own):
        assert secret.encode() not in shown + kept
        assert quote(secret, safe="").encode() not in shown + kept


def test_tokens_of_the_gateway_are_masked_in_every_event(gateway):
    """Another client's too."""
    before = len(stored(gateway.spool))
    assert gateway.post(event({"job.name": f"{GOOD} {OTHER}"})).status == 200
    assert stored(gateway.spool)[before]["job"]["name"] == "*** ***"


def test_https_is_served_with_a_certificate_that_may_change(tmp_path):
    """The files are read again, so that a renewed certificate needs no restart; a broken one changes nothing."""
    first, second = (Authority(folder) for folder in (tmp_path, tmp_path / "second") if not folder.mkdir(exist_ok=True))
    file = first.key_and_certificate(tmp_path / "server.pem")
    with Gateway(args=["--tls-cert", file, "--tls-key", file], authority=first.file) as gateway:
        assert gateway.url.startswith("https://127.0.0.1:")
        assert gateway.post(EVENT).status == 200
        assert gateway.post(EVENT, headers={"Origin": gateway.url}).status == 200
        file.write_text("no certificate")
        gateway.wait_for_log("The certificate that was read last stays in use", timeout=30)
        assert gateway.post(EVENT).status == 200
        second.key_and_certificate(file)
        with pytest.raises(ssl.SSLError):
            post_for(30, gateway)
        gateway.trust(second.file)
        assert gateway.post(EVENT).status == 200


def post_for(seconds, gateway):
    """Send events for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        gateway.post(EVENT)


WRONG = [
    (["--host", "0.0.0.0"], "Off loopback, on 0.0.0.0, anybody could send events"),
    (["--token", "abcdefgh", "--no-token"], "contradict each other"),
    (["--token", "with space"], "holds a space"),
    (["--tls-cert", __file__], "--tls-cert and --tls-key belong together"),
    (["--tls-cert", __file__, "--tls-key", __file__], "can't be used"),
    (["--topic", "lineage"], "needs --kafka-bootstrap, --topic and --group"),
    (["--kafka-bootstrap", "kafka://k:9092", "--topic", "t", "--group", "g"], "without kafka://"),
    (["--kafka-bootstrap", "k:9092", "--topic", "t", "--group", "g", "--delivery", "spool"], "by the gateway itself"),
    (["--delivery-budget", "1s"], "No such option"),
    (["--port", "9", "--url", "http://127.0.0.1:9"], "send every event back to itself"),
    (["--port", "9", "--url", "http://127.1:9"], "send every event back to itself"),
    (["--port", "9", "--url", "http://0.0.0.0:9"], "send every event back to itself"),
    (["--host", "192.0.2.1", "--no-token"], "can't listen"),
]


def test_its_own_token_is_not_taken_for_the_destinations(tmp_path):
    """Who gave --token-file is told where the other one comes from."""
    file = write_private(tmp_path / "clients", GOOD)
    env = {"url": "http://127.0.0.1:1", "destination": "dataway", "spool_dir": tmp_path / "spool"}
    ran = run("gateway", "--port", "0", "--token-file", file, env=env)
    assert ran.code == 2
    assert "needs a token, and none is set" in ran.err
    assert "--token-file of `gateway` is what clients show" in ran.err
    assert "--token-file of" not in run("gateway", "--port", "0", env=env).err


def test_it_starts_without_the_destinations_token_and_says_so(tmp_path):
    """It may come later, and events are taken meanwhile."""
    env = {"destination": "dataway", "url": NOWHERE, "token_file": tmp_path / "absent"}
    with Gateway(kind=None, env=env) as gateway:
        log = gateway.wait_for_log("absent")
        assert "WARNING Events wait, since default can't be sent a token" in log
        assert gateway.request("GET", "/readyz").status == 200


def test_the_start_says_what_it_serves(tmp_path):
    """Version, https, who may send."""
    file = Authority(tmp_path).key_and_certificate(tmp_path / "server.pem")
    with Gateway(tokens=[GOOD, OTHER], args=["--tls-cert", file, "--tls-key", file]) as gateway:
        log = gateway.wait_for_log("Delivering from")
        assert f"Gateway {version('truewatch-lineage')} on https://127.0.0.1:" in log
        assert "; clients show one of 2 tokens." in log
    with Gateway() as gateway:
        assert "; clients show no token." in gateway.wait_for_log("Delivering from")


@pytest.mark.parametrize(("args", "words"), WRONG)
def test_wrong_usage_ends_with_2(tmp_path, args, words):
    """And says what to do; never a token."""
    env = {"destination": "openlineage", "url": "http://127.0.0.1:1", "spool_dir": tmp_path / "spool"}
    ran = run("gateway", "--port", "0", *args, env=env)
    assert ran.code == 2, ran
    assert words in ran.err
    assert "with space" not in ran.err
