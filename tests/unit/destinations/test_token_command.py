"""A token that a command prints: bounded, without a shell, and silent about what the command says."""

import sys
import time
from pathlib import Path

import pytest

from truewatch_lineage.destinations.tokens import CommandToken
from truewatch_lineage.errors import TokenError, TokenLateError


def python(code, **options):
    """Make a source whose command is a line of Python."""
    return CommandToken([sys.executable, "-c", code], **options)


def test_what_it_prints_is_the_token_without_newlines():
    """Byte for byte, trimmed like a file's."""
    source = python("print('9e12')")
    assert source.age() is None
    assert source.get().reveal() == "9e12"
    assert 0 <= source.age() < 30


def test_it_runs_once_until_refreshed(tmp_path):
    """A secret manager is asked again only when the destination refuses the token."""
    count = tmp_path / "count"
    source = python(f"p = open({str(count)!r}, 'a'); p.write('x'); p.close(); print(open({str(count)!r}).read())")
    assert [source.get().reveal(), source.get().reveal(), source.get(refresh=True).reveal()] == ["x", "x", "xx"]


def test_there_is_no_shell():
    """Arguments stay arguments."""
    assert CommandToken(["echo", "$HOME;id"]).get().reveal() == "$HOME;id"


FAILURES = [
    ("import sys; print('tkn_canary'); print('tkn_canary', file=sys.stderr); sys.exit(3)", "ended with exit code 3"),
    ("import os, signal; print('tkn_canary', flush=True); os.kill(os.getpid(), signal.SIGTERM)", "exit code -15"),
    ("", "is empty"),
    ("print('tkn_canary tkn_canary')", "a space"),
    ("print('tkn_canary' * 10000)", "printed more than 65536 bytes"),
    ("import sys; sys.stdout.buffer.write(b'tkn_canary\\xff')", "outside ASCII"),
]


@pytest.mark.parametrize(("code", "told"), FAILURES)
def test_a_failure_tells_the_kind_and_never_the_output(code, told, capfd):
    """Neither stdout nor stderr may reach a log: both may hold a secret."""
    source = python(code)
    with pytest.raises(TokenError) as caught:
        source.get()
    assert told in str(caught.value)
    assert "canary" not in f"{caught.value} {source!r} {capfd.readouterr()}"


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path):
    """Ten seconds by default; here less. The grandchild holds the pipe open, as a forgotten agent would."""
    mark = tmp_path / "alive"
    child = f"import time; time.sleep(1.5); open({str(mark)!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    started = time.monotonic()
    with pytest.raises(TokenError, match=r"did not end within 0\.4 s and was killed"):
        python(code, timeout=0.4).get()
    assert time.monotonic() - started < 5
    time.sleep(1.6)
    assert not mark.exists()


def test_a_child_left_behind_with_the_pipe_open_counts_as_not_ended():
    """The end of the output is the end of all who can write it."""
    code = "import subprocess; print('tkn', flush=True); subprocess.Popen(['sleep', '20'])"
    started = time.monotonic()
    with pytest.raises(TokenError, match="did not end within"):
        python(code, timeout=0.6).get()
    assert time.monotonic() - started < 5


def test_stdin_is_empty():
    """A command that asks for a password gets none and does not wait."""
    assert python("import sys; print(len(sys.stdin.read()))").get().reveal() == "0"


def test_a_program_that_is_not_there_is_named_by_its_setting_only():
    """A token may have been written in the place of the program."""
    source = CommandToken(["tkn_canary"])
    with pytest.raises(TokenError, match=r"command of token_command can't be started \(FileNotFoundError\)") as caught:
        source.get()
    assert "canary" not in f"{caught.value} {source!r}"


def test_a_failed_refresh_keeps_the_token_it_had(tmp_path):
    """A secret manager's outage does not take away a token that still works."""
    flag = tmp_path / "fail"
    source = python(f"import os, sys; sys.exit(1) if os.path.exists({str(flag)!r}) else print('tkn')")
    assert source.get().reveal() == "tkn"
    flag.touch()
    with pytest.raises(TokenError):
        source.get(refresh=True)
    assert source.get().reveal() == "tkn"


def test_the_description_names_the_program_without_its_arguments():
    """Arguments may hold paths and secrets."""
    assert python("tkn_canary").describe() == f"command {Path(sys.executable).name}"


def test_a_command_that_outlives_the_time_of_now_is_late_and_may_be_asked_again(tmp_path):
    """An emit has 2 s, a command 10 s: being cut by the emit's budget says nothing against the command."""
    ran = tmp_path / "ran"
    slow_once = f"if [ -e {ran} ]; then echo tkn; else touch {ran}; sleep 20; fi"
    source = CommandToken(["sh", "-c", slow_once])
    began = time.monotonic()
    with pytest.raises(TokenLateError):
        source.get(within=0.3)
    assert time.monotonic() - began < 5
    assert source.known() is None
    assert source.get(within=5).reveal() == "tkn"


def test_a_command_that_outlives_its_own_limit_is_an_error():
    """Ten seconds are all that a command gets, however much time there is."""
    with pytest.raises(TokenError) as caught:
        CommandToken(["sleep", "20"], timeout=0.2).get(within=30)
    assert not isinstance(caught.value, TokenLateError)
