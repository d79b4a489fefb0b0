"""A receiver for the tests of commands, empty for each test, and a guarded broker: one of each a module."""

from __future__ import annotations

import pytest
from support.certificates import Authority
from support.cli import TOKEN
from support.kafka import PASSWORD, Broker
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


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Give an authority that signs the broker's certificate."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, authority):
    """Give a broker with a listener for a password and one for TLS; it is the module's own, to be frozen or killed."""
    with Broker(tmp_path_factory.mktemp("guarded"), password=PASSWORD, authority=authority) as broker:
        yield broker
