"""truewatch-dbt whose streams are closed, full or gone, or that was given more of them: dbt's outcome stays dbt's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.dbt_stand_in import StandIn

CODE = 6
ENDS = ["START", "FAIL"]
REDIRECTIONS = {
    "no stdout": ">&-",
    "no stderr": "2>&-",
    "no stream at all": "<&- >&- 2>&-",
    "a full disk under stderr": "2>/dev/full",
    "nobody reads stderr": "2> >(exec true)",
}


@pytest.fixture
def dbt(tmp_path):
    return StandIn(tmp_path)


def _run_in_bash(dbt, line):
    """Run a line of a shell in which ``"$@"`` is the command; returns exit code and stdout."""
    done = subprocess.run(
        ["bash", "-c", line, "bash", *dbt.command],
        cwd=dbt.project,
        env=dbt.variables({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.linux
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a file that is always full")
@pytest.mark.parametrize("redirection", REDIRECTIONS.values(), ids=REDIRECTIONS)
def test_streams_that_take_nothing_change_nothing(dbt, redirection) -> None:
    """The exit code is dbt's, and the run is told as it ended."""
    dbt.install(f"time.sleep(0.3)  # until the reader has gone\nsys.exit({CODE})")
    assert _run_in_bash(dbt, f'"$@" run {redirection}')[0] == CODE
    assert [event["eventType"] for event in dbt.events()] == ENDS


def test_what_the_shell_opened_for_dbt_is_inherited(dbt) -> None:
    """A file that a shell names by its descriptor can be read by dbt as well, and no more than that is open."""
    dbt.install("print(open(sys.argv[-1]).read(), len(os.listdir('/dev/fd')))")
    plain = _run_in_bash(dbt, f'"{dbt.folder}/bin/dbt" run <(printf given)')
    assert _run_in_bash(dbt, '"$@" run <(printf given)') == plain
    assert plain[1].startswith("given")


def test_a_working_folder_that_is_gone_changes_nothing(dbt) -> None:
    """What is asked of the folder then raises, which costs lineage only."""
    dbt.install(f"sys.exit({CODE})")
    assert _run_in_bash(dbt, 'mkdir gone && cd gone && rmdir ../gone && "$@" run')[0] == CODE
