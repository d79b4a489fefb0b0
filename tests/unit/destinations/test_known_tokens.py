"""The tokens that are masked: those of now, and those before, while a process lives."""

from __future__ import annotations

import time

import pytest
from support.private import write_private

from truewatch_lineage.destinations.known_tokens import PAUSE_SECONDS, KnownTokens
from truewatch_lineage.destinations.tokens import CommandToken, EnvToken, FileToken, StaticToken, Token


@pytest.fixture
def rotating(tmp_path):
    """Give a token's file and a way to write it as a secret's mount does: replaced in one step."""
    path = tmp_path / "token"

    def rotate(text):
        new = write_private(tmp_path / "new", text)
        new.replace(path)

    rotate("first-token")
    return path, rotate


def counted_command(tmp_path, then):
    """Return a command that notes each run, and how often it ran."""
    runs = tmp_path / "runs"
    runs.touch()
    return CommandToken(["sh", "-c", f"echo x >> {runs}; {then}"]), lambda: len(runs.read_text().split())


def test_the_token_before_a_rotation_is_remembered(rotating):
    """A job may still write the old one, which stays valid for a while at most secret managers."""
    path, rotate = rotating
    known = KnownTokens([FileToken(path)])
    known.learn(None)
    assert list(known) == ["first-token"]
    for text, expected in (
        ("second-token", ["second-token", "first-token"]),
        ("third-token", ["third-token", "second-token"]),
        ("second-token", ["second-token", "third-token"]),
    ):
        rotate(text)
        known.learn(None)
        assert list(known) == expected


def test_tokens_are_remembered_while_their_source_is_missing(rotating):
    """A file that is being replaced may not be there for a moment; its tokens are secrets all the same."""
    path, _ = rotating
    known = KnownTokens([FileToken(path), EnvToken("NOT_SET", {})])
    known.learn(None)
    path.unlink()
    known.learn(None)
    assert list(known) == ["first-token"]


def test_each_source_has_its_own_memory():
    """Two destinations have two tokens, and neither displaces the other."""
    environ = {"A": "token-a1"}
    known = KnownTokens([EnvToken("A", environ), StaticToken(Token.parse("token-b"))])
    known.learn(None)
    environ["A"] = "token-a2"
    known.learn(None)
    assert list(known) == ["token-a2", "token-a1", "token-b"]


def test_a_command_is_run_once_and_only_if_there_is_time_for_it(tmp_path):
    """Its first token is needed before the first event is stored."""
    command, runs = counted_command(tmp_path, "echo command-token")
    known = KnownTokens([command])
    known.learn(None)
    assert (list(known), runs()) == ([], 0)
    for _ in range(3):
        known.learn(5.0)
    assert (list(known), runs()) == (["command-token"], 1)
    assert command.get().reveal() == "command-token"
    assert runs() == 1


def test_a_command_that_fails_is_left_alone_for_a_minute(tmp_path, monkeypatch):
    """No event waits again for what has just failed; after a minute one does."""
    command, runs = counted_command(tmp_path, "exit 1")
    known = KnownTokens([command])
    for _ in range(3):
        known.learn(5.0)
    assert (list(known), runs()) == ([], 1)
    later = time.monotonic() + PAUSE_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    known.learn(5.0)
    assert runs() == 2


def test_slow_commands_share_the_time_that_there_is(tmp_path):
    """However many destinations have one, an emit waits no longer than its budget."""
    slow = [CommandToken(["sleep", "20"]) for _ in range(3)]
    known = KnownTokens([*slow, StaticToken(Token.parse("token-b"))])
    began = time.monotonic()
    known.learn(0.3)
    assert time.monotonic() - began < 2
    assert list(known) == ["token-b"]
