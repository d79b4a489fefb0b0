"""``spool``: what it shows, what it mends, and how its exit codes answer."""

from __future__ import annotations

import json
import subprocess
import time

import pytest
from support.cli import CHILD, TOKEN, child_environment, ndjson, run
from support.events import RUN_ID, tree

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def folder(env):
    """Settings that name the spool alone."""
    return {"spool_dir": env["spool_dir"]}


def _keep(env, tmp_path, *events, **changes):
    """Leave events in the spool."""
    assert run("send", "--no-wait", ndjson(tmp_path / "kept.ndjson", *events), env=env | changes).code == 75


@pytest.mark.parametrize("command", [("status",), ("list",), ("show", 1), ("trace", "x"), ("export",), ("resume",)])
def test_a_folder_that_is_absent_is_said_and_not_made(folder, command) -> None:
    """With the user's name, and exit code 1."""
    ran = run("spool", *command, env=folder)

    assert (ran.code, ran.out) == (1, "")
    assert "There is no spool: no such folder (you are " in ran.err
    assert not folder["spool_dir"].exists()


def test_status_has_the_contracts_keys(env, folder, tmp_path) -> None:
    """It needs no destination's settings."""
    _keep(env, tmp_path, tree(), tree(eventType="COMPLETE"))

    ran = run("spool", "status", "--json", env=folder)

    assert ran.code == 0
    assert list(ran.json) == [
        *("pending", "dead", "delivered", "cached", "skipped", "tombstones"),
        *("oldest_pending_s", "bytes", "path", "destinations"),
    ]
    assert list(ran.json["destinations"]["default"]) == ["state", "reason", "until", "pending", "dead", "delivered"]
    assert ran.json["pending"] == 2


def test_status_shows_how_much_the_spool_may_hold(env, folder, tmp_path) -> None:
    """So that a full one is seen to be full; by the settings, else by the disk."""
    _keep(env, tmp_path, tree())

    shown = run("spool", "status", env={**folder, "spool_max_bytes": "2 GiB"}).out.splitlines()

    assert [line.split()[2:] for line in shown if line.startswith("bytes")] == [["of", "2147483648"]]


@pytest.mark.parametrize(
    ("token", "url", "words"),
    [(TOKEN, NOWHERE, "waiting, retry at 20"), ("wrong-token-0000", None, "stopped until you fix this: TrueWatch")],
)
def test_status_says_plainly_how_a_destination_stands(env, folder, tmp_path, token, url, words) -> None:
    """And exits 0 whatever it shows."""
    file = ndjson(tmp_path / "e.ndjson", tree())
    run("send", "--timeout", 3, file, env=env | {"token": token} | ({"url": url} if url else {}))

    status, listed = run("spool", "status", env=folder), run("spool", "list", env=folder)

    assert (status.code, listed.code) == (0, 0)
    assert words in status.out
    assert words in listed.out


def test_list_has_an_object_a_line_with_the_contracts_keys(env, folder, tmp_path) -> None:
    """In the order of emit; dead letters are listed apart."""
    _keep(env, tmp_path, tree(), tree(eventType="COMPLETE"))

    rows = run("spool", "list", "--json", env=folder).lines

    assert [row["event_type"] for row in rows] == ["START", "COMPLETE"]
    keys = "id destination state event_type job run_id attempts reason status bytes created"
    assert list(rows[0]) == keys.split()
    assert (rows[0]["job"], rows[0]["run_id"], rows[0]["state"]) == ("ns/job", RUN_ID, "pending")
    assert run("spool", "list", "--dead", "--json", env=folder).lines == []
    assert len(run("spool", "list", "--limit", 1, "--json", env=folder).lines) == 1


def test_show_prints_the_event_as_it_will_be_sent(env, folder, tmp_path) -> None:
    """Masked as it is stored; an unknown id exits 1 and the known ones are shown."""
    _keep(env, tmp_path, tree(inputs=[{"namespace": "postgres://u:secret-word@db", "name": "t"}]))

    ran = run("spool", "show", "--json", 1, 7, env=folder)

    assert ran.code == 1
    assert ran.lines[0]["event"]["run"] == {"runId": RUN_ID}
    assert "secret-word" not in ran.out
    assert "There is no event 7." in ran.err
    assert run("spool", "show", 1, env=folder).code == 0
    assert run("spool", "show", 1, "--destination", "other", env=folder).code == 1


def test_trace_tells_a_runs_story(env, folder, tmp_path) -> None:
    """What was delivered is there as well as what waits; an unknown run exits 1."""
    run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    _keep(env, tmp_path, tree(eventType="COMPLETE"))

    for what in (RUN_ID, "ns/job", "job"):
        rows = run("spool", "trace", what, "--json", env=folder).lines
        assert [(row["event_type"], row["state"]) for row in rows] == [("START", "delivered"), ("COMPLETE", "pending")]
    unknown = run("spool", "trace", "nothing", env=folder)
    assert (unknown.code, "Nothing is known of nothing" in unknown.err) == (1, True)


