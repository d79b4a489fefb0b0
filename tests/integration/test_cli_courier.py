"""``courier``: delivers what others leave, says how it goes, and stops in time."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import subprocess
import time

from support.cli import CHILD, child_environment, ndjson, run
from support.couriers import DEAD_DELIVERY, TWO
from support.events import tree


@contextlib.contextmanager
def _courier(env, *args, first=""):
    """Run a courier, after ``first``, until the end of the block; its stderr is read line by line."""
    *python, program = CHILD
    with subprocess.Popen(
        [*python, first + program, "courier", *args], env=child_environment(env), stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _line(child, pattern):
    """Read its log up to the line that holds a pattern."""
    for line in child.stderr:
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"the courier never said {pattern}")


def _get(port, path, host=None):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def _server(port):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", "/healthz")
        return connection.getresponse().headers["Server"].strip()


def test_it_delivers_what_others_leave(receiver, env, tmp_path) -> None:
    """An event is gone moments after another process has committed it."""
    with _courier(env) as child:
        _line(child, "Delivering from")
        assert run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env=env).code in (0, 75)
        receiver.wait_for_events(1, timeout=5)


def test_send_that_leaves_delivery_to_a_courier_waits_for_it(receiver, env, tmp_path) -> None:
    """``delivery: spool`` needs no token."""
    without_token = {"url": env["url"], "spool_dir": env["spool_dir"], "delivery": "spool"}
    with _courier(env) as child:
        _line(child, "Delivering from")

        assert run("send", ndjson(tmp_path / "e.ndjson", tree()), env=without_token).code == 0


def test_ctrl_c_ends_it(env) -> None:
    """At once where nothing is under way, with exit code 0."""
    with _courier(env) as child:
        _line(child, "Delivering from")
        child.send_signal(signal.SIGINT)

        assert child.wait(3) == 0


def test_it_stops_within_five_seconds(receiver, env, tmp_path) -> None:
    """Even while the receiver lets it wait; the event is kept."""
    receiver.faults([{"status": 200, "delay": 20, "times": 9}])
    run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    with _courier(env) as child:
        _line(child, "Delivering from")
        while not receiver.stats()["connections"]["now"]:
            time.sleep(0.02)
        started = time.monotonic()
        child.send_signal(signal.SIGTERM)

        assert child.wait(10) == 0
        assert time.monotonic() - started < 5
    assert run("spool", "status", "--json", env=env).json["pending"] == 1


def test_it_serves_metrics_and_health(env, tmp_path) -> None:
    """To this machine alone: a page that rebinds its own name to loopback is refused."""
    run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    with _courier(env, "--metrics-port", "0") as child:
        port = int(_line(child, r"Metrics at http://127\.0\.0\.1:(\d+)/metrics")[1])
        _line(child, "Delivering from")

        status, text = _get(port, "/metrics")
        assert status == 200
        assert "truewatch_lineage_delivered_total 1" in text
        assert 'truewatch_lineage_destination_state{destination="default",state="ready"} 1' in text
        assert _get(port, "/healthz") == (200, "ok\n")
        assert _server(port) == "truewatch-lineage"
        assert _get(port, "/other")[0] == 404
        assert _get(port, "/metrics", host="evil.example")[0] == 421
        assert _get(port, "/metrics", host=f"localhost:{port}")[0] == 200


def test_it_is_not_well_where_the_thread_of_one_destination_has_ended(tmp_path) -> None:
    """Though the other's delivers: whoever looks after it starts it again."""
    env = {"destinations": TWO, "spool_dir": tmp_path / "spool"}
    with _courier(env, "--metrics-port", "0", first=DEAD_DELIVERY) as child:
        port = int(_line(child, r"Metrics at http://127\.0\.0\.1:(\d+)/metrics")[1])
        _line(child, "Delivering from")

        assert _get(port, "/healthz") == (503, "the courier does not deliver\n")


def test_a_scraper_that_says_nothing_keeps_nobody_out(env) -> None:
    """Connections are few and end by themselves."""
    with _courier(env, "--metrics-port", "0") as child:
        port = int(_line(child, r"Metrics at http://127\.0\.0\.1:(\d+)/metrics")[1])
        _line(child, "Delivering from")
        silent = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(4)]
        for connection in silent:
            connection.connect()

        assert _get(port, "/healthz")[0] == 200
        for connection in silent:
            connection.close()


def test_it_logs_where_a_destination_stops_and_comes_back(receiver, env, tmp_path) -> None:
    """With the reason and the time of the next try, on stderr."""
    receiver.faults([{"status": 503, "times": 1}])
    run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env=env)
    with _courier(env) as child:
        assert _line(child, "waits, retry at 20.*answered 503")
        assert _line(child, "is delivered again")


