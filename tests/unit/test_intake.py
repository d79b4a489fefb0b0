"""From what is given to what the spool stores; most of it is tested through the pipeline."""

from __future__ import annotations

import gzip
import json

import pytest
from tables.receiver_rules import EVENT, event

from truewatch_lineage.config import load
from truewatch_lineage.courier import binding_of
from truewatch_lineage.errors import EventError
from truewatch_lineage.intake import Intake

SETTINGS = load(
    {
        "destinations": {
            "one": {"destination": "openlineage", "url": "http://127.0.0.1:9", "map_namespaces": {"example": "mapped"}},
            "two": {"destination": "portal", "url": "http://127.0.0.1:9", "token": "a-destination-token"},
        }
    }
)
DATAWAY = {"destination": "dataway", "url": "http://127.0.0.1:9", "token": "a-destination-token"}
BINDINGS = [binding_of(destination) for destination in SETTINGS.destinations]


def test_its_json_is_masked_but_not_changed_for_a_destination():
    """For whoever gives the event on as it came: neither mapped nor with Portal's schemaURL."""
    leaky = event({"job.name": "a-destination-token", "eventType": "start"})
    batch = Intake(SETTINGS).accept(json.dumps(leaky).encode(), BINDINGS)
    assert json.loads(batch.data) == event({"job.name": "***"})
    mapped = json.loads(gzip.decompress(batch.entries[0].body))
    assert mapped["job"]["namespace"] == "mapped.scheduler"


def test_more_secrets_are_masked_in_one_event():
    """What a client of the gateway authorised itself with, in the event and in what is said of it."""
    intake = Intake(SETTINGS)
    secret = "a-clients-token"
    batch = intake.accept(event({"job.name": secret, "run.facets": {secret: {}}}), BINDINGS, [secret])
    assert secret.encode() not in batch.data
    assert all(secret.encode() not in gzip.decompress(entry.body) for entry in batch.entries)
    assert secret.encode() in intake.accept(event({"job.name": secret}), BINDINGS).data
    refused = intake.accept(f'{{"{secret}": 1, "{secret}": 2}}', BINDINGS, [secret])
    assert refused.data is None
    assert "the key '***' stands twice" in refused.entries[0].dead


def test_a_dead_letter_is_told_by_whoever_keeps_it(caplog):
    """A gateway that answers 413 keeps nothing, so `prepare` alone may not say so."""
    large = event({"run.facets": {"x": {"y": "z" * 8 * 1024 * 1024}}})
    settings = load({**DATAWAY, "oversize": "reject"})
    intake, bindings = Intake(settings), [binding_of(one) for one in settings.destinations]
    batch = intake.prepare(intake.read(large), bindings)
    assert "8,388,608 at most" in batch.entries[0].dead
    assert caplog.messages == []
    intake.accept(large, bindings)
    [told] = caplog.messages
    assert told.startswith(f"An event for default ({batch.entries[0].job}, run:")
    assert told.endswith(f"can't be sent and is kept as a dead letter: {batch.entries[0].dead}")


def test_what_cannot_be_read_is_an_error_for_whoever_can_refuse_it():
    """The gateway's client is told; `accept` makes a dead letter of the same."""
    intake = Intake(SETTINGS)
    with pytest.raises(EventError, match="Not one event but an array"):
        intake.read(b"[]")
    assert [entry.binding for entry in intake.accept(b"[]", BINDINGS).entries] == BINDINGS
    assert intake.prepare(intake.read(json.dumps(EVENT)), BINDINGS) == intake.accept(EVENT, BINDINGS)
