"""The deadline of an attempt: kept by every way to read and write, and by each thread or greenlet for itself."""

from __future__ import annotations

import contextvars
import math
import socket
import threading
import time

import pytest

from truewatch_lineage.delivery.sockets import LONGEST_SECONDS, DeadlineSocket, remaining, until


def test_an_inner_deadline_ends_with_its_block():
    """After it the outer one counts again, and outside of any there is none."""
    now = time.monotonic()
    with until(now + 100):
        with until(now + 10):
            assert remaining() <= 10
        assert 90 < remaining() <= 100
        with pytest.raises(TimeoutError), until(now - 1):
            remaining()
        assert 90 < remaining() <= 100
    assert remaining() == LONGEST_SECONDS


@pytest.mark.parametrize("deadline", [math.inf, 1e300])
def test_what_is_left_is_a_number_that_a_socket_takes(deadline):
    """``settimeout`` refuses infinity, as do locks."""
    with until(deadline), socket.socket() as sock:
        sock.settimeout(remaining())
        assert threading.Lock().acquire(timeout=remaining())


def test_a_context_of_its_own_has_a_deadline_of_its_own():
    """Greenlets share a thread, and so what is the thread's, but each has a context."""
    other = contextvars.Context()
    with until(time.monotonic() + 5):
        assert other.run(remaining) == LONGEST_SECONDS
    assert remaining() == LONGEST_SECONDS


@pytest.fixture
def pair():
    """Give two connected sockets, ours first."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with DeadlineSocket() as ours:
            ours.connect(listener.getsockname())
            theirs, _ = listener.accept()
            with theirs:
                yield ours, theirs


class NamingSocket(socket.socket):
    """A socket whose methods take names, as gevent's do, and its ``sendall`` passes one on to ``send``."""

    def recv(self, size, flags=0):
        return super().recv(size, flags)

    def recv_into(self, buffer, nbytes=0, flags=0):
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data, flags=0, timeout=None):
        assert timeout is None or timeout > 0
        return super().send(data, flags)

    def sendall(self, data, flags=0):
        while data:
            data = data[self.send(data, flags, timeout=1.0) :]


class Named(DeadlineSocket, NamingSocket):
    """Our socket as it is under ``monkey.patch_all()``: its base takes names."""


def test_sockets_take_their_arguments_by_name(pair):
    """Under gevent nothing would be delivered otherwise."""
    ours, theirs = pair
    named = Named(fileno=ours.detach())
    with named, until(time.monotonic() + 5):
        named.sendall(data=b"abc", flags=0)
        assert theirs.recv(10) == b"abc"
        assert named.send(data=b"d", flags=0, timeout=1.0) == 1
        theirs.sendall(b"efgh")
        assert named.recv(size=2, flags=0) == b"ef"
        buffer = bytearray(2)
        assert named.recv_into(buffer=buffer, nbytes=2) == 2
        assert buffer == b"gh"


def test_every_read_ends_at_the_deadline(pair):
    """Also where the socket was given more time before."""
    ours, _ = pair
    ours.settimeout(60)
    for read in (lambda: ours.recv(1), lambda: ours.recv_into(bytearray(1))):
        began = time.monotonic()
        with until(began + 0.1), pytest.raises(TimeoutError):
            read()
        assert time.monotonic() - began < 2
