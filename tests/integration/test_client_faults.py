"""Inputs and servers that today's OpenLineage clients lose events to, given to the same client with our transport.

Each starts from a public bug report of openlineage-python. Forks are in tests/process/test_fork_delivery.py, secrets in
test_token_nowhere.py.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import socket
import time
import uuid

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, Run, RunEvent, RunState
from support.events import PRODUCER, SCHEMA, TIME, event_with, parsed, run_event
from support.private import write_private
from support.raw_server import RawServer, answer
from support.spooled import spooled

from truewatch_lineage.errors import ConfigError

TYPE = "truewatch_lineage.TrueWatchTransport"
TOKEN = "client-test-token"
RUN = "0195A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B"


@pytest.fixture
def server():
    """Give a server that takes everything."""
    with RawServer() as server:
        yield server


@pytest.fixture
def make(tmp_path):
    """Give a maker of clients with our transport; they are closed afterwards."""
    made = []

    def make(url, **settings):
        config = {"type": TYPE, "url": url, "token": TOKEN, "spool_dir": str(tmp_path / "spool"), "delivery": "inline"}
        made.append(OpenLineageClient(config={"transport": {**config, **settings}}))
        return made[-1]

    yield make
    for client in made:
        client.transport.close(0)


def steps(server):
    """Return the types of the events that arrived."""
    return [body["eventType"] for body in server.bodies]


def test_a_receiver_that_is_down_loses_nothing(make):
    """Both events arrive in order once it is back; the first one from the spool."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = make(f"http://127.0.0.1:{port}", delivery="background")
    client.emit(run_event(RunState.START, run_id=RUN))
    time.sleep(0.1)
    with RawServer(port=port) as server:
        client.emit(run_event(RunState.COMPLETE, run_id=RUN))
        server.wait_for(2, timeout=8)
        assert steps(server) == ["START", "COMPLETE"]


def test_close_tells_what_waits_as_often_as_it_is_asked(make):
    """A second close does no work, and says the same as the first."""
    with RawServer(default=answer(503, {"Retry-After": "60"})) as server:
        transport = make(server.url).transport
        assert transport.close()
        transport.emit(run_event())
        assert [transport.close(), transport.close()] == [False, False]


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0"}, {"Retry-After": "1"}, {"Retry-After": "soon"}])
def test_429_is_tried_again_with_and_without_retry_after(make, headers):
    """Upstream gives up at once where the header is missing."""
    with RawServer([answer(429, headers)]) as server:
        client = make(server.url, delivery="background")
        client.emit(run_event())
        server.wait_for(2, timeout=6)
        assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0"}])
def test_413_is_never_tried_again(make, tmp_path, headers):
    """Upstream sends it six times where there is a Retry-After."""
    with RawServer(default=answer(413, headers)) as server:
        client = make(server.url)
        client.emit(run_event())
        client.transport.close(0.2)
        assert len(server.requests) == 1
    assert spooled(tmp_path / "spool").dead == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_loses_nothing(make, tmp_path, caplog, status):
    """Upstream turns it into a GET without a body and calls that success."""
    with RawServer() as other, RawServer([answer(status, {"Location": f"{other.url}/moved"})]) as server:
        client = make(server.url)
        client.emit(run_event())
        client.transport.close(0.2)
        assert (len(server.requests), other.requests) == (1, [])
        assert f"redirected to {other.url}/moved" in caplog.text
    found = spooled(tmp_path / "spool")
    assert (found.pending, found.state) == (1, "parked")


class _Colour(enum.Enum):
    RED = "red"


def test_values_that_json_lacks_go_out_as_strict_json(make, server):
    """Upstream sends NaN, drops elements of lists and fails on keys of several types."""
    values = {
        "dec": decimal.Decimal("1.10"),
        "raw": b"\x00\xff",
        "when": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc),
        "took": dt.timedelta(seconds=5),
        "id": uuid.UUID(int=1),
        "nan": float("nan"),
        "inf": float("-inf"),
        "colour": _Colour.RED,
        "path": pathlib.PurePosixPath("/x"),
        "lone": "\ud800bad",
        "text": "订单",
        "keys": {1: "a", "b": 2},
        "other": object(),
    }
    make(server.url).emit(event_with(**values))
    arrived = parsed(server.requests[0].decoded)["run"]["facets"]["x"]
    assert {name: arrived[name] for name in values} == {
        "dec": "1.10",
        "raw": "AP8=",
        "when": "2026-01-02T03:04:05+00:00",
        "took": 5,
        "id": "00000000-0000-0000-0000-000000000001",
        "nan": None,
        "inf": None,
        "colour": "red",
        "path": "/x",
        "lone": "\ufffdbad",
        "text": "订单",
        "keys": {"1": "a", "b": 2},
        "other": "<<non-serializable: object>>",
    }


