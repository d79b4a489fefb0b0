"""What a job's log says of deliveries."""

from __future__ import annotations

import logging

import pytest
from support.events import RUN_ID, tree

from truewatch_lineage.courier.refused import Refused
from truewatch_lineage.courier.telling import Telling, at_start
from truewatch_lineage.events.serialise import dumps
from truewatch_lineage.intake import compress
from truewatch_lineage.spool import Queued, Settlement, Standing

READY = Standing()
PARKED = Standing("parked", "the token was refused")
PAUSED = Standing("paused", "refused", 1_800_000_000.0)
DELIVERED = Settlement(7, 3, "delivered", "delivered", 200)


@pytest.fixture(autouse=True)
def _listen(caplog):
    caplog.set_level(logging.DEBUG, logger="truewatch_lineage")


@pytest.mark.parametrize("stopped", [PARKED, PAUSED])
def test_an_end_is_told_for_each_stop(caplog, stopped):
    """Also where `spool resume` or another process has opened it: who alerts on the log waits for it."""
    telling = Telling("here")
    telling.settled(READY, stopped, [])
    telling.settled(READY, READY, [DELIVERED])
    telling.settled(READY, READY, [DELIVERED])
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert [text.startswith("Lineage to here") for text in told] == [True, True]
    assert told[1] == "Lineage to here is delivered again."


def test_an_end_is_told_of_a_stop_before_this_process(caplog):
    """A courier that was restarted has told at its start that it waits."""
    Telling("here").settled(PAUSED, READY, [DELIVERED])
    assert "Lineage to here is delivered again." in caplog.messages


def test_nothing_is_told_of_what_goes_well(caplog):
    """A destination that was never stopped is not delivered "again"."""
    Telling("here").settled(READY, READY, [DELIVERED])
    assert [record for record in caplog.records if record.levelno > logging.DEBUG] == []


def test_each_attempt_is_told_at_debug(caplog):
    """docs/troubleshooting.md sends people there."""
    Telling("here").settled(READY, READY, [DELIVERED])
    assert caplog.messages == ["here: attempt 3, event 7: delivered, delivered"]


def refused(body, lane=f"run:{RUN_ID}"):
    return Refused(Queued(7, lane, body, 0, 0, None), "dataway", "`truewatch-lineage spool show 7`", "answered 400.")


def test_a_refused_event_is_named_with_its_place_and_the_path_to_its_fault(caplog):
    """Job, lane, the command that shows it, and what `validate` finds, as `send` does."""
    Telling("here").refused([refused(compress(dumps(tree(eventTime=...)))), refused(b"")])
    assert caplog.messages == [
        (
            "An event for here was refused and is kept as a dead letter: "
            f"answered 400. (job ns/job, lane run:{RUN_ID}, `truewatch-lineage spool show 7`) $.eventTime: Missing."
        )
    ]


@pytest.mark.parametrize("body", [b"", b"no gzip", compress(b"{"), compress(dumps(tree()))[:-9]])
def test_a_refused_event_that_can_not_be_read_is_named_by_its_lane(body):
    """Its reason says already that it is damaged; a key of Kafka's can't begin a line of its own."""
    text = str(refused(body, "kafka:a\nb"))
    assert text == "answered 400. (lane kafka:a\\nb, `truewatch-lineage spool show 7`)"


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (READY, "2 events wait."),
        (PARKED, "2 events wait, stopped until you fix this: the token was refused"),
        (PAUSED, "2 events wait, retry at 2027-01-15T08:00:00+00:00 and once now: refused"),
    ],
)
def test_a_start_tells_what_waits_and_until_when(standing, told):
    """What is due already needs no time."""
    assert at_start(standing, 2, 1_799_999_990.0) == told
    assert at_start(PAUSED, 1, 1_800_000_001.0) == "1 event waits."
