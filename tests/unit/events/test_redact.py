"""Masking secrets in events."""

from __future__ import annotations

import copy
import json
import re
import time
from urllib.parse import quote

import pytest
from support.events import recorded, tree

from truewatch_lineage.events.paths import join
from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.events.serialise import dumps, to_tree

SECRET = 'tkn_a/b"c\\d+e=f'


def in_facet(value):
    """Return an event with a value in a run facet."""
    return tree(run={"runId": "r", "facets": {"x": value}})


def masked(value, **options):
    """Return the value after masking."""
    return Redactor(**options).apply(in_facet(value))["run"]["facets"]["x"]


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"before {SECRET} after {SECRET}",
        json.dumps({"nested": SECRET}),
        json.dumps({"nested": SECRET}).replace("/", "\\/"),
        "https://h/?x=tkn_a%2Fb%22c%5Cd%2Be%3Df",
        "https://h/?x=tkn_a%2fb%22c%5cd%2be%3df",
        "https://h/tkn_a/b%22c%5Cd%2Be%3Df",
        "https://h/tkn_a/b%22c%5Cd+e=f",
        json.dumps("https://h/tkn_a/b%22c%5Cd%2Be=f").replace("/", "\\/"),
        "".join(f"%{ord(character):02X}" for character in SECRET),
        "".join(f"%{ord(character):02x}" for character in SECRET),
        repr(f"it's {SECRET}"),
        join("$", SECRET),
    ],
)
def test_known_secret_is_masked_wherever_it_stands(text):
    """A known token is masked in values and keys, also escaped or percent-encoded."""
    for value in (text, [1, text], {"deep": {"er": text}}, {text: 1}):
        result = dumps(Redactor(secrets=lambda: [SECRET]).apply(in_facet(value))).decode()
        assert "***" in result
        assert "tkn_a" not in result


@pytest.mark.parametrize("secret", ["100%25-certain", "100%-certain", "%%%%%%%%%%%%", "it's'%2F/%2F"])
def test_a_secret_with_percent_signs_is_masked_in_its_codings(secret):
    """Its own percent signs are encoded as %25 in a URL, and may look encoded as they are."""
    for text in (secret, quote(secret), quote(secret, safe=""), quote(secret, safe="'/"), join("$", secret)):
        assert masked(f"x {text} y", secrets=lambda: [secret]).strip("$[]'.") in {"x *** y", f"x {join('$', '***')} y"}


def test_what_is_percent_encoded_otherwise_stays():
    """Nothing but the whole token is masked, and an event with other codes is the same object."""
    for text in ("LIKE '%73%'", "tkn_a%2Fb", "%2Ftkn_a%2Fb%22c%5Cd%2Be%3D", "100%"):
        event = in_facet(text)
        assert Redactor(secrets=lambda: [SECRET]).apply(event) is event


def test_short_secrets_are_left_alone():
    """A token of fewer than 8 characters would mask words that are none."""
    assert masked("secret1 SELECT", secrets=lambda: ["secret1", "SELECT", ""]) == "secret1 SELECT"


def test_longer_of_two_secrets_goes_first():
    """A token that begins with another leaves nothing behind."""
    assert masked("12345678-rest", secrets=lambda: ["12345678", "12345678-rest"]) == "***"


