"""Clients that connect and say nothing, at servers that may have few files open."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import time
from pathlib import Path

import pytest
from support.airflow_processes import wait_until
from support.certificates import Authority
from support.gateway import Gateway
from support.receiver import Receiver
from tables.receiver_rules import EVENT

FILES = 700
HASTE = (
    "from truewatch_lineage.serving import connection, server; connection.HEAD_SECONDS = server.HANDSHAKE_SECONDS = 3; "
)
"""Instead of 10 seconds."""


def program(begin, command):
    """Return what Python runs: a server that may open ``FILES``."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES})); "
    return ("-c", f"{limit}{begin}from truewatch_lineage.cli import main; main({command})")


@pytest.fixture(params=["receiver", "gateway", "gateway with TLS"])
def server(request, tmp_path):
    """Each kind of server, in haste."""
    if request.param == "receiver":
        begin = HASTE + "import sys; sys.argv.insert(1, 'receive'); "
        found = Receiver(program=program(begin, ""))
    elif request.param == "gateway":
        found = Gateway(program=program(HASTE, ""))
    else:
        authority = Authority(tmp_path)
        file = authority.key_and_certificate(tmp_path / "server.pem")
        args = ["--tls-cert", file, "--tls-key", file]
        found = Gateway(program=program(HASTE, ""), args=args, authority=authority.file)
    with found:
        yield found


@contextlib.contextmanager
def silent(server, number):
    """Connect so many times and say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        yield


def descriptors(server):
    """Return how many a server has open."""
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def memory(server):
    """Return a server's resident memory in MiB."""
    return int(Path(f"/proc/{server.pid}/status").read_text("ascii").partition("VmRSS:")[2].split()[0]) / 1024


def answered(server, seconds):
    """Take an event within so many seconds, with whatever attempts that takes; return the seconds it took."""
    began = time.monotonic()
    while True:
        with contextlib.suppress(OSError):
            if server.post(EVENT, timeout=2).status == 200:
                return time.monotonic() - began
        assert time.monotonic() - began < seconds, server.stderr()[-2000:]
        time.sleep(0.1)


@pytest.mark.linux
def test_silence_locks_nobody_out(server) -> None:
    """Connections are counted before TLS, cut off in time, and leave neither memory nor lines; few more are let in."""
    answered(server, 5)
    before, usual = memory(server), descriptors(server)
    with silent(server, 450):
        for _ in range(20):  # a busy machine takes them one by one
            assert descriptors(server) < usual + 320
            time.sleep(0.05)
        answered(server, 20)
        wait_until(lambda: descriptors(server) < usual + 20, 10, lambda: f"{descriptors(server)} descriptors")
    assert memory(server) < before + 70
    log = server.stderr()
    assert "Traceback" not in log
    assert len(log) < 4000
    assert log.count("connections, and no more are let in") == 1


@pytest.mark.linux
def test_broken_handshakes_leave_no_memory(tmp_path) -> None:
    """Thousands of them, one after the other, take no more than hundreds."""
    file = (authority := Authority(tmp_path)).key_and_certificate(tmp_path / "server.pem")
    with Gateway(args=["--tls-cert", file, "--tls-key", file], authority=authority.file) as gateway:
        answered(gateway, 5)
        before = memory(gateway)
        for _ in range(4000):
            with socket.create_connection(("127.0.0.1", gateway.port), timeout=10) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                with contextlib.suppress(ConnectionError):
                    client.recv(1)
        answered(gateway, 5)
        assert memory(gateway) < before + 130
        assert "Traceback" not in gateway.stderr()


@pytest.mark.linux
def test_a_few_silent_clients_are_not_noticed(server) -> None:
    """As many as there are places for."""
    with silent(server, 50):
        assert answered(server, 5) < 2.9, "it has waited for the silent ones' end"


@pytest.mark.linux
def test_without_descriptors_the_log_stays_small(server) -> None:
    """Where others take them all, the server says so once, does not spin, and goes on once there are some."""
    answered(server, 5)
    time.sleep(0.2)
    most = descriptors(server) + 3
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (most, FILES))
    with silent(server, 200):
        began = busy(server)
        time.sleep(2)
        assert busy(server) - began < 1
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
    answered(server, 10)
    log = server.stderr()
    assert "Traceback" not in log
    assert log.count("No connection can be accepted now: Too many open files.") == 1


def busy(server):
    """Return the seconds of processors that a server has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
