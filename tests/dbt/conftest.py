"""A real dbt for the tests: made once, then shared by all processes that run tests."""

from __future__ import annotations

import pytest
from support.dbt import environment


@pytest.fixture(scope="session")
def dbt():
    """The newest dbt that can be installed, as ``requirements/dbt.txt`` pins it."""
    return environment()
