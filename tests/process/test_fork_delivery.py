"""Emitting around forks and exits: what ``emit()`` returned from arrives, and nothing hangs."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict

import pytest
from support.raw_server import RawServer, answer, delay
from support.scripts import run_script

TOKEN = "fork-test-token"


@pytest.fixture
def server():
    """Give a server that takes everything."""
    with RawServer() as server:
        yield server


def settings(server, tmp_path, delivery="auto", **more):
    """Return the transport's settings as JSON, for a script's ``sys.argv``."""
    values = {"url": server.url, "token": TOKEN, "spool_dir": str(tmp_path / "spool"), "delivery": delivery}
    return json.dumps(values | more)


def steps(server):
    """Return the steps of each run in the order of arrival."""
    runs = defaultdict(list)
    for body in server.bodies:
        runs[body["run"]["runId"]].append(body["eventType"])
    return dict(runs)


@pytest.mark.parametrize("delivery", ["auto", "background", "inline"])
def test_a_transport_inherited_over_a_fork(server, tmp_path, delivery):
    """The child's event is delivered before ``os._exit``, and the parent's delivery goes on, all in order."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        transport.emit(event("START", "r"))
        if (pid := os.fork()) == 0:
            transport.emit(event("RUNNING", "r"))
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        transport.emit(event("COMPLETE", "r"))
        assert transport.close()
    """
    run_script(tmp_path, code, settings(server, tmp_path, delivery))
    # With threads forced on it, a child may end in the middle of a delivery, which then is made again.
    arrived = steps(server)["r"]
    if delivery == "background":
        arrived = [step for step, _ in itertools.groupby(arrived)]
    assert arrived == ["START", "RUNNING", "COMPLETE"]


def test_a_transport_made_in_a_forked_child(server, tmp_path):
    """As Airflow does for each task event: by the child's ``os._exit`` its event has arrived."""
    code = """
        if (pid := os.fork()) == 0:
            TrueWatchTransport(json.loads(sys.argv[1])).emit(event("START", "r"))
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        os._exit(0)
    """
    run_script(tmp_path, code, settings(server, tmp_path))
    assert steps(server) == {"r": ["START"]}


@pytest.mark.parametrize(
    ("delivery", "emits"), [("auto", 0), ("auto", 1), ("background", 1), ("inline", 1), ("spool", 1)]
)
def test_close_in_a_forked_child_never_hangs(tmp_path, delivery, emits):
    """``close(-1)`` in a child of a parent that is in the middle of a delivery returns, whatever the child did."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        parent = threading.Thread(target=transport.emit, args=(event("START", "parent"),))
        parent.start()
        time.sleep(0.2)
        if (pid := os.fork()) == 0:
            signal.alarm(10)
            if int(sys.argv[2]):
                transport.emit(event("START", "child"))
            start = time.monotonic()
            transport.close(-1)
            os._exit(time.monotonic() - start > 3)
        parent.join()
        assert os.waitpid(pid, 0)[1] == 0
        os._exit(0)
    """
    with RawServer(default=delay(0.5, answer(200))) as server:
        run_script(tmp_path, code, settings(server, tmp_path, delivery), str(emits))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing(server, tmp_path, method):
    """Events of child processes arrive by the time they are joined, whichever way they were started."""
    code = """
        import multiprocessing

        def work(settings, number):
            TrueWatchTransport(settings).emit(event("START", f"child-{number}"))

        if __name__ == "__main__":
            settings = json.loads(sys.argv[1])
            transport = TrueWatchTransport(settings)
            transport.emit(event("START", "parent"))
            context = multiprocessing.get_context(sys.argv[2])
            children = [context.Process(target=work, args=(settings, number)) for number in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join(20)
                assert child.exitcode == 0, child
            assert transport.close()
    """
    run_script(tmp_path, code, settings(server, tmp_path), method)
    assert steps(server) == {run: ["START"] for run in ("child-0", "child-1", "parent")}


