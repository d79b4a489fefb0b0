"""``send``: every form of file arrives, what is broken is named, and the exit code says how it went."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest
from support.cli import TOKEN, ndjson, run, run_child
from support.events import tree
from support.receiver import PORTAL


def _runs(count, **changes):
    return [tree(run={"runId": f"00000000-0000-4000-8000-{number:012}"}, **changes) for number in range(count)]


def test_every_event_of_files_and_folders_arrives_in_order(receiver, env, tmp_path) -> None:
    """A file of one event, NDJSON, and an array in a folder, together; START before COMPLETE."""
    (tmp_path / "one.json").write_text(json.dumps(tree(), indent=2), encoding="utf-8")
    folder = tmp_path / "events"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps([tree(eventType="RUNNING"), *_runs(5)]), encoding="utf-8")
    ndjson(folder / "b.ndjson", *_runs(5, eventType="COMPLETE"), tree(eventType="COMPLETE"))

    ran = run("send", tmp_path / "one.json", folder, env=env)

    assert (ran.code, ran.out, ran.err) == (0, "default: 13 delivered\n", "")
    arrived = [row["event_type"] for row in receiver.events(run_id=tree()["run"]["runId"])]
    assert arrived == ["START", "RUNNING", "COMPLETE"]


def test_standard_input_is_read(receiver, env) -> None:
    """``-`` is a file like any other."""
    assert run("send", "-", env=env, stdin=json.dumps(tree()).encode()).out == "default: 1 delivered\n"


def test_a_broken_line_is_named_and_the_good_ones_go(receiver, env, tmp_path) -> None:
    """File and line of each, and exit code 1."""
    file = ndjson(tmp_path / "events.ndjson", *_runs(1), b'{"eventType": "START', tree(), b"[1]", b'{"a":"\xff"}')

    ran = run("send", file, env=env)

    assert ran.code == 1
    assert ran.out == "default: 2 delivered\nunreadable: 3\n"
    assert f"{file}:2: not JSON: Invalid control character" in ran.err
    assert f"{file}:4[0]: Not a JSON object." in ran.err
    assert f"{file}:5: Not UTF-8: byte 6 is wrong." in ran.err
    assert len(receiver.events()) == 2


def test_what_the_destination_refuses_is_named_by_json_path(receiver, env, tmp_path) -> None:
    """The answer, and where the event breaks the rule."""
    file = ndjson(tmp_path / "events.ndjson", tree(producer=...), tree())

    ran = run("send", file, env=env)

    assert ran.code == 1
    assert ran.out == "default: 1 delivered, 1 refused\n"
    assert f"{file}:1: refused for default: TrueWatch DataWay answered 400" in ran.err
    assert "$.producer: Missing" in ran.err


def test_what_the_destination_takes_is_not_given_as_a_reason(receiver, env, tmp_path) -> None:
    """An odd eventType is a warning of ``validate`` for TrueWatch, which takes it: errors alone are named."""
    file = ndjson(tmp_path / "events.ndjson", tree(eventType="BOGUS"), tree(eventType="BOGUS", producer=...))

    ran, validated = run("send", file, env=env), run("validate", file)

    assert ran.out == "default: 1 delivered, 1 refused\n"
    assert "$.producer: Missing" in ran.err
    assert "eventType" not in ran.err
    assert [line.split()[1:3] for line in validated.out.splitlines()] == [
        ["warning", "$.eventType:"],
        ["warning", "$.eventType:"],
        ["error", "$.producer:"],
    ]


@pytest.mark.parametrize("content", [b"", b" \n", b"[]", b"[\n]\n"])
def test_a_file_without_an_event_is_named(env, tmp_path, content) -> None:
    """Exit code 1: whoever names a file means to send something; also standard input."""
    (tmp_path / "empty.json").write_bytes(content)
    ndjson(tmp_path / "e.ndjson", tree())

    ran = run("send", tmp_path / "empty.json", tmp_path / "e.ndjson", env=env)

    assert (ran.code, ran.out) == (1, "default: 1 delivered\nunreadable: 1\n")
    assert f"{tmp_path / 'empty.json'}: it holds no event" in ran.err
    assert "<stdin>: it holds no event" in run("send", "-", env=env, stdin=content).err


@pytest.mark.parametrize(("oversize", "code", "words"), [("trim", 0, "1 delivered"), ("reject", 1, "1 refused")])
def test_an_event_of_9_mib(receiver, env, tmp_path, oversize, code, words) -> None:
    """It is trimmed, or refused with its size, the limit and the fix."""
    facet = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s", "pad": "x" * 9 * 1024 * 1024}
    file = ndjson(tmp_path / "large.ndjson", tree(run={"runId": tree()["run"]["runId"], "facets": {"own": facet}}))

    ran = run("send", "--oversize", oversize, file, env=env)

    assert (ran.code, words in ran.out) == (code, True)
    assert ("8,388,608 at most" in ran.err) == (oversize == "reject")


def test_what_waits_is_told_and_exits_75(env, tmp_path) -> None:
    """Where nobody listens, the event stays in the spool; the message says when it is tried again."""
    ran = run("send", "--timeout", 3, ndjson(tmp_path / "e.ndjson", tree()), env=env | {"url": "http://127.0.0.1:9"})

    assert (ran.code, ran.out) == (75, "default: 0 delivered, 1 waiting\n")
    assert "waiting, retry at 20" in ran.err
    assert run("spool", "status", "--json", env=env).json["pending"] == 1


def test_a_refused_token_stops_the_destination_at_once(env, tmp_path) -> None:
    """No minute is spent on what only a person can mend."""
    started = time.monotonic()
    ran = run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env | {"token": "not-the-token"})

    assert ran.code == 75
    assert "stopped until you fix this" in ran.err
    assert "not-the-token" not in ran.out + ran.err
    assert time.monotonic() - started < 10


def test_without_waiting_nothing_is_sent(receiver, env, tmp_path) -> None:
    """``--no-wait`` commits and returns; ``spool drain`` delivers."""
    ran = run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", *_runs(3)), env=env)

    assert (ran.code, ran.out) == (75, "default: 0 delivered, 3 waiting\n")
    assert receiver.events() == []
    assert run("spool", "drain", env=env).code == 0
    assert len(receiver.events()) == 3


def test_a_refusal_wins_over_what_waits(env, tmp_path) -> None:
    """Exit code 1, though an event waits too."""
    assert run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree(), b"nonsense"), env=env).code == 1


def test_each_destination_has_its_own_counts(receiver, env, tmp_path) -> None:
    """Portal takes run events only, and what match leaves out is counted."""
    portal = {"destination": "portal", "url": receiver.url, "token": TOKEN, "match": {"drop": [{"job": "ns/left"}]}}
    both = {"tw": {"url": receiver.url, "token": TOKEN}, "portal": portal}
    settings = {"destinations": json.dumps(both), "spool_dir": env["spool_dir"]}
    job_event = tree(eventType=..., run=..., inputs=..., outputs=...)
    left_out = tree(job={"namespace": "ns", "name": "left"}, run={"runId": "00000000-0000-4000-8000-000000000001"})

    ran = run("send", "--json", ndjson(tmp_path / "e.ndjson", tree(), job_event, left_out), env=settings)

    found = ran.json["destinations"]
    assert ran.code == 0
    assert found["tw"]["delivered"] == 3
    assert (found["portal"]["delivered"], found["portal"]["skipped"], found["portal"]["left_out"]) == (1, 1, 1)
    assert len(receiver.events(destination="portal")) == receiver.statuses(PORTAL).get("201") == 1


def test_a_cached_event_is_a_delivered_one(receiver, env, tmp_path) -> None:
    """It is counted apart, since it is not visible yet."""
    receiver.faults([{"status": 200, "body": {"error_code": "dataway.cached"}, "times": 1}])

    ran = run("send", ndjson(tmp_path / "e.ndjson", *_runs(3)), env=env)

    assert (ran.code, ran.out) == (0, "default: 3 delivered (1 cached)\n")


def test_events_arrive_while_another_courier_leads(receiver, env, tmp_path) -> None:
    """``send`` waits for whoever delivers, instead of sending twice."""
    file = ndjson(tmp_path / "e.ndjson", *_runs(200))
    first: list = []
    thread = threading.Thread(target=lambda: first.append(run_child("send", file, env=env)))
    thread.start()
    second = run_child("send", ndjson(tmp_path / "f.ndjson", *_runs(200, eventType="COMPLETE")), env=env)
    thread.join()

    assert (first[0].out, second.out) == ("default: 200 delivered\n",) * 2
    assert len(receiver.events()) == 400
    assert receiver.stats()["duplicates"] == 0


def test_more_than_the_spool_holds_is_sent_while_it_is_read(receiver, env, tmp_path) -> None:
    """A file larger than the spool's share goes through, since what was delivered makes room."""
    noise = [tree(run={"runId": row["run"]["runId"]}, noise=os.urandom(4000).hex()) for row in _runs(300)]

    ran = run("send", ndjson(tmp_path / "e.ndjson", *noise), "--spool-max-bytes", "200 kB", env=env)

    assert (ran.code, ran.out) == (0, "default: 300 delivered\n")


def test_what_finds_no_room_is_named(env, tmp_path) -> None:
    """Without delivery a full spool loses nothing silently: file, line, and exit code 1."""
    file = ndjson(tmp_path / "e.ndjson", *_runs(3))

    ran = run("send", "--no-wait", "--spool-max-bytes", "250", file, env=env)

    assert ran.code == 1
    assert f"{file}:3: not sent to default: the spool has no more room for it" in ran.err


def test_where_lineage_is_disabled_nothing_is_sent(receiver, env, tmp_path) -> None:
    """Also by upstream's variable, and it is said."""
    ran = run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env | {"OPENLINEAGE_DISABLED": "true"})

    assert (ran.code, ran.out) == (0, "")
    assert "disabled" in ran.err
    assert receiver.events() == []
