"""``demo``: the main job, once through, and that it harms nothing."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from support.cli import run, run_child, started

from truewatch_lineage.cli.rehearsal import Figures, compare, percentile, recorded_events
from truewatch_lineage.events.serialise import dumps, normalise, to_tree


def test_every_event_arrives_once_and_in_order_over_an_outage(tmp_path) -> None:
    """A receiver in another process is killed in the middle; settings of the environment are neither read nor used."""
    production = {
        "destinations": json.dumps({"prod": {"url": "https://prod.invalid", "token": "a-production-token"}}),
        "spool_dir": tmp_path / "spool",
        "OPENLINEAGE_DISABLED": "true",
    }

    ran = run_child("demo", "--json", env=production, timeout=50)

    assert ran.code == 0, ran.err
    figures = ran.json
    assert figures["events"] == figures["delivered"] == len(recorded_events()) == 300
    assert (figures["lost"], figures["out_of_order"]) == (0, 0)
    assert figures["outage_s"] >= 1
    assert figures["waiting_at_peak"] >= 100
    assert figures["emit_p99_ms"] > 0
    assert "killed (SIGKILL)" in ran.err
    assert not (tmp_path / "spool").exists()


def test_the_receiver_stays_up_when_told_so(tmp_path) -> None:
    """``--keep``: its address is printed and answers until Ctrl-C; then nothing is left."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("demo", "--keep", "--json", env={"TMPDIR": tmp_path}, **pipes) as child:
        url = json.loads(child.stdout.readline())["receiver"]
        with urllib.request.urlopen(f"{url}/api/events?limit=1", timeout=10) as answer:
            assert json.load(answer)["events"]
        child.send_signal(signal.SIGINT)

        assert child.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_told_without_alarm(tmp_path) -> None:
    """In the middle of the rehearsal: exit code 130, no word of a spool that is gone, nothing left."""
    with started("demo", env={"TMPDIR": tmp_path}, stderr=subprocess.PIPE) as child:
        lines = [child.stderr.readline(), child.stderr.readline()]
        child.send_signal(signal.SIGINT)

        assert child.wait(20) == 130
        lines += child.stderr.readlines()
    assert "is killed (SIGKILL)" in lines[1]
    assert lines[-1] == "Interrupted: nothing is left behind.\n"
    assert [line for line in lines if "can't" in line or "Traceback" in line] == []
    assert list(tmp_path.iterdir()) == []


def test_its_receiver_ends_when_the_demo_is_killed(tmp_path) -> None:
    """No process stays behind, though nobody could clean up."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started("demo", "--keep", "--json", env={"TMPDIR": tmp_path}, **pipes) as child:
        port = int(json.loads(child.stdout.readline())["receiver"].rpartition(":")[2])
        child.kill()
        child.wait(10)
    deadline = time.monotonic() + 20
    while _listens(port) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not _listens(port)


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_missing_extra_is_told_with_the_command(monkeypatch) -> None:
    """Exit code 2."""
    served = ("truewatch_lineage.receiver", "truewatch_lineage.serving")
    for module in [name for name in sys.modules if name.startswith(served)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    ran = run("demo")

    assert ran.code == 2
    assert "pip install 'truewatch-lineage[receiver]'" in ran.err


@pytest.mark.parametrize(
    ("seqs", "duplicates", "delivered", "out_of_order", "good"),
    [
        ([1, 2, 3], 0, 3, 0, True),
        ([1, 2, 3], 1, 3, 0, True),
        ([1, None, 3], 0, 2, 0, False),
        ([2, 1, 3], 0, 3, 1, False),
        ([3, 2, 1], 0, 3, 2, False),
    ],
)
def test_the_figures_see_what_is_lost_doubled_or_out_of_order(seqs, duplicates, delivered, out_of_order, good) -> None:
    """The comparison would notice if it were not so."""
    events = [event | {"run": recorded_events()[0]["run"]} for event in recorded_events()[:3]]
    ids = [hashlib.sha256(dumps(normalise(to_tree(event)))).hexdigest() for event in events]
    rows = [{"event_id": one, "seq": seq, "duplicates": 0} for one, seq in zip(ids, seqs, strict=True) if seq]
    rows[0]["duplicates"] = duplicates
    figures = Figures(events=3)

    compare(figures, events, iter(rows))

    assert (figures.delivered, figures.out_of_order, figures.duplicates) == (delivered, out_of_order, duplicates)
    assert figures.is_good is good


def test_percentiles() -> None:
    """Of no values it is 0."""
    assert [percentile([3.0, 1.0, 2.0], part) for part in (0.0, 0.5, 0.99)] == [1.0, 2.0, 3.0]
    assert percentile([], 0.5) == 0
