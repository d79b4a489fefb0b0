"""One running Airflow for all scenarios of a class."""

from __future__ import annotations

import pytest
from support.airflow import Airflow, environment
from support.airflow_scene import TOKEN, Scene


@pytest.fixture(scope="class")
def running(request, tmp_path_factory):
    """Give a scene of the Airflow that the class names, running."""
    name = request.cls.version
    with Airflow(environment(name), tmp_path_factory.mktemp(f"airflow{name}")) as airflow:
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