def test_rotated_secret_is_known_at_the_next_event():
    """The secrets are asked for again at every event."""
    known = ["first-token"]
    redactor = Redactor(secrets=lambda: known)
    redactor.apply(in_facet("x"))
    known[:] = ["second-token"]
    assert redactor.apply(in_facet("second-token"))["run"]["facets"]["x"] == "***"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://user:pa55@host:5432/db", "postgresql://user:***@host:5432/db"),
        ("redis://:pa55@host", "redis://:***@host"),
        ("x://u:p@ss@host", "x://u:***@host"),
        ("see a://u:p@h and b://v:q@i.", "see a://u:***@h and b://v:***@i."),
        ("jdbc:postgresql://h/db?user=u&password=p&ssl=1", "jdbc:postgresql://h/db?user=u&password=***&ssl=1"),
        ("jdbc:sqlserver://h;user=u;PassWord=p;x=y", "jdbc:sqlserver://h;user=u;PassWord=***;x=y"),
        ("jdbc:sqlserver://h;password={a;b};x=y", "jdbc:sqlserver://h;password=***;x=y"),
        ('{"url":"jdbc:x://h?password=p"}', '{"url":"jdbc:x://h?password=***"}'),
        ('"{\\"url\\":\\"jdbc:x://h?password=p\\\\q\\"}"', '"{\\"url\\":\\"jdbc:x://h?password=***\\"}"'),
        ("https://h/p?a=1&X-Amz-Signature=ff&b=2", "https://h/p?a=1&X-Amz-Signature=***&b=2"),
        ("https://h/?access_token=p", "https://h/?access_token=***"),
    ],
)
def test_passwords_in_urls_are_masked(text, expected):
    """Passwords in URLs go always, as userinfo and as parameters."""
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/a/b/tree/1.0",
        "abfss://container@account.dfs.core.windows.net/dir",
        "ssh://git@host:22/x",
        "http://host:8080/path@v1",
        "mail@example.com",
        "SELECT ';password=x'",
        "https://h/?tokens=5&design=x",
        "hdfs://nn:8020/user/a:b/c@d",
    ],
)
def test_what_is_no_password_stays(text):
    """Names and addresses that only look alike are not changed."""
    event = in_facet(text)
    assert Redactor().apply(event) is event


def test_expressions_of_the_user():
    """More expressions mask values, never keys; an empty match masks nothing."""
    patterns = [re.compile(r"\d{3}-\d{2}"), re.compile("^whole$"), re.compile("z*")]
    assert masked({"123-45": ["is 123-45", "whole", "not whole", 12345]}, patterns=patterns) == {
        "123-45": ["is ***", "***", "not whole", 12345]
    }


def test_event_is_not_changed_and_the_rest_is_shared():
    """Masking copies what it changes only."""
    event = in_facet({"a": "postgresql://u:p@h", "b": {"c": "d"}})
    before = copy.deepcopy(event)
    result = Redactor().apply(event)
    assert event == before
    assert result["run"]["facets"]["x"]["b"] is event["run"]["facets"]["x"]["b"]
    assert result["job"] is event["job"]


def test_recorded_events_have_nothing_to_mask():
    """Real events pass unchanged: no name or address of theirs looks like a password."""
    redactor = Redactor(secrets=lambda: ["not-in-there"])
    for where, line in recorded():
        event = to_tree(line)
        assert redactor.apply(event) is event, where


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "://",
        "://a:",
        "://a:b@",
        "?password",
        "?password=",
        ";password={",
        "&a_",
        "?",
        "=@",
        "?x://\\",
        "\\",
        "@://;pwd=\\",
        "%",
        "%25",
        "%73%6f",
        "s%6F%6de-long-toke",
    ],
)
def test_long_texts_take_linear_time(piece):
    """8 MiB of anything takes seconds at most, so that no event can stall a job."""
    text = "?password=://u:p@" + piece * (8 * 1024 * 1024 // len(piece))
    start = time.process_time()
    Redactor(secrets=lambda: ["some-long-token"]).text(text)
    assert time.process_time() - start < 10


def test_text_outside_events():
    """A message is masked like a value."""
    assert Redactor(secrets=lambda: ["some-long-token"]).text("got some-long-token") == "got ***"


def test_repr_shows_no_secret():
    """The redactor knows the token but never shows it."""
    redactor = Redactor(secrets=lambda: ["some-long-token"])
    redactor.text("x")
    assert "some-long-token" not in repr(redactor)


def test_more_secrets_of_one_event_are_masked_in_it_alone():
    """A gateway's client may write its own token into its event; the next client's is another one."""
    redactor = Redactor((), lambda: ["known-secret"])
    event = in_facet("known-secret of-the-client")
    assert redactor.apply(event, extra=["of-the-client"]) == in_facet("*** ***")
    assert redactor.apply(event) == in_facet("*** of-the-client")
    for number in range(100):  # more than it keeps prepared
        assert redactor.apply(in_facet(f"client-{number:04}"), extra=[f"client-{number:04}"]) == in_facet("***")
    assert redactor.text("of-the-client", ["of-the-client"]) == "***"
