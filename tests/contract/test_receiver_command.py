"""``truewatch-lineage receive`` as a process: its output, its exit codes, and who may talk to it."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time

import pytest
from support.receiver import DATAWAY, Receiver
from tables.receiver_rules import EVENT

COMMAND = [sys.executable, "-m", "truewatch_lineage.cli.receive"]


def run(*args, program=COMMAND):
    """Run the command to its end."""
    return subprocess.run([*program, *args], capture_output=True, text=True, timeout=20, check=False)


@pytest.fixture(scope="module")
def receiver():
    """A receiver that asks for no token."""
    with Receiver() as running:
        yield running


def test_the_url_is_all_of_stdout(receiver):
    """Results on stdout, the rest on stderr: a script can read the url of a free port."""
    assert receiver.url == f"http://127.0.0.1:{receiver.port}"
    assert receiver.port > 0


def test_the_banner_says_what_it_is(receiver):
    """A test receiver; nothing is forwarded."""
    assert "A test receiver" in receiver.stderr()
    assert "nothing is forwarded" in receiver.stderr()


def test_the_access_log_leaves_queries_out(receiver):
    """Section 9: a line a request, without what stands behind the question mark or in an unknown path."""
    receiver.request("POST", f"{DATAWAY}?token=hidden-query", json.dumps(EVENT).encode())
    receiver.request("GET", "/hidden-path%0aforged")
    receiver.wait_for_log(f"POST {DATAWAY} 200")
    log = receiver.wait_for_log("GET other 404")
    assert "hidden" not in log
    assert "forged" not in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_two_seconds(number):
    """With idle connections, half requests and a delayed one, the exit is quick, quiet and 0."""
    body = json.dumps(EVENT).encode()
    head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % (DATAWAY.encode(), len(body))
    with Receiver() as receiver, contextlib.ExitStack() as stack:
        receiver.faults([{"delay": 60}])
        for data in (head + body, head + body[:9], b"POST", b""):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port)))
            client.sendall(data)
        time.sleep(0.1)
        began = time.monotonic()
        assert receiver.stop(number) == 0
        assert time.monotonic() - began < 2
        assert "Traceback" not in receiver.stderr()


def test_a_taken_port_is_named(receiver):
    """Exit 2 and how to mend it."""
    done = run("--port", str(receiver.port))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {receiver.port} on 127.0.0.1 is taken" in done.stderr
    assert "--port" in done.stderr


USAGE = [
    (["--host", "0.0.0.0"], "--token-file"),
    (["--host", "192.0.2.1", "--no-token"], "192.0.2.1"),
    (["--token", "a", "--no-token"], "contradict"),
    (["--token", ""], "empty"),
    (["--token", "two words"], "space"),
    (["--token", "Bearer abc"], "space"),
    (["--token", "tökén"], "non-ASCII"),
    (["--token-file", "/nonexistent"], "/nonexistent"),
    (["--data", "/nonexistent/events"], "/nonexistent/events"),
    (["--port", "70000"], "70000"),
]


@pytest.mark.parametrize(("args", "named"), USAGE)
def test_wrong_options_exit_2(args, named):
    """Section 7: 2 is usage or settings; the message names what to mend and never a token."""
    done = run("--port", "0", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert not any(token in done.stderr for token in ("two words", "Bearer abc", "tökén"))


def test_tokens_come_from_files_too(tmp_path):
    """One token a file, its newline trimmed; any of several is accepted."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"token-{name}\n")
    files = [part for name in ("one", "two") for part in ("--token-file", str(tmp_path / name))]
    with Receiver(args=files, tokens=["token-three"]) as receiver:
        statuses = {
            name: receiver.post(EVENT, headers={"X-Token": f"token-{name}"}).status
            for name in ("one", "two", "three", "four")
        }
        assert statuses == {"one": 200, "two": 200, "three": 200, "four": 401}
        assert "3 token" in receiver.stderr()


@pytest.mark.parametrize("package", ["graphlay", "httptools", "starlette", "uvicorn"])
def test_a_missing_extra_is_named(package):
    """Exit 2 and the pip command."""
    blocked = (
        f"import sys; sys.modules[{package!r}] = None; from truewatch_lineage.cli.receive import command; command()"
    )
    done = run(program=[sys.executable, "-c", blocked])
    assert done.returncode == 2
    assert "pip install 'truewatch-lineage[receiver]'" in done.stderr


def test_help_shows_an_example():
    """--help needs no extra and shows how to send the first event."""
    blocked = (
        "import sys; sys.modules['uvicorn'] = sys.modules['starlette'] = None;"
        "from truewatch_lineage.cli.receive import command; command()"
    )
    done = run("--help", program=[sys.executable, "-c", blocked])
    assert done.returncode == 0
    assert "truewatch-lineage receive --port 8765" in done.stdout


SITES = [
    ({"Host": "127.0.0.1"}, 200),
    ({"Host": "localhost:8765"}, 200),
    ({"Host": "receiver.localhost"}, 200),
    ({"Host": "[::1]:8765"}, 200),
    ({"Host": "evil.example"}, 403),
    ({"Host": "127.0.0.1.evil.example"}, 403),
    ({"Host": "localhost.evil.example:80"}, 403),
    ({"Host": "evil.example@127.0.0.1x"}, 403),
    ({"Host": "[::1"}, 403),
    ({"Host": ""}, 403),
    ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
    ({"Host": "localhost:1", "Origin": "http://localhost:2"}, 403),
    ({"Host": "localhost:1", "Origin": "https://evil.example"}, 403),
    ({"Host": "localhost:1", "Origin": "null"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), SITES)
@pytest.mark.parametrize(("method", "path"), [("POST", DATAWAY), ("GET", "/api/events"), ("DELETE", "/api/faults")])
def test_other_sites_are_kept_out(receiver, headers, status, method, path):
    """Section 9: "on loopback Host and Origin are checked", so that no web page can read or send."""
    body = json.dumps(EVENT).encode() if method == "POST" else None
    assert receiver.request(method, path, body, headers).status == status
