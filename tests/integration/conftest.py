"""A receiver for the tests of commands: one a module, empty for each test."""

from __future__ import annotations

import pytest
from support.cli import TOKEN
from support.receiver import Receiver


@pytest.fixture(scope="module")
def module_receiver():
    """One receiver for all tests of a module."""
    with Receiver(tokens=[TOKEN]) as made:
        yield made


@pytest.fixture
def receiver(module_receiver):
    """The module's receiver, empty and well-behaved."""
    module_receiver.clear()
    return module_receiver


@pytest.fixture
def env(receiver, tmp_path):
    """Settings for the receiver, and a spool of the test's own."""
    return {"url": receiver.url, "token": TOKEN, "spool_dir": tmp_path / "spool"}