@pytest.mark.parametrize("place", ["OPENLINEAGE__TRANSPORT__TOKEN", "TRUEWATCH_LINEAGE_TOKEN"])
@pytest.mark.parametrize(
    "token", ["12345", "007", "9e12", "1E400", "true", "null", "-5", "NaN", "123456789012345678901234567890", "tok_abc"]
)
def test_a_token_that_looks_like_json_goes_out_byte_for_byte(server, tmp_path, monkeypatch, token, place):
    """Upstream parses the variable before the transport sees it."""
    environ = {"TYPE": TYPE, "URL": server.url, "SPOOL_DIR": str(tmp_path / "spool"), "DELIVERY": "inline"}
    for name, value in environ.items():
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__{name}", value)
    monkeypatch.setenv(place, token)
    client = OpenLineageClient()
    client.emit(run_event())
    client.transport.close(0.2)
    assert server.requests[0].header("Authorization") == f"Bearer {token}"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"endpont": "/x"}, "endpoint"),
        ({"compresion": "gzip"}, "compression"),
        ({"tokn": TOKEN}, "token"),
        ({"urlParams": {"token": "t"}}, "urlParams"),
        ({"auth": {"type": "api_key", "tokn": TOKEN}}, "auth"),
        ({"verify": False}, "verify"),
    ],
)
def test_a_misspelt_or_foreign_key_is_an_error_that_names_it(make, server, wrong, named):
    """Upstream drops it without a word."""
    given = wrong if "auth" not in wrong else {**wrong, "token": None}
    with pytest.raises(ConfigError, match=named) as caught:
        make(server.url, **given)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "endpoint", "path"),
    [
        ("", None, "/v1/write/openlineage"),
        ("/", None, "/v1/write/openlineage"),
        ("/gateway", None, "/gateway/v1/write/openlineage"),
        ("/gateway/", "/v1/write/openlineage", "/gateway/v1/write/openlineage"),
        ("/gateway", "v1/write/openlineage", "/gateway/v1/write/openlineage"),
        ("/gateway/v1/write/openlineage", None, "/gateway/v1/write/openlineage"),
    ],
)
def test_url_and_endpoint_join_by_one_rule_and_retries_do_not_depend_on_it(make, base, endpoint, path):
    """Upstream drops the base path, or with it the retries."""
    with RawServer([answer(503)]) as server:
        client = make(server.url + base, delivery="background", **({"endpoint": endpoint} if endpoint else {}))
        client.emit(run_event())
        assert [request.path for request in server.wait_for(2, timeout=6)] == [path, path]


@pytest.mark.parametrize("url", ["?token=SECRET-123", "/v1/write/openlineage?token=SECRET-123"])
def test_a_token_in_the_url_is_refused_with_the_fix(make, server, url):
    """It would end in every log on the way."""
    with pytest.raises(ConfigError, match="token") as caught:
        make(server.url + url)
    assert "SECRET-123" not in str(caught.value)


def test_netrc_and_proxy_variables_change_nothing(make, server, tmp_path, monkeypatch):
    """Upstream lets netrc replace the token and sends loopback traffic through the proxy."""
    netrc = write_private(tmp_path / "netrc", "machine 127.0.0.1 login bob password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with RawServer() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        make(server.url).emit(run_event())
        assert proxy.connections == 0
    assert server.requests[0].header("Authorization") == f"Bearer {TOKEN}"


class _Subclass(RunEvent):
    """What upstream's own ``emit`` refuses."""


def _event(kind=RunEvent, **changes):
    parts = {"eventType": RunState.START, "eventTime": TIME, "run": Run(runId=RUN), "job": Job("n", "j")}
    return kind(**{**parts, "producer": PRODUCER, **changes})


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (_event(eventTime="2026-11-03T10:53:52.427343"), {"eventTime": "2026-11-03T10:53:52.427343"}),
        (_event(eventType="complete"), {"eventType": "COMPLETE"}),
        (_event(run=Run(runId="urn:uuid:" + RUN)), {"run": {"runId": "urn:uuid:" + RUN, "facets": {}}}),
        (_event(run=Run(runId="0" * 32)), {"run": {"runId": "0" * 32, "facets": {}}}),
        (_event(run=Run(runId=RUN)), {"run": {"runId": RUN, "facets": {}}}),
        (_event(job=Job("", "")), {"job": {"namespace": "", "name": "", "facets": {}}}),
        (_event(inputs=[InputDataset(namespace="s3://b/", name="x")]), {}),
        (_event(producer="me"), {"producer": "me"}),
        (_event(_Subclass), {"eventType": "START"}),
        ({"eventType": "start", "run": {"runId": RUN}, "job": {"namespace": "n", "name": "j"}}, {"schemaURL": SCHEMA}),
    ],
)
def test_odd_events_arrive_as_they_are(make, server, event, expected):
    """Only eventType's case and a missing schemaURL are mended; runId, names and times never."""
    make(server.url).transport.emit(event)
    arrived = server.bodies[0]
    assert {name: arrived[name] for name in expected} == expected
