"""``spark_inject``: what OpenLineage's provider writes into Spark's properties, by its own function."""

from __future__ import annotations

import json

import pytest
from support.airflow import VERSIONS, environment
from support.airflow_connections import INSIDE, Connections

TOKEN = "tkn_0123456789"
LATE = "truewatch_lineage_airflow.transport.AirflowTransport"
PLAIN = "truewatch_lineage.TrueWatchTransport"
WARNING = "spark_inject is on"
BEARER = {
    "type": "http",
    "url": "https://openway.example.com:8443",
    "endpoint": "/base/v1/write/openlineage",
    "timeoutInMillis": "7000",
    "compression": "gzip",
    "auth.type": "api_key",
    "auth.apiKey": TOKEN,
}
"""As OpenLineage's Java client reads them: a bare origin, a token without ``Bearer``, a compression that it knows."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=VERSIONS)
def connections(request, tmp_path):
    """Give connections of each version, with one of a destination that has a path and a port."""
    made = Connections(environment(request.param), tmp_path)
    made.write("https://openway.example.com:8443/base", TOKEN, timeout=7)
    return made


def injected(connections, transport, **env):
    """Return the transport's properties by their last names, and all that was said."""
    done = connections.environment.run(
        INSIDE / "spark_properties.py",
        home=connections.home,
        env={**connections.env, "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport), **env},
    )
    assert done.returncode == 0, done.stderr
    properties = json.loads(done.stdout)
    assert properties.pop("spark.app.name") == "x"
    return {name.removeprefix("spark.openlineage.transport."): value for name, value in properties.items()}, done.stderr


@pytest.mark.parametrize("kind", [LATE, PLAIN])
def test_spark_gets_the_destination_with_one_warning(connections, kind):
    """Both transports, by the same settings; the warning does not hold the token."""
    properties, told = injected(connections, {"type": kind, "spark_inject": True})
    assert properties == BEARER
    assert told.count(WARNING) == 1
    assert TOKEN not in told


def test_a_token_in_a_header_goes_into_a_header(connections):
    """``auth_method`` x_token, and no compression where there is to be none."""
    settings = {"type": LATE, "auth_method": "x_token", "compression": "none", "headers": {"X-Team": "data"}}
    properties, _ = injected(connections, settings, AIRFLOW__TRUEWATCH__SPARK_INJECT="True")
    expected = {
        name: value for name, value in BEARER.items() if name not in ("auth.type", "auth.apiKey", "compression")
    }
    assert properties == {**expected, "headers.X-Team": "data", "headers.X-Token": TOKEN}


@pytest.mark.parametrize("kind", [LATE, PLAIN])
def test_spark_gets_nothing_unless_it_is_asked_for(connections, kind):
    """The default, with a transport of a kind that the provider passes over."""
    properties, told = injected(connections, {"type": kind})
    assert properties == {}
    assert WARNING not in told


def test_a_destination_that_is_wrong_or_missing_injects_nothing_and_fails_no_task(connections):
    """The task that submits to Spark goes on."""
    connections.file.write_text("{}")
    assert injected(connections, {"type": LATE, "spark_inject": True})[0] == {}