def test_it_refuses_to_start_without_a_usable_spool(env, tmp_path) -> None:
    """A file in the folder's place: exit code 2 and the fix."""
    (tmp_path / "file").write_text("")

    ran = run("courier", env=env | {"spool_dir": tmp_path / "file"})

    assert ran.code == 2
    assert "Set spool_dir to a folder of your own" in ran.err


def test_it_refuses_to_start_without_a_token_whatever_delivery_says(env) -> None:
    """A courier is who delivers."""
    env.pop("token")

    ran = run("courier", env=env | {"delivery": "spool"})

    assert (ran.code, "needs a token" in ran.err) == (2, True)


def test_a_metrics_port_that_is_taken_is_told(receiver, env) -> None:
    """Before anything is delivered."""
    ran = run("courier", "--metrics-port", receiver.port, env=env)

    assert (ran.code, f"Port {receiver.port} of 127.0.0.1 can't be used" in ran.err) == (2, True)


def test_it_tells_of_events_that_wait_under_other_settings(receiver, env, tmp_path) -> None:
    """Design section 6: they wait until ``spool rebind``; nobody would look for them where all else is well."""
    before = {**env, "url": "http://127.0.0.1:9"}
    assert run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env=before).code == 75
    with _courier(env) as child:
        told = _line(child, r"bound to (\S+) are left alone: (\d+)\. `(.*)` gives")

        assert told.groups() == (
            "http://127.0.0.1:9/v1/write/openlineage",
            "1",
            "truewatch-lineage spool rebind default",
        )


def test_it_tells_of_events_of_a_name_that_its_settings_have_not(env, tmp_path) -> None:
    """Such as where the one who stores them has other names."""
    assert run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env={**env, "delivery": "spool"}).code == 75
    named = {"destinations": json.dumps({"other": {"url": env["url"], "token": env["token"]}})}
    with _courier({**named, "spool_dir": env["spool_dir"]}) as child:
        assert _line(child, r"Events of default \(\S+\) are left alone: 1\. These settings have no destination of that")


def test_it_tells_of_events_that_come_later_under_other_settings(env, tmp_path) -> None:
    """Once of each binding: a courier is started before the first event, as with a gateway beside it."""
    look = "from truewatch_lineage.cli import courier; courier.LOOK_SECONDS = 0.1\n"
    file, names = ndjson(tmp_path / "e.ndjson", tree()), ("first", "second")
    with _courier(env, first=look) as child:
        _line(child, "Delivering from")
        for name in names:
            left = {"destinations": json.dumps({name: {"url": env["url"]}}), "delivery": "spool"}
            assert run("send", "--no-wait", file, env={**left, "spool_dir": env["spool_dir"]}).code == 75
            _line(child, f"Events of {name} .* are left alone: 1")
        time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        assert "left alone" not in child.stderr.read()


def test_it_tries_a_paused_destination_once_at_its_start(receiver, env, tmp_path) -> None:
    """Whoever starts it may have mended what was down; what waits is told, and an hour is not waited for."""
    receiver.faults([{"status": 503, "headers": {"Retry-After": "3600"}, "times": 1}])
    assert run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env).code == 75
    with _courier(env) as child:
        assert _line(child, "default: 1 event waits, retry at 20.* and once now: .*503")
        assert _line(child, "is delivered again")
        receiver.wait_for_events(1, timeout=5)


def test_a_start_is_one_try_of_a_paused_destination(receiver, env, tmp_path) -> None:
    """Where it still fails, the pause counts again."""
    receiver.faults([{"status": 503, "headers": {"Retry-After": "3600"}, "times": 9}])
    assert run("send", ndjson(tmp_path / "e.ndjson", tree(), tree()), env=env).code == 75
    asked = receiver.statuses()["503"]
    with _courier(env) as child:
        _line(child, "2 events wait, retry at")
        while receiver.statuses()["503"] == asked:
            time.sleep(0.02)
        time.sleep(0.5)

        assert run("spool", "status", "--json", env=env).json["pending"] == 2
    assert receiver.statuses()["503"] == asked + 1


def test_a_dead_letter_is_told_by_job_id_and_path(receiver, env, tmp_path) -> None:
    """So that nobody has to look for which of thousands it was."""
    with _courier(env) as child:
        _line(child, "Delivering from")
        left = env | {"delivery": "spool"}
        assert run("send", ndjson(tmp_path / "e.ndjson", tree(eventTime="now")), env=left).code == 1

        found = _line(child, r"is kept as a dead letter: .*\(job ns/job, lane run:\S+, `(.*)`\) (.*)")
        assert found[1].startswith("truewatch-lineage spool show ")
        assert found[2] == "$.eventTime: Not an ISO 8601 timestamp."
