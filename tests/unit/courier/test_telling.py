"""What a job's log says of deliveries."""

from __future__ import annotations

import logging

import pytest

from truewatch_lineage.courier.telling import Telling
from truewatch_lineage.spool import Settlement, Standing

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


def test_nothing_is_told_of_what_goes_well(caplog):
    """A destination that was never stopped is not delivered "again"."""
    Telling("here").settled(READY, READY, [DELIVERED])
    assert [record for record in caplog.records if record.levelno > logging.DEBUG] == []


def test_each_attempt_is_told_at_debug(caplog):
    """docs/troubleshooting.md sends people there."""
    Telling("here").settled(READY, READY, [DELIVERED])
    assert caplog.messages == ["here: attempt 3, event 7: delivered, delivered"]
