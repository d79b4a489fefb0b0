"""Lone surrogates, which a file name of another encoding becomes in Python, wherever an event may hold them."""

from __future__ import annotations

import pytest
from support.events import tree
from support.raw_server import RawServer
from support.spooled import spooled

from truewatch_lineage import TrueWatchTransport

BAD, MENDED = "x\ud800y", "x\ufffdy"


def loop_of(key):
    """Return a facet that contains itself under a key."""
    facet = {}
    facet[key] = facet
    return facet


@pytest.mark.parametrize(
    "changes",
    [
        {"job": {"namespace": BAD, "name": "n"}},
        {"job": {"namespace": "ns", "name": BAD}},
        {"run": {"runId": BAD}},
        {"eventType": BAD},
        {"run": {"runId": "r", "facets": {BAD: {"a": BAD}}}},
        {"run": ..., "job": {"namespace": BAD, "name": BAD}, "eventType": ...},
        {
            "run": ...,
            "job": ...,
            "eventType": ...,
            "inputs": ...,
            "outputs": ...,
            "dataset": {"namespace": BAD, "name": BAD},
        },
    ],
)
def test_an_event_arrives_with_the_replacement_character(tmp_path, changes):
    """Design section 5: "a lone surrogate → U+FFFD"; also in what the spool notes about the event."""
    with RawServer() as server:
        transport = TrueWatchTransport(
            {"url": server.url, "token": "tkn_surrogates", "spool_dir": str(tmp_path / "spool"), "delivery": "inline"}
        )
        transport.emit(tree(**changes))
        transport.close()
        assert len(server.bodies) == 1
        assert MENDED in str(server.bodies[0])


def test_the_reason_of_a_dead_letter_may_name_such_a_key(tmp_path):
    """The path to what is wrong holds the event's own keys."""
    transport = TrueWatchTransport(
        {
            "url": "http://127.0.0.1:9",
            "token": "tkn_surrogates",
            "spool_dir": str(tmp_path / "spool"),
            "delivery": "spool",
        }
    )
    transport.emit(tree(run={"runId": "r", "facets": {"f": loop_of(BAD)}}))
    transport.close()
    found = spooled(tmp_path / "spool")
    assert found.dead == 1
