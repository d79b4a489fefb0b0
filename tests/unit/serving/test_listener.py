"""Connections count from accept on, and a listener closes those above its limit."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import resource
import socket

import pytest

from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.listener import ExhaustedError
from truewatch_lineage.serving.server import listen


@pytest.fixture
def counters():
    """Return counts of nothing yet."""
    return Counters()


@pytest.fixture
def listener(counters):
    """Return one that keeps two connections."""
    with contextlib.closing(listen("127.0.0.1", 0, owner="gateway")) as found:
        found.setblocking(False)
        found.count(counters, 2)
        yield found


@pytest.fixture
def connect(listener):
    """Return what connects to it; all such connections are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(listener.getsockname(), timeout=5))


def test_a_connection_counts_until_it_is_closed(listener, counters, connect):
    """Closing it twice gives back one place."""
    connect()
    accepted, address = listener.accept()
    assert (address[0], counters.now, counters.peak) == ("127.0.0.1", 1, 1)
    assert (accepted.family, accepted.proto) == (socket.AF_INET, socket.IPPROTO_TCP)
    accepted.close()
    accepted.close()
    assert (counters.now, counters.peak) == (0, 1)


def test_a_forgotten_connection_gives_back_its_place(listener, counters, connect):
    """Otherwise a fault would take places for ever."""
    connect()
    accepted, _ = listener.accept()
    os.close(accepted.detach())
    del accepted
    gc.collect()
    assert counters.now == 0


def test_above_the_limit_connections_are_closed_until_there_is_room(listener, counters, connect, caplog):
    """At once, so that they take no descriptors, and with one line for all of them."""
    kept = [connect() for _ in range(2)]
    accepted = [listener.accept()[0] for _ in kept]
    others = [connect() for _ in range(5)]
    with pytest.raises(BlockingIOError):
        listener.accept()
    for other in others:
        assert other.recv(1) == b""
    assert [record.getMessage() for record in caplog.records] == ["There are 2 connections, and no more are let in."]
    accepted[0].close()
    connect()
    with contextlib.closing(listener.accept()[0]):
        assert counters.now == 2
    accepted[1].close()


def test_where_many_are_closed_others_have_their_turn(listener, connect):
    """And the rest at the next call."""
    for _ in range(103):
        connect()
    kept = [listener.accept()[0] for _ in range(2)]
    with pytest.raises(ConnectionAbortedError):
        listener.accept()
    with pytest.raises(BlockingIOError):
        listener.accept()
    for one in kept:
        one.close()


def test_without_descriptors_it_says_so_once_and_rests(listener, connect, caplog):
    """For asyncio asks a thousand times in a row, and would write a traceback for each."""
    connect()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
        with pytest.raises(ExhaustedError) as raised:
            listener.accept()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert raised.value.errno == errno.EMFILE
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert [record.getMessage()[:31] for record in caplog.records] == ["No connection can be accepted n"]
