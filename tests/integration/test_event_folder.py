"""Every event of a folder goes through: the recordings in this repository, or any by ``make events DIR=folder``."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support.raw_server import RawServer
from support.receiver import DATAWAY, Receiver
from support.record_counts import count_records
from support.repository import ROOT

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.events.model import identify
from truewatch_lineage.events.serialise import dumps, normalise, to_tree
from truewatch_lineage.events.validate import validate
from truewatch_lineage.protocol import SCHEMA_URLS

FOLDER = Path(os.environ.get("EVENTS_DIR") or ROOT / "tests" / "data" / "recorded")


def _read(path: Path) -> list[object]:
    """Read a file that holds one value, an array, or a value a line."""
    text = path.read_text(encoding="utf-8")
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


EVENTS = [
    event
    for path in sorted(FOLDER.rglob("*.json*"))
    for event in _read(path)
    if isinstance(event, dict) and identify(event).kind
]


def _mended(event):
    """Say what the contract lets change on the way: eventType's case, and a schemaURL that is missing."""
    wanted = {"schemaURL": SCHEMA_URLS[identify(event).kind]} | event
    return wanted | ({"eventType": event["eventType"].upper()} if isinstance(event.get("eventType"), str) else {})


def _lanes(events):
    """Group events by what keeps its order."""
    lanes = defaultdict(list)
    for event in events:
        lanes[identify(event).lane].append(event)
    return lanes


@pytest.mark.timeout(300)
def test_every_event_arrives_once_equal_and_in_order(tmp_path) -> None:
    """What arrives in each lane is what was emitted, but for the changes that are documented."""
    with RawServer() as server:
        settings = {"url": server.url, "token": "folder-test-token", "spool_dir": str(tmp_path / "spool")}
        transport = TrueWatchTransport({**settings, "delivery": "background", "exit_budget": 200})
        for event in EVENTS:
            transport.emit(event)

        assert transport.close()
        assert _lanes(server.bodies) == _lanes(_mended(event) for event in EVENTS)


@pytest.mark.timeout(300)
def test_validate_the_receiver_and_an_independent_count_agree(capsys) -> None:
    """What ``validate`` finds no error in is taken, with as many records of each type as the page promises."""
    trees = [normalise(to_tree(event)) for event in EVENTS]
    expected = [any(finding.severity == "error" for finding in validate(tree, "dataway")) for tree in trees]
    with Receiver(tokens=["folder-test-token"]) as receiver:
        statuses = [receiver.post(dumps(tree), DATAWAY).status for tree in trees]
        records = receiver.stats()["records"]
    taken = [dumps(tree) for tree, is_bad in zip(trees, expected, strict=True) if not is_bad]
    with capsys.disabled():
        print(f"\n{FOLDER.name}: {len(EVENTS)} events, {sum(expected)} with errors")  # noqa: T201 - asked for
        print(f"answers {dict(Counter(statuses))}; records {records}")  # noqa: T201 - asked for

    assert [status == 400 for status in statuses] == expected
    assert {name: count for name, count in records.items() if name != "ingest_error"} == count_records(taken)
