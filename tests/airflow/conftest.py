"""One running Airflow of each version, shared by all scenarios of a worker; versions run on workers of their own."""

from __future__ import annotations

import pytest
from support.airflow import Airflow, environment
from support.airflow_scene import TOKEN, Scene

VERSIONS = [pytest.param(name, marks=pytest.mark.xdist_group(f"airflow{name}")) for name in ("3", "2")]


@pytest.fixture(scope="session", params=VERSIONS)
def running(request, tmp_path_factory):
    """Give a scene of each version, its Airflow running."""
    with Airflow(environment(request.param), tmp_path_factory.mktemp(f"airflow{request.param}")) as airflow:
        yield Scene(airflow)


@pytest.fixture
def scene(running):
    """Give the scene; whatever happens in it, nothing is left over, and the token is in no file."""
    yield running
    left = running.spooled()
    if (left.pending, left.dead, left.state) != (0, 0, "ready"):
        running.reset()
        pytest.fail(f"left in the spool: {left}")
    assert running.files_with(TOKEN) == []
