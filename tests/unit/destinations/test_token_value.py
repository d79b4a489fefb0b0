"""The token as a value: what it refuses, and that it never shows itself."""

import copy
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage.destinations.tokens import Token
from truewatch_lineage.errors import ConfigError, TokenError

CANARY = "tkn_canary_0123456789"
LEGAL = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1)

ILLEGAL = [
    ("", "is empty"),
    ("\r\n\n", "is empty"),
    (f"{CANARY} x", "a space"),
    (f" {CANARY}", "a space"),
    (f"{CANARY}\nX-Other: 1", "a line break"),
    (f"{CANARY}\rx", "a line break"),
    (f"{CANARY}\0", "a NUL"),
    (f"{CANARY}\x1b", "a control character"),
    (f"{CANARY}\x7f", "a control character"),
    (f"{CANARY}\t", "a control character"),
    (f"{CANARY}é", "outside ASCII"),
    (f"\ufeff{CANARY}", "outside ASCII"),
    (f"Bearer {CANARY}", 'starts with "Bearer"'),
    (f"bearer\t{CANARY}", 'starts with "Bearer"'),
    (f"BEARER: {CANARY}", 'starts with "Bearer"'),
    (None, "NoneType"),
    (9e12, "float"),
    (True, "bool"),
    (CANARY.encode(), "bytes"),
    ([CANARY], "list"),
]


@given(LEGAL.filter(lambda text: not text.lower().startswith("bearer:")))
def test_a_legal_token_is_kept_byte_for_byte(text):
    """Any printable ASCII without blanks comes out as it went in."""
    assert Token.parse(text).reveal() == text


@given(LEGAL.filter(lambda text: not text.lower().startswith("bearer:")), st.text("\r\n", max_size=4))
def test_only_newlines_around_a_token_are_trimmed(text, newlines):
    """Files end with a newline; nothing else around a token is taken away."""
    assert Token.parse(newlines + text + newlines).reveal() == text


@pytest.mark.parametrize(("text", "told"), ILLEGAL)
def test_an_illegal_token_is_refused_without_being_shown(text, told):
    """The message tells the kind of fault and how to mend it; the traceback does not hold the token."""
    with pytest.raises(TokenError) as caught:
        Token.parse(text, source="environment variable X", key="token")
    assert told in str(caught.value)
    assert "(from environment variable X)." in str(caught.value)
    assert caught.value.fix
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(caught.value.args)
    assert CANARY not in shown


def test_a_token_error_is_a_config_error_and_crosses_processes():
    """A worker's error reaches its parent with its fields."""
    with pytest.raises(ConfigError) as caught:
        Token.parse("", key="token")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.key) == (TokenError, str(caught.value), "token")


@pytest.mark.parametrize("show", [repr, str, format, "{:>40}".format, "%s".__mod__, lambda token: f"{token!r:>40}"])
def test_a_token_never_shows_itself(show):
    """Every way to print it is masked."""
    assert CANARY not in show(Token.parse(CANARY))
    assert "***" in show(Token.parse(CANARY))


@pytest.mark.parametrize(
    "leak",
    [
        pickle.dumps,
        lambda token: pickle.dumps(token, protocol=0),
        hash,
        vars,
        lambda token: token.__getstate__(),
        lambda _: Token(),
        lambda token: setattr(token, "_text", "other"),
        lambda token: delattr(token, "_text"),
    ],
)
def test_a_token_can_be_neither_stored_nor_changed(leak):
    """It has no pickle, hash or dict, and no constructor or setter goes round the check."""
    with pytest.raises((TypeError, AttributeError)) as caught:
        leak(Token.parse(CANARY))
    assert CANARY not in str(caught.value)


def test_a_copied_token_is_the_same():
    """Copying settings is harmless."""
    token = Token.parse(CANARY)
    assert copy.copy(token) is token
    assert copy.deepcopy([token])[0] is token


def test_tokens_compare_by_their_text():
    """Rotation is seen by comparing; a text is never equal to a token."""
    assert Token.parse("a") == Token.parse("a\n")
    assert Token.parse("a") != Token.parse("b")
    assert Token.parse("a") != "a"
