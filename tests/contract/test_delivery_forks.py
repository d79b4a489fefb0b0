"""Delivery around a fork: parent and child share no connection, no permit and no pending question.

Each test forks in a script's process, since a fork of pytest's own would copy its threads' locks (3.12 warns of that).
"""

from __future__ import annotations

import textwrap

from support.scripts import run_script

PREAMBLE = """
import socket
from pathlib import Path
from support.destinations import EVENT_GZ, send, sender
from support.raw_server import RawServer, answer, delay
from truewatch_lineage.delivery.outcome import Verdict

def exit_code(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def _run(folder, code: str) -> None:
    run_script(folder, PREAMBLE + textwrap.dedent(code))


def test_after_a_fork_the_child_uses_connections_of_its_own(tmp_path) -> None:
    """Parent and child deliver at the same time over one sender, and neither reads the other's answer."""
    code = """
        with RawServer() as server, sender(server.url, connections=1) as to:
            assert send(to).verdict is Verdict.DELIVERED
            if (pid := os.fork()) == 0:
                before = len(list(Path("/dev/fd").iterdir()))
                delivered = all(send(to).verdict is Verdict.DELIVERED for _ in range(20))
                # The parent's descriptor was let go.
                os._exit(0 if delivered and len(list(Path("/dev/fd").iterdir())) == before else 1)
            assert {send(to).verdict for _ in range(20)} == {Verdict.DELIVERED}

            assert exit_code(pid) == 0
            assert len(server.requests) == 41
            assert server.connections == 2
    """
    _run(tmp_path, code)


def test_a_fork_while_all_connections_are_in_use_does_not_block_the_child(tmp_path) -> None:
    """The permits that lost threads hold in the child are not its own: it has its answer before the parent has."""
    code = """
        with RawServer([delay(2, answer())]) as server, sender(server.url, connections=1) as to:
            busy = threading.Thread(target=send, args=(to,))
            busy.start()
            server.wait_for(1)
            if (pid := os.fork()) == 0:
                os._exit(0 if to.send(EVENT_GZ, deadline=time.monotonic() + 5).verdict is Verdict.DELIVERED else 1)

            assert exit_code(pid) == 0
            assert busy.is_alive()
            busy.join()
    """
    _run(tmp_path, code)


def test_a_forked_child_asks_for_itself(tmp_path) -> None:
    """No thread survives a fork: the parent's pending question is none of the child's."""
    code = """
        real, seconds = socket.getaddrinfo, [2.0]

        def slow(host, *args, **more):
            time.sleep(seconds[0])
            return real("127.0.0.1", *args, **more)

        socket.getaddrinfo = slow
        with RawServer() as server, sender(f"http://lineage.example:{server.port}") as to:
            assert send(to, 0.1).verdict is Verdict.RETRY
            if (pid := os.fork()) == 0:
                seconds[0] = 0.0
                os._exit(0 if send(to, 5).verdict is Verdict.DELIVERED else 1)

            assert exit_code(pid) == 0
    """
    _run(tmp_path, code)
