"""A process that watches for the signals that would kill dbt is killed by its own, and by no child's."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

FORKS = """
import os, signal, sys, threading, time
from truewatch_lineage_dbt.endings import Watch

def forks():
    for _ in range(200):
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
        os.kill(child, signal.SIGTERM)  # perhaps before the child has run a line
        statuses.append(os.waitpid(child, 0)[1])

statuses = []
Watch(dying=lambda: print("dying", flush=True)).start()
thread = threading.Thread(target=forks)  # as dbt runs models in threads
(thread.run if sys.argv[1] == "main" else thread.start)()
if sys.argv[1] != "main":
    thread.join()
print(set(statuses), len(statuses), signal.pthread_sigmask(signal.SIG_BLOCK, ()), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(30)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing forks there")
@pytest.mark.parametrize("thread", ["main", "another"])
def test_a_signal_of_a_forked_child_is_its_own(thread) -> None:
    """Children die of a SIGTERM, at whatever moment it comes; the parent goes on, until one is sent to it."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS, thread], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.stdout.splitlines() == ["{15} 200 set()", "dying"], done.stderr
    assert done.returncode == -signal.SIGTERM