FORKS_UNDER_LOAD = """
    transport = TrueWatchTransport(json.loads(sys.argv[1]))
    stop, emitted = threading.Event(), []

    def work(name):
        number = 0
        while not stop.is_set():
            transport.emit(event("RUNNING", f"{name}-{number}"))
            emitted.append(f"{name}-{number}")
            number += 1
            time.sleep(0.005)

    threads = [threading.Thread(target=work, args=(f"thread-{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for number in range(int(sys.argv[2])):
        if (pid := os.fork()) == 0:
            signal.alarm(20)
            transport.emit(event("RUNNING", f"child-{number}"))
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        assert status == 0, f"child {number}: {status}"
        emitted.append(f"child-{number}")
    stop.set()
    for thread in threads:
        thread.join()
    assert transport.close()
    print(json.dumps(emitted))
"""


def _forks_under_load(server, tmp_path, forks, timeout):
    given = settings(server, tmp_path, "background", exit_budget=20)
    emitted = json.loads(run_script(tmp_path, FORKS_UNDER_LOAD, given, str(forks), timeout=timeout))
    assert {*emitted} == {*steps(server)}
    assert len(emitted) > forks


def test_forks_while_threads_emit(server, tmp_path):
    """No child hangs on what a lost thread held, and all events of threads and children arrive."""
    _forks_under_load(server, tmp_path, 30, timeout=40)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_500_forks_while_threads_emit(server, tmp_path):
    """The same with 500 forks."""
    _forks_under_load(server, tmp_path, 500, timeout=380)


@pytest.mark.parametrize("delivery", ["auto", "inline"])
@pytest.mark.parametrize(
    "ending",
    [
        "transport.emit(event('START', 'r'))",
        "transport.emit(event('START', 'r')); sys.exit()",
        "transport.close(); transport.emit(event('START', 'r'))",
        "transport.close(); transport.emit(event('START', 'r')); os._exit(0)",
        "TrueWatchTransport(json.loads(sys.argv[1])).emit(event('START', 'r'))",
        "atexit.register(lambda: transport.emit(event('START', 'r')))",
    ],
)
def test_an_event_just_before_the_end(server, tmp_path, delivery, ending):
    """Right before exit, after close, from a client that is dropped, or while the interpreter ends: it arrives."""
    code = f"transport = TrueWatchTransport(json.loads(sys.argv[1]))\n{ending}\n"
    run_script(tmp_path, code, settings(server, tmp_path, delivery))
    assert steps(server) == {"r": ["START"]}


def test_an_event_of_an_exit_handler_older_than_ours(server, tmp_path):
    """Exit handlers run last in, first out: one that was registered before our import emits after our close."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        transport.emit(event("START", "r"))
        from truewatch_lineage import endings
        atexit.unregister(endings._close_all)
        atexit.register(lambda: transport.emit(event("COMPLETE", "r")))
        atexit.register(endings._close_all)
    """
    run_script(tmp_path, code, settings(server, tmp_path))
    assert steps(server) == {"r": ["START", "COMPLETE"]}


def test_an_error_that_ends_the_process_loses_nothing(server, tmp_path):
    """A job that dies of its own exception still reports its FAIL."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        sys.excepthook = lambda *_: None
        atexit.register(os._exit, 0)
        transport.emit(event("FAIL", "r"))
        from truewatch_lineage import endings
        atexit.register(endings._close_all)
        raise RuntimeError
    """
    run_script(tmp_path, code, settings(server, tmp_path))
    assert steps(server) == {"r": ["FAIL"]}


def test_threads_that_emit_inline_at_once(server, tmp_path):
    """Each run's events arrive in order, and no emit takes longer than its budget."""
    code = """
        transport = TrueWatchTransport(json.loads(sys.argv[1]))
        slowest = [0.0]

        def work(name):
            for step in ("START", "RUNNING", "RUNNING", "COMPLETE"):
                start = time.monotonic()
                transport.emit(event(step, name))
                slowest.append(time.monotonic() - start)

        threads = [threading.Thread(target=work, args=(f"thread-{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert transport.close()
        print(max(slowest))
    """
    slowest = run_script(tmp_path, code, settings(server, tmp_path, "inline"))
    expected = ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert steps(server) == {f"thread-{number}": expected for number in range(8)}
    assert float(slowest) < 2.5
