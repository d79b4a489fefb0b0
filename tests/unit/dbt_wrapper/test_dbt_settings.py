"""Which of the places that a run's lineage may be sent to counts, and with which token."""

from __future__ import annotations

import os

import pytest

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_dbt.settings import open_sink
from truewatch_lineage_dbt.sinks import UpstreamSink

OURS = "a-token-of-ours-12345"
THEIRS = "a-token-of-theirs-123"
DATAWAY = "https://openway.example"
STOCK = "/api/v1/lineage"
HTTP = {"OPENLINEAGE__TRANSPORT__TYPE": "http", "OPENLINEAGE__TRANSPORT__URL": "http://127.0.0.1:2"}

PLACES = {
    "ours": ({"URL": DATAWAY, "TOKEN": OURS}, {}, f"{DATAWAY}/v1/write/openlineage", OURS),
    "OPENLINEAGE_URL": ({}, {"OPENLINEAGE_URL": "http://127.0.0.1:1"}, f"http://127.0.0.1:1{STOCK}", None),
    "all three variables": (
        {},
        {
            "OPENLINEAGE_URL": "https://portal.example",
            "OPENLINEAGE_ENDPOINT": "api/data-registry/lineage",
            "OPENLINEAGE_API_KEY": THEIRS,
        },
        "https://portal.example/api/data-registry/lineage",
        THEIRS,
    ),
    "ours before theirs, token and all": (
        {"URL": DATAWAY, "TOKEN": OURS},
        {"OPENLINEAGE_URL": "https://portal.example", "OPENLINEAGE_ENDPOINT": "x", "OPENLINEAGE_API_KEY": THEIRS},
        f"{DATAWAY}/v1/write/openlineage",
        OURS,
    ),
    "our token for their url": (
        {"TOKEN": OURS}, {"OPENLINEAGE_URL": "https://other.example", "OPENLINEAGE_API_KEY": THEIRS},
        f"https://other.example{STOCK}", OURS,
    ),
    "a stock transport": ({}, HTTP, f"http://127.0.0.1:2{STOCK}", None),
    "a stock transport before OPENLINEAGE_URL": (
        {}, {**HTTP, "OPENLINEAGE_URL": "http://127.0.0.1:1"}, f"http://127.0.0.1:2{STOCK}", None
    ),
    "our transport": (
        {},
        {
            "OPENLINEAGE__TRANSPORT__TYPE": "truewatch_lineage.TrueWatchTransport",
            "OPENLINEAGE__TRANSPORT__URL": DATAWAY,
            "OPENLINEAGE__TRANSPORT__TOKEN": "12345678901",
        },
        f"{DATAWAY}/v1/write/openlineage",
        "12345678901",
    ),
}  # fmt: skip


@pytest.fixture
def environ(monkeypatch, tmp_path):
    """Set variables for OpenLineage's client, which reads the process's own, in a folder without its file."""
    monkeypatch.chdir(tmp_path)

    def set_all(ours, theirs):
        for name, value in {"SPOOL_DIR": str(tmp_path / "spool"), **ours}.items():
            monkeypatch.setenv(f"TRUEWATCH_LINEAGE_{name}", value)
        for name, value in theirs.items():
            monkeypatch.setenv(name, value)
        return os.environ

    return set_all


@pytest.mark.parametrize(("ours", "theirs", "url", "token"), PLACES.values(), ids=PLACES)
def test_the_first_place_counts(environ, ours, theirs, url, token) -> None:
    """One place's token never goes to another's url."""
    destination = open_sink(environ(ours, theirs)).settings.destinations[0]
    assert destination.url == url
    assert (destination.token_source and destination.token_source.get().reveal()) == token


@pytest.mark.parametrize("variable", ["OPENLINEAGE_DISABLED", "TRUEWATCH_LINEAGE_DISABLED"])
def test_switched_off_is_off_whatever_else_is_wrong(environ, variable) -> None:
    """A broken transport is not even looked at."""
    assert open_sink(environ({}, {variable: "true", "OPENLINEAGE__TRANSPORT__TYPE": "no.such.Transport"})) is None


@pytest.mark.parametrize(
    "theirs",
    [
        {},
        {"OPENLINEAGE__TRANSPORT__TYPE": "http"},
        {"OPENLINEAGE__TRANSPORT__TYPE": "no.such.Transport"},
        {"OPENLINEAGE__TRANSPORT__TYPE": "kafka"},
        {"OPENLINEAGE_URL": "ftp://nowhere"},
    ],
)
def test_settings_that_are_wrong_are_one_kind_of_error(environ, theirs) -> None:
    """Whichever client they are for."""
    with pytest.raises(ConfigError):
        open_sink(environ({}, theirs))


def test_another_transport_is_used_through_the_client_of_its_own(environ, tmp_path) -> None:
    """A file of OpenLineage's own that names one is honoured, so that only the command has to be swapped."""
    log = tmp_path / "events"
    tmp_path.joinpath("openlineage.yml").write_text(
        f"transport: {{type: file, log_file_path: '{log}', append: true}}\n"
    )
    sink = open_sink(environ({}, {}))
    assert isinstance(sink, UpstreamSink)
    for state in ("START", "COMPLETE"):
        sink.emit(
            {
                "eventType": state,
                "eventTime": "2026-11-29T12:00:00.000Z",
                "producer": "https://example.com/p",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": "0192aaaa-0000-7000-8000-000000000001", "facets": {}},
                "job": {"namespace": "n", "name": "j", "facets": {}},
                "inputs": [{"namespace": "d", "name": "i", "facets": {}}],
                "outputs": [{"namespace": "d", "name": "o", "facets": {}, "outputFacets": {}}],
            }
        )
    assert sink.close(1)
    lines = log.read_text().splitlines()
    assert ['"START"' in lines[0], '"COMPLETE"' in lines[1], len(lines)] == [True, True, 2]


def test_an_event_that_another_transport_loses_is_counted(environ, tmp_path) -> None:
    """Its fault is a warning, and `close` says that something was lost."""
    tmp_path.joinpath("openlineage.yml").write_text(
        f"transport: {{type: file, log_file_path: '{tmp_path}/absent/folder/events', append: true}}\n"
    )
    sink = open_sink(environ({}, {}))
    sink.emit({"job": "no event"})
    assert not sink.close(1)
