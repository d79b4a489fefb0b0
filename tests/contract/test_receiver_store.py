"""What the receiver has acknowledged it keeps, once, in order, and shows."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import sqlite3
import stat
import threading

import pytest
from support.receiver import DATAKIT, DATAWAY, Receiver
from tables.receiver_rules import EVENT, event


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


@pytest.fixture(autouse=True)
def empty(receiver):
    """Begin with nothing stored."""
    receiver.clear()


def test_kill_9_loses_nothing_acknowledged():
    """Under load from eight clients, every event answered 200 is there after kill -9 and a restart, three times."""
    with Receiver() as receiver:
        for attempt in range(3):
            acknowledged = _send_until_killed(receiver, f"attempt-{attempt}")
            receiver.start()
            kept = {stored["job_name"] for stored in receiver.events(job_namespace=f"attempt-{attempt}")}
            assert len(acknowledged) >= 100
            assert acknowledged <= kept
            assert len(kept - acknowledged) <= 8


def _send_until_killed(receiver, namespace):
    """Send from eight threads, kill the receiver after 100 answers, and return the acknowledged job names."""
    acknowledged, enough = set(), threading.Event()

    def client(number):
        connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=10)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            for index in range(10_000):
                name = f"{number}-{index}"
                connection.request("POST", DATAWAY, json.dumps(event({"job": {"namespace": namespace, "name": name}})))
                if connection.getresponse().read():
                    acknowledged.add(name)
                if len(acknowledged) >= 100:
                    enough.set()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    assert enough.wait(20)
    receiver.kill()
    for thread in threads:
        thread.join()
    return acknowledged


def test_a_restart_keeps_events_and_their_order():
    """SIGTERM, then the same file: the same events, the same sequence, and new ones behind."""
    with Receiver() as receiver:
        for name in "abc":
            receiver.post(event({"job.name": name}))
        before = receiver.events()
        receiver.restart()
        receiver.post(event({"job.name": "d"}))
        assert receiver.events()[:3] == before
        assert [stored["job_name"] for stored in receiver.events()] == ["a", "b", "c", "d"]


def test_the_same_bytes_are_one_event_counted(receiver):
    """T: "Senders must tolerate duplicate delivery": counted for each destination, stored once."""
    for path in (DATAWAY, DATAWAY, DATAKIT, DATAWAY):
        receiver.post(EVENT, path)
    assert [(row["destination"], row["duplicates"]) for row in receiver.events()] == [("dataway", 2), ("datakit", 0)]
    stats = receiver.stats()
    assert (stats["stored"], stats["duplicates"]) == (2, 2)
    first, _ = receiver.events()
    assert first["arrived_at"] < first["last_at"]


def test_one_event_shows_all_its_arrivals(receiver):
    """GET /api/events/{event_id}: the event as received, and who took it when."""
    body = json.dumps(EVENT, indent=3).encode()
    receiver.post(body, DATAKIT)
    receiver.post(body, DATAWAY)
    reply = receiver.request("GET", f"/api/events/{hashlib.sha256(body).hexdigest()}")
    shown = reply.json
    assert [arrival["destination"] for arrival in shown["arrivals"]] == ["datakit", "dataway"]
    assert (shown["kind"], shown["event_type"], shown["size"]) == ("RunEvent", "START", len(body))
    assert body in reply.body
    assert receiver.request("GET", "/api/events/unknown").status == 404


FILTERS = [
    ({"run_id": EVENT["run"]["runId"]}, ["a", "b"]),
    ({"job_namespace": "other"}, ["c"]),
    ({"job_name": "b"}, ["b"]),
    ({"job_name": "b", "job_namespace": "other"}, []),
    ({"destination": "datakit"}, ["c"]),
    ({"job_name": "b' OR 1=1 --"}, []),
]


@pytest.mark.parametrize(("filters", "names"), FILTERS)
def test_events_are_filtered(receiver, filters, names):
    """By run, job and destination; several must all hold."""
    receiver.post(event({"job.name": "a"}))
    receiver.post(event({"job.name": "b"}))
    receiver.post(event({"job": {"namespace": "other", "name": "c"}, "run": ...}), DATAKIT)
    assert [stored["job_name"] for stored in receiver.events(**filters)] == names


def test_events_come_in_pages(receiver):
    """``limit`` and ``after`` walk through in the order of arrival; ``next`` is null at the end."""
    for number in range(5):
        receiver.post(event({"job.name": str(number)}))
    seen, after = [], 0
    while after is not None:
        page = receiver.request("GET", f"/api/events?limit=2&after={after}").json
        seen.append([stored["job_name"] for stored in page["events"]])
        after = page["next"]
    assert seen == [["0", "1"], ["2", "3"], ["4"]]


def test_a_page_is_bounded_in_bytes(receiver):
    """Large events make shorter pages; none is left out."""
    for number in range(6):
        receiver.post(event({"job.name": str(number), "padding": "x" * 7_900_000}))
    first = receiver.request("GET", "/api/events?limit=1000").json
    assert (len(first["events"]), len(receiver.events())) == (4, 6)


@pytest.mark.parametrize("query", ["limit=x", "limit=-1", "limit=1001", "limit=1e3", "after=99999999999999999999"])
def test_wrong_paging_is_refused(receiver, query):
    """400 that names the parameter."""
    reply = receiver.request("GET", f"/api/events?{query}")
    assert (reply.status, reply.json["error_code"]) == (400, "receiver.invalidParameter")


def test_clearing_forgets_events_only(receiver):
    """DELETE /api/events empties the store; the counters of requests go on."""
    receiver.post(EVENT)
    before = receiver.statuses()["200"]
    assert receiver.request("DELETE", "/api/events").status == 200
    assert (receiver.events(), receiver.stats()["stored"], receiver.statuses()["200"]) == ([], 0, before)


def test_requests_and_connections_are_counted():
    """/api/stats by path and status, with connections now and at most; /metrics says the same."""
    with Receiver() as receiver:
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                connection = http.client.HTTPConnection("127.0.0.1", receiver.port)
                stack.enter_context(contextlib.closing(connection))
                connection.connect()
            receiver.post(EVENT)
            receiver.post(b"[]")
            receiver.request("GET", "/who/knows")
        stats = receiver.stats()
        metrics = receiver.request("GET", "/metrics").body.decode().splitlines()
    assert stats["requests"][DATAWAY] == {"200": 1, "400": 1}
    assert stats["requests"]["other"] == {"404": 1}
    assert stats["connections"]["peak"] in {4, 5}  # one counts until the server has read of its end
    assert f'truewatch_receiver_requests_total{{path="{DATAWAY}",status="400"}} 1' in metrics
    assert "truewatch_receiver_stored_events 1" in metrics


def test_names_of_any_text_are_kept(receiver):
    """Unicode, quotes, a NUL and markup come back as they were."""
    name = 'Ünï ☃ \U0001f600 "quoted" \\ \x00 <script>alert(1)</script> \' --'
    receiver.post(event({"job.name": name}))
    assert [stored["event"]["job"]["name"] for stored in receiver.events(job_name=name)] == [name]


def test_numbers_are_kept_as_received(receiver):
    """The event is shown byte by byte: no rounding of large integers or decimals."""
    body = json.dumps(EVENT)[:-1].encode() + b', "n": 123456789012345678901234567890, "d": 0.10}'
    receiver.post(body)
    assert b'"n": 123456789012345678901234567890, "d": 0.10' in receiver.request("GET", "/api/events").body


def test_the_file_is_private(tmp_path):
    """Mode 0600, whatever the umask."""
    with Receiver(data=tmp_path / "events.sqlite") as receiver:
        receiver.post(EVENT)
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def _text_file(path):
    path.write_text("these are my notes, not a database" * 100)


def _another_program(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x)")


def _newer(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("make", [_text_file, _another_program, _newer])
def test_a_file_that_is_not_ours_is_left_alone(tmp_path, make):
    """Another program's file, or a newer version's, is refused with its name and stays as it was."""
    path = tmp_path / "events"
    make(path)
    content = path.read_bytes()
    with pytest.raises(AssertionError, match=str(path)), Receiver(data=path):
        pass
    assert path.read_bytes() == content