def test_export_is_what_send_reads(env, receiver, tmp_path) -> None:
    """Events written as NDJSON arrive when they are sent; a file that is there is not overwritten."""
    _keep(env, tmp_path, tree(), tree(eventType="COMPLETE"))
    file = tmp_path / "out.ndjson"

    assert run("spool", "export", "-o", file, env=env).code == 0
    assert run("spool", "export", env=env).out == file.read_text()
    assert run("spool", "export", "-o", file, env=env).code == 2
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("send", file, env=env | {"spool_dir": tmp_path / "another"}).out == "default: 2 delivered\n"


def test_drain_exits_0_when_all_is_gone(env, receiver, tmp_path) -> None:
    """What waited is delivered."""
    _keep(env, tmp_path, tree(), tree(eventType="COMPLETE"))

    ran = run("spool", "drain", env=env)

    assert (ran.code, ran.out) == (0, "2 delivered, 0 waiting, 0 new dead letters\n")
    assert len(receiver.events()) == 2


def test_drain_exits_75_when_something_is_left(env, tmp_path) -> None:
    """And says why."""
    _keep(env, tmp_path, tree(), url=NOWHERE)

    ran = run("spool", "drain", "--timeout", 3, env=env | {"url": NOWHERE})

    assert (ran.code, ran.out) == (75, "0 delivered, 1 waiting, 0 new dead letters\n")
    assert "waiting, retry at" in ran.err


def test_drain_exits_1_for_a_new_dead_letter_only(env, tmp_path) -> None:
    """Those that were there before are no news."""
    _keep(env, tmp_path, tree(producer=...))

    first, second = run("spool", "drain", env=env), run("spool", "drain", env=env)

    assert (first.code, first.out) == (1, "0 delivered, 0 waiting, 1 new dead letter\n")
    assert second.code == 0


def test_drain_probes_what_is_parked_at_once(env, receiver, tmp_path) -> None:
    """After a repair nobody has to wait for the next probe."""
    receiver.faults([{"status": 404, "times": 1}])
    run("send", "--timeout", 20, ndjson(tmp_path / "e.ndjson", tree()), env=env)
    assert run("spool", "status", "--json", env=env).json["destinations"]["default"]["state"] == "parked"

    assert run("spool", "drain", "--timeout", 5, env=env).code == 0


def test_drain_waits_for_what_becomes_due_in_time(env, receiver, tmp_path) -> None:
    """A destination that asked for two seconds gets them, and then the event."""
    receiver.faults([{"status": 503, "headers": {"Retry-After": "2"}, "times": 1}])
    _keep(env, tmp_path, tree())
    started = time.monotonic()

    assert run("spool", "drain", "--timeout", 20, env=env).code == 0
    assert 2 <= time.monotonic() - started < 15


def test_drain_of_an_absent_spool_has_nothing_to_do(env, folder) -> None:
    """Exit code 0: it is empty; and none is made."""
    assert run("spool", "drain", env=env).code == 0
    assert not folder["spool_dir"].exists()


def test_resume_lets_the_next_process_try(env, receiver, tmp_path) -> None:
    """It needs no destination's settings."""
    receiver.faults([{"status": 404, "times": 1}])
    run("send", "--timeout", 20, ndjson(tmp_path / "e.ndjson", tree()), env=env)

    resumed = run("spool", "resume", "default", env={"spool_dir": env["spool_dir"]})

    assert (resumed.code, resumed.out) == (0, "default: will be tried at once\n")
    ran = run("send", ndjson(tmp_path / "f.ndjson", tree(eventType="COMPLETE")), env=env)
    assert ran.code == 0
    assert [row["event_type"] for row in receiver.events()] == ["START", "COMPLETE"]


def test_replay_sends_a_dead_letter_again(env, receiver, tmp_path) -> None:
    """In its old place, and says what has gone meanwhile."""
    receiver.faults([{"status": 400, "times": 1}])
    assert run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env).code == 1
    assert run("send", ndjson(tmp_path / "f.ndjson", tree(eventType="COMPLETE")), env=env).code == 0

    replayed = run("spool", "replay", 1, env=env)

    assert (replayed.code, replayed.out) == (
        0,
        "1: waits again, though 1 later event of its run has gone already\n",
    )
    assert run("spool", "drain", env=env).code == 0
    assert [row["event_type"] for row in receiver.events()] == ["COMPLETE", "START"]


def test_all_dead_letters_are_replayed_or_dropped(env, folder, tmp_path) -> None:
    """``--all --dead``, of one destination or of all."""
    run("send", ndjson(tmp_path / "e.ndjson", tree(producer=...), tree(eventTime=...)), env=env)

    assert run("spool", "replay", "--all", "--dead", env=folder).out == "1: waits again\n2: waits again\n"
    assert run("spool", "drain", env=env).code == 1
    assert run("spool", "drop", "--all", "--dead", env=folder).out == "2 dropped\n"
    assert run("spool", "replay", "--all", "--dead", env=folder).out == "0 replayed\n"
    assert run("spool", "status", "--json", env=folder).json["dead"] == 0


