"""From a message to what is done for it: lanes, destinations, and what is kept for the topic of dead letters."""

from __future__ import annotations

import gzip
import json

import pytest
from support.events import RUN_ID, job_event, tree

from truewatch_lineage.config import load
from truewatch_lineage.events.serialise import dumps, to_tree
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.preparing import Preparation

TOKEN = "a-token-of-the-destination"


class Message:
    """As confluent-kafka's, as far as it is asked."""

    def __init__(self, value, key=None):
        self._value, self._key = value, key

    def value(self):
        """Its value."""
        return self._value

    def key(self):
        """Its key."""
        return self._key

    def offset(self):
        """Its place."""
        return 7


def prepared(value, key=None, **more):
    settings = {"url": "https://here.example", "token": TOKEN, **more}
    preparation = Preparation(load(settings))
    [event] = preparation.prepare([(Message(value, key), Offsets(0))])
    return event, preparation


@pytest.mark.parametrize(
    ("key", "lane"),
    [
        (b"run:ns/job", "kafka:run:ns/job"),
        ("run:ns/job", "kafka:run:ns/job"),
        (None, f"kafka:run:{RUN_ID}"),
        (b"\xff\x00", "kafka:\\xff\x00"),
        (f"x{TOKEN}".encode(), "kafka:x***"),
    ],
)
def test_a_key_is_a_lane(key, lane):
    """Without one the event's own identity is; no secret is in either."""
    event, _ = prepared(dumps(tree()), key)
    assert [parcel.entry.lane for parcel in event.parcels] == [lane]


def test_long_keys_are_lanes_of_their_own():
    """By a digest, so that none takes more room than its event."""
    lanes = {prepared(dumps(tree()), b"x" * 10_000 + end)[0].parcels[0].entry.lane for end in (b"a", b"b")}
    assert len(lanes) == 2
    assert max(map(len, lanes)) < 100


def test_the_original_is_kept_once():
    """As it was before any destination's changes, masked; where nothing was changed it takes no room of its own."""
    event, _ = prepared(dumps(tree(producer=f"https://p.example/{TOKEN}")))
    [parcel] = event.parcels
    assert event.original is parcel.entry.body
    assert event.size == len(event.original)
    assert json.loads(gzip.decompress(event.original))["producer"] == "https://p.example/***"

    mapped, _ = prepared(dumps(tree()), map_namespaces={"ns": "elsewhere"})
    assert json.loads(gzip.decompress(mapped.original))["job"]["namespace"] == "ns"
    assert json.loads(gzip.decompress(mapped.parcels[0].entry.body))["job"]["namespace"] == "elsewhere"
    assert mapped.size > len(mapped.original)


def test_what_can_not_be_read_is_kept_as_it_came():
    """Masked, byte by byte where it is no text."""
    for value, kept in [(f"{{{TOKEN}".encode(), b"{***"), (b"\xff" + TOKEN.encode(), b"\xff***")]:
        event, _ = prepared(value, redact=["hunter\\d"])
        assert event.parcels[0].entry.dead is not None
        assert gzip.decompress(event.original) == kept


def test_what_goes_nowhere_has_no_parcels():
    """A tombstone, and a kind that the destination does not take; each is counted."""
    event, preparation = prepared(None, b"k")
    assert (event.parcels, preparation.empty, preparation.skipped) == ([], 1, 0)
    event, preparation = prepared(dumps(to_tree(job_event())), destination="portal")
    assert (event.parcels, preparation.empty, preparation.skipped) == ([], 0, 1)
