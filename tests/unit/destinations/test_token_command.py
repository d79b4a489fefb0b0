"""A token that a command prints: bounded, without a shell, and silent about what the command says."""

import contextlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
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


def test_a_failure_is_not_repeated_at_once_unless_told_to(tmp_path):
    """Whoever masks the token and whoever sends it ask one after the other; a refused token is another matter."""
    runs = tmp_path / "runs"
    source = CommandToken(["sh", "-c", f"echo x >> {runs}; exit 1"])
    for refresh, expected in ((False, 1), (False, 1), (True, 2)):
        with pytest.raises(TokenError, match="exit code 1"):
            source.get(refresh=refresh)
        assert len(runs.read_text().split()) == expected


def test_threads_that_ask_at_the_same_time_share_one_run(tmp_path):
    """Whether it works or fails."""
    for end in ("echo tkn", "exit 1"):
        runs = tmp_path / end.replace(" ", "-")
        source = CommandToken(["sh", "-c", f"echo x >> {runs}; sleep 0.3; {end}"])
        with ThreadPoolExecutor(8) as pool:
            results = [pool.submit(source.get, within=20) for _ in range(8)]
        assert len({str(result.exception() or result.result().reveal()) for result in results}) == 1
        assert len(runs.read_text().split()) == 1


def test_a_thread_waits_for_anothers_run_no_longer_than_it_may():
    """An emit's budget covers this wait too, and a time that is up starts no command."""
    source = CommandToken(["sh", "-c", "sleep 1; echo tkn"])
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(source.get)
        time.sleep(0.2)
        for within in (0.1, 0, -1):
            with pytest.raises(TokenLateError):
                source.get(within=within)
        assert first.result().reveal() == "tkn"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_the_command_runs_can_run_it_itself():
    """The thread that ran it is lost in the child, with the lock that it held."""
    source = CommandToken(["sh", "-c", "sleep 0.5; echo tkn"])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(source.get)
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os._exit(0 if source.get(within=10).reveal() == "tkn" else 2)
            os._exit(3)
        assert os.waitpid(child, 0)[1] == 0