@pytest.mark.parametrize("command", ["replay", "drop"])
@pytest.mark.parametrize("args", [(), ("--all",), ("--dead",), ("--all", "--dead", 1)])
def test_it_must_be_clear_which_events_are_meant(env, tmp_path, command, args) -> None:
    """Otherwise nothing happens and the exit code is 2."""
    _keep(env, tmp_path, tree())

    assert run("spool", command, *args, env=env).code == 2
    assert run("spool", "status", "--json", env=env).json["pending"] == 1


def test_an_unknown_id_exits_1_and_the_others_are_done(env, tmp_path) -> None:
    """Both are told."""
    _keep(env, tmp_path, tree())

    ran = run("spool", "drop", 1, 99, env=env)

    assert (ran.code, ran.out) == (1, "1 dropped\n")
    assert "99: there is no such event" in ran.err


def test_events_of_another_url_wait_until_they_are_rebound(env, receiver, folder, tmp_path) -> None:
    """They are left alone, say ``other settings``, and go once the operator says so."""
    _keep(env, tmp_path, tree(), url=NOWHERE)

    drained = run("spool", "drain", env=env)

    assert drained.code == 75
    assert receiver.events() == []
    assert [row["reason"] for row in run("spool", "list", "--json", env=folder).lines] == ["other settings"]
    assert "other settings" in run("spool", "status", env=folder).out
    rebound = run("spool", "rebind", "default", env=env)
    assert (rebound.code, rebound.out.startswith("1 event moved to ")) == (0, True)
    assert run("spool", "drain", env=env).code == 0
    assert len(receiver.events()) == 1


def test_rebinding_to_another_kind_gives_its_bodies(env, receiver, tmp_path) -> None:
    """Portal gets its schemaURL; what it does not take stays and is told."""
    job_event = tree(eventType=..., run=..., inputs=..., outputs=...)
    _keep(env, tmp_path, tree(), job_event)
    portal = env | {"destination": "portal"}

    rebound = run("spool", "rebind", "default", env=portal)

    assert rebound.code == 1
    assert "1 event stays: Spotify Portal takes no such kind" in rebound.err
    assert run("spool", "drain", env=portal).code == 75
    (row,) = receiver.events(destination="portal")
    assert row["event"]["schemaURL"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json"


@pytest.mark.parametrize(
    "command",
    [
        *(
            ("resume", "prod"),
            ("rebind", "prod"),
            ("list", "--destination", "prod"),
            ("export", "--destination", "prod"),
        ),
        *(("show", 1, "--destination", "prod"), ("replay", "--all", "--dead", "--destination", "prod")),
        *(("drop", "--all", "--dead", "--destination", "prod"), ("drop", 1, "--destination", "prod")),
    ],
)
def test_an_unknown_destination_is_told_with_the_known(env, tmp_path, command) -> None:
    """By every command that takes a name: exit code 1, and nothing happens."""
    _keep(env, tmp_path, tree())

    ran = run("spool", *command, env=env)

    assert (ran.code, ran.out) == (1, "")
    assert "no destination named prod. Known are: default." in ran.err
    assert run("spool", "status", "--json", env=env).json["pending"] == 1


def test_a_replayed_event_remembers_why_it_was_refused(env, receiver, folder, tmp_path) -> None:
    """Until it is tried again."""
    receiver.faults([{"status": 400, "times": 1}])
    run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    run("spool", "replay", 1, env=folder)

    (row,) = run("spool", "trace", RUN_ID, "--json", env=folder).lines

    assert (row["state"], row["attempts"]) == ("pending", 0)
    assert row["reason"].startswith("to be sent again; attempts before: 1: TrueWatch DataWay answered 400")
    assert run("spool", "drain", env=env).code == 0
    (row,) = run("spool", "trace", RUN_ID, "--json", env=folder).lines
    assert (row["state"], row["attempts"], row["reason"]) == ("delivered", 1, "delivered")


def test_two_destinations_are_told_apart(env, receiver, tmp_path) -> None:
    """By name, in status, list and replay."""
    both = {"up": {"url": receiver.url, "token": TOKEN}, "down": {"url": NOWHERE, "token": TOKEN}}
    settings = {"destinations": json.dumps(both), "spool_dir": env["spool_dir"]}

    ran = run("send", "--timeout", 3, ndjson(tmp_path / "e.ndjson", tree()), env=settings)

    assert (ran.code, ran.out) == (75, "up: 1 delivered\ndown: 0 delivered, 1 waiting\n")
    found = run("spool", "status", "--json", env=settings).json["destinations"]
    assert (found["up"]["state"], found["down"]["state"]) == ("ready", "paused")
    assert len(run("spool", "list", "--destination", "down", "--json", env=settings).lines) == 1
    assert run("spool", "list", "--destination", "up", "--json", env=settings).lines == []


def test_a_closed_pipe_is_no_fault(env, tmp_path) -> None:
    """``spool list | head -1`` prints no traceback."""
    _keep(env, tmp_path, *(tree(run={"runId": str(number)}) for number in range(3000)))
    child = subprocess.Popen(
        [*CHILD, "spool", "list", "--json"],
        env=child_environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout.readline()
    child.stdout.close()

    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(10) == 141
