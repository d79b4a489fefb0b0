"""A gateway that leaves delivery to a courier beside it, on a processor of its own."""

from __future__ import annotations

import time

from support.gateway import Gateway
from support.receiver import Receiver
from tables.receiver_rules import EVENT, event

TOKEN = "a-token-of-the-courier-12"


def _gateway(receiver, spool, *args):
    """Run one that has no token of the destination's."""
    settings = {"destination": "dataway", "url": receiver.url, "delivery": "spool"}
    return Gateway(kind=None, env=settings, spool=spool, args=args)


def test_a_courier_delivers_with_a_token_that_the_gateway_never_has(tmp_path):
    """What was committed before it came, and what comes after, in order; the gateway looks well all the while."""
    with Receiver(tokens=[TOKEN]) as receiver, _gateway(receiver, tmp_path / "spool") as gateway:
        assert gateway.post(event({"eventType": "START"})).status == 200
        time.sleep(1.5)  # longer than it takes the gateway to look for what has ended
        assert (gateway.request("GET", "/healthz").status, gateway.request("GET", "/readyz").status) == (200, 200)
        assert receiver.events() == []
        with gateway.courier(token=TOKEN):
            receiver.wait_for_events(1)
            assert gateway.post(event({"eventType": "COMPLETE"})).status == 200
            receiver.wait_for_events(2)
            gateway.wait_until_empty()
            told = gateway.metrics()
        assert [one["event"]["eventType"] for one in receiver.events()] == ["START", "COMPLETE"]
        assert told["truewatch_gateway_ready"] == 1
        assert told["truewatch_lineage_delivered_total"] == 2
        log = gateway.wait_for_log("for a courier: run `truewatch-lineage courier` with the same settings and the")
        assert "Delivering from" not in log
        assert "can't be sent a token" not in log


def test_such_a_gateway_stops_at_once_with_0_whatever_waits(tmp_path):
    """What waits is the courier's."""
    with Receiver() as receiver, _gateway(receiver, tmp_path / "spool", "--exit-budget", "30s") as gateway:
        assert gateway.post(EVENT).status == 200
        began = time.monotonic()
        assert gateway.stop() == 0
        assert time.monotonic() - began < 5
        assert "Stopped; 1 event waits." in gateway.stderr()


def test_a_gateway_whose_events_nobody_delivers_says_so(tmp_path):
    """Everything else about it looks well."""
    impatient = "from truewatch_lineage.gateway import unattended; unattended.PATIENCE_SECONDS = 1.0; "
    program = ("-c", f"{impatient}from truewatch_lineage.cli import main; main()")
    settings = {"destination": "dataway", "url": "http://127.0.0.1:9", "delivery": "spool"}
    with Gateway(kind=None, env=settings, spool=tmp_path / "spool", program=program) as gateway:
        assert gateway.post(EVENT).status == 200
        gateway.wait_for_log("WARNING Events wait, and no courier delivers them. Run `truewatch-lineage courier`", 20)
