"""Delivery by what an Airflow connection says: rotated tokens, secrets backends that fail, and a token in no place."""

from __future__ import annotations

import pytest
from support.airflow import VERSIONS, environment
from support.airflow_connections import Connections
from support.receiver import Receiver

OLD, NEW = "tkn_0123456789_of_old", "tkn_9876543210_of_new"
SLACK = 40.0
"""Seconds of a busy machine, to import what an emit needs; less than the lookup hangs."""

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(params=VERSIONS)
def connections(request, tmp_path):
    """Give connections of each version, none of them there yet."""
    return Connections(environment(request.param), tmp_path)


def jobs(receiver):
    """Return the jobs of what has arrived."""
    return [event["event"]["job"]["name"] for event in receiver.events()]


def told(done):
    """Return all that a process said; Airflow's versions log to different streams."""
    return done.stdout + done.stderr


def leaks(connections):
    """Return the files that hold a token and are not the connections' own."""
    own = {connections.file, connections.home / "quote"}
    files = [path for path in connections.home.rglob("*") if path.is_file() and path not in own]
    return [path for path in files if b"tkn_" in path.read_bytes()]


def test_a_rotated_token_is_read_again_and_an_outage_of_the_backend_loses_nothing(connections):
    """A 401 asks Airflow again; where Airflow finds no connection, events wait under the binding it had."""
    with Receiver(tokens=[OLD]) as receiver:
        port = receiver.port
        connections.write(receiver.url, OLD)
        (connections.home / "quote").write_text(OLD, encoding="utf-8")
        with connections.emitting("fork:first", "emit:second", "wait:rotated", "emit:third") as emitting:
            connections.reached("rotated")
            assert jobs(receiver) == ["first", "second"]
            assert OLD not in str(receiver.events())
            receiver.stop()
            with Receiver(tokens=[NEW], port=port) as renewed:
                connections.write(renewed.url, NEW)
                (connections.home / "rotated").touch()
                done = emitting.result()
                assert jobs(renewed) == ["third"]
                assert "secret variables: []" in done.stdout

                kept = connections.file.read_text()
                connections.file.unlink()
                out = told(connections.emit("fork:fourth"))
                assert "Lineage is kept in the spool" in out
                assert connections.pending() == 1
                assert leaks(connections) == []

                connections.file.write_text(kept)
                connections.emit("fork:fifth")
                connections.command("spool", "drain")  # where this machine was too busy to find the connection in 2 s
                assert sorted(jobs(renewed)) == ["fifth", "fourth", "third"]
    assert connections.pending() == 0
    assert leaks(connections) == []
    assert "tkn_" not in told(done) + out


def test_without_a_destination_one_line_says_how_to_set_one(connections):
    """Nothing happens, and no folder is made."""
    out = told(connections.emit("emit:a", "emit:b"))
    assert out.count("No lineage is sent, since no destination is set.") == 1
    assert not connections.spool.exists()


def test_a_wrong_setting_is_told_once_with_its_fix_and_fails_nothing(connections):
    """The connection's extra has a key that is none."""
    connections.write("https://openway.example.com", OLD, timout=1)
    out = told(connections.emit("emit:a", "emit:b"))
    assert out.count("No lineage is sent: Unknown setting `extra.timout`") == 1
    assert "Did you mean timeout?" in out


def test_a_connection_that_comes_or_changes_is_seen_by_a_process_that_lives_on(connections):
    """As the scheduler's: looked for again after half a minute, in this test at each event."""
    with Receiver(tokens=[OLD]) as first, Receiver(tokens=[NEW]) as second:
        steps = ("again", "emit:none", "wait:come", "emit:one", "emit:two", "wait:changed", "emit:three")
        with connections.emitting(*steps):
            connections.reached("come")
            connections.write(first.url, OLD)
            (connections.home / "come").touch()
            connections.reached("changed")
            connections.write(second.url, NEW)
            (connections.home / "changed").touch()
        assert (jobs(first), jobs(second)) == (["one", "two"], ["three"])


def test_a_backend_that_hangs_costs_an_event_its_budget_and_loses_none(connections):
    """What the connection said last is known; its token is not, so the event waits."""
    with Receiver(tokens=[OLD]) as receiver:
        connections.write(receiver.url, OLD)
        connections.emit("fork:first")
        (connections.home / "hang").touch()
        done = connections.emit("fork:second", TRUEWATCH_LINEAGE_DELIVERY_BUDGET="2")
        assert "has not answered in time" in told(done)
        seconds = float(done.stdout.partition("fork:second ")[2].split()[0])
        assert 2 <= seconds < 2 + SLACK
        (connections.home / "hang").unlink()
        assert jobs(receiver) == ["first"]
        connections.command("spool", "drain")
        assert jobs(receiver) == ["first", "second"]
