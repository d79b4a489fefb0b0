"""Which signals end a command that runs for long, and when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from truewatch_lineage.cli.stopping import stopped_by_signal

HANGUP = getattr(signal, "SIGHUP", None)
SIGNALLED_AT_EACH_LINE = """
import os, signal, sys
from truewatch_lineage.cli.stopping import stopped_by_signal

def signalled_at(line):
    left = line

    def trace(frame, event, _):
        nonlocal left
        left -= event == "line"
        if left == 0:
            left = -1
            os.kill(os.getpid(), signal.SIGTERM)
        return trace

    with stopped_by_signal() as stopped:
        sys.settrace(trace)
        stopped.wait(0.01)
        sys.settrace(None)
        assert stopped.wait(0) is (left < 0)
    return left < 0

line = 1
while signalled_at(line):
    line += 1
print(line - 1)
"""


@pytest.mark.skipif(HANGUP is None, reason="Windows has no hangup")
@pytest.mark.parametrize(("before", "ends"), [(signal.SIG_DFL, True), (signal.SIG_IGN, False)])
def test_a_hangup_ends_it_unless_it_was_started_with_nohup(before, ends):
    """And what was set before is set again."""
    kept = signal.signal(HANGUP, before)
    try:
        with stopped_by_signal() as stopped:
            os.kill(os.getpid(), HANGUP)
            assert stopped.wait(2 if ends else 0.1) is ends
        assert signal.getsignal(HANGUP) is before
    finally:
        signal.signal(HANGUP, kept)


@pytest.mark.skipif(HANGUP is None, reason="Windows has no hangup, and os.kill ends what it is for there")
@pytest.mark.parametrize("hangup", [signal.SIG_DFL, signal.SIG_IGN])
def test_after_the_first_signal_any_other_ends_the_process(hangup):
    """A Ctrl-C after a SIGTERM, too; but what was ignored stays ignored."""
    kept = signal.signal(HANGUP, hangup)
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        with stopped_by_signal() as stopped:
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopped.wait(2)
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
            assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
            assert signal.getsignal(HANGUP) is hangup
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    finally:
        signal.signal(HANGUP, kept)


@pytest.mark.skipif(HANGUP is None, reason="os.kill ends what it is for on Windows")
def test_a_signal_in_the_middle_of_a_wait_ends_it():
    """At whichever line of it: a handler that took a lock which the wait holds would hang for ever."""
    command = [sys.executable, "-c", SIGNALLED_AT_EACH_LINE]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) >= 3
