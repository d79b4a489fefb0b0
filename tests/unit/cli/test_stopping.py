"""Which signals end a command that runs for long."""

from __future__ import annotations

import os
import signal

import pytest

from truewatch_lineage.cli.stopping import stopped_by_signal

HANGUP = getattr(signal, "SIGHUP", None)


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
