"""The spool over forks: nothing lost, nothing hung, and the locks of the parent stay its own."""

from __future__ import annotations

import json
import sys
import textwrap

import pytest
from support.figures import show
from support.scripts import run_script
from support.spool_audit import audit

from truewatch_lineage.spool import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork")
SPOOL = """
import ctypes, subprocess
from pathlib import Path
from truewatch_lineage.errors import SpoolError, SpoolUnusableError
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from truewatch_lineage.spool.locks import FileLock

BINDING = Binding("default", "dataway", "http://localhost/v1")
FOLDER = Path(sys.argv[1])
ACCEPTED = os.open(FOLDER.parent / "accepted", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def put(store, lane):
    "Put one event, then write its id down."
    number = store.put([Entry(BINDING, lane, os.urandom(300), "START", "ns/job", None)])[0]
    os.write(ACCEPTED, b"%d\\n" % number)
    return number

def wait(pid, seconds=20):
    "Wait for a child, which may not hang; returns its exit code."
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGABRT)
    os.waitpid(pid, 0)
    sys.exit(f"child {pid} hung")
"""


def run(tmp_path, code, *arguments, timeout=50):
    """Run a script that works on the spool in ``tmp_path``; return its stdout and the ids it was promised."""
    out = run_script(tmp_path, SPOOL + textwrap.dedent(code), str(tmp_path / "spool"), *arguments, timeout=timeout)
    return out, [int(line) for line in (tmp_path / "accepted").read_text().split()]


def check(tmp_path, accepted):
    """Compare a spool with what was promised; return how many events it holds."""
    store = Store(tmp_path / "spool")
    found = audit(store)
    store.close()
    assert not found.faults
    assert len(accepted) == len(set(accepted))
    assert set(accepted) <= found.known
    assert not list((tmp_path / "spool").glob("*.corrupt-*"))
    return len(found.known)


@pytest.mark.parametrize("forks", [120, pytest.param(600, marks=[pytest.mark.slow, pytest.mark.timeout(300)])])
def test_forks_while_threads_put(tmp_path, forks, capsys):
    """Children and grandchildren put and end by ``os._exit(0)`` while four threads put, settle and tidy up."""
    code = """
    store = Store(FOLDER)
    leader = FileLock(FOLDER / "leader.lock")
    assert leader.try_acquire()
    stop = threading.Event()

    def work(name):
        attempt = 0
        while not stop.is_set():
            put(store, name)
            attempt += 1
            if attempt % 5 == 0:
                heads = [Settlement(one.id, attempt, "delivered") for one in store.heads(BINDING, 2)]
                store.settle(BINDING, heads, Standing(attempts=attempt))
            if attempt % 20 == 0:
                store.tidy()
            time.sleep(0.002)

    def child(depth):
        put(store, f"child {depth}")
        if depth and (pid := os.fork()) == 0:
            child(depth - 1)
        elif depth and wait(pid):
            os._exit(4)
        if leader.held or leader.try_acquire():
            os._exit(3)
        os._exit(0)

    threads = [threading.Thread(target=work, args=(f"thread {n}",), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    codes, forks = {}, int(sys.argv[2])
    for number in range(forks):
        if (pid := os.fork()) == 0:
            child(number % 5 == 0)
        code = wait(pid)
        codes[code] = codes.get(code, 0) + 1
    stop.set()
    for thread in threads:
        thread.join()
    assert leader.held and not FileLock(FOLDER / "leader.lock").try_acquire()
    print(json.dumps(codes))
    """
    out, accepted = run(tmp_path, code, str(forks), timeout=250)
    assert json.loads(out) == {"0": forks}
    known = check(tmp_path, accepted)
    show(
        capsys, f"forks: {forks} forks, {forks // 5} of grandchildren, {len(accepted)} accepted, {known} known, 0 lost"
    )


def test_a_child_outlives_its_parent(tmp_path):
    """A child whose parent is gone goes on writing beside other processes, and nothing is lost."""
    code = """
    store = Store(FOLDER)
    put(store, "parent")
    reader, writer = os.pipe()
    workers = []
    for number in range(3):
        if (pid := os.fork()) == 0:
            os.close(reader)
            if os.fork():
                os._exit(0)  # the grandchild is an orphan now
            for step in range(40):
                put(store, f"orphan {number}")
                if step % 15 == 14:
                    store.tidy()
            os._exit(0)
        workers.append(pid)
    os.close(writer)
    assert [wait(pid) for pid in workers] == [0, 0, 0]
    for _ in range(40):
        put(store, "parent")
    store.close()
    assert os.read(reader, 1) == b""  # the last orphan has ended
    """
    _, accepted = run(tmp_path, code)
    assert len(accepted) == 1 + 3 * 40 + 40
    assert check(tmp_path, accepted) == len(accepted)


def test_a_fork_in_a_bound_of_time_while_the_spool_is_kept_locked(tmp_path):
    """A fork waits no longer for the spool than a writer does, and the child can put afterwards."""
    code = """
    store = Store(FOLDER)
    store.database._busy = 0.5
    put(store, "before")
    other = FileLock(FOLDER / "write.lock")
    assert other.try_acquire()
    begun = time.monotonic()
    if (pid := os.fork()) == 0:
        try:
            put(store, "child")
        except SpoolError as error:
            os._exit(7 if "locked" in str(error) else 1)
        os._exit(2)
    assert time.monotonic() - begun < 2
    assert wait(pid) == 7
    other.release()
    if (pid := os.fork()) == 0:
        put(store, "child")
        os._exit(0)
    assert wait(pid) == 0
    put(store, "parent")
    """
    _, accepted = run(tmp_path, code)
    assert check(tmp_path, accepted) == 3


def test_a_fork_after_the_folder_is_gone(tmp_path):
    """Forks go on after somebody has removed the spool's folder, and the children begin a new one."""
    code = """
    import logging, shutil
    logging.disable()
    store = Store(FOLDER)
    put(store, "before")
    shutil.rmtree(FOLDER)
    for _ in range(3):
        if (pid := os.fork()) == 0:
            put(store, "child")
            os._exit(0)
        assert wait(pid) == 0
    print(store.pending(BINDING))
    """
    out, _ = run(tmp_path, code)
    assert out == "3\n"


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="forks by the C library")
def test_a_fork_behind_pythons_back(tmp_path):
    """Where a program forks without Python's hooks, an open spool is refused by the child, and a closed one works."""
    code = """
    fork = ctypes.PyDLL(None).fork
    store = Store(FOLDER)
    leader = FileLock(FOLDER / "leader.lock")
    assert leader.try_acquire()
    put(store, "parent")
    if (pid := fork()) == 0:
        code = 0 if not leader.held and not leader.try_acquire() else 1
        leader.release()
        for again in (store, Store(FOLDER)):
            try:
                put(again, "child")
                code += 2
            except SpoolUnusableError as error:
                code += 0 if "lazy-apps" in str(error) else 4
        if (grandchild := os.fork()) == 0:
            os._exit(0)
        os._exit(code + wait(grandchild))
    assert wait(pid) == 0
    assert leader.held and not FileLock(FOLDER / "leader.lock").try_acquire()
    put(store, "parent")
    store.close()
    if (pid := fork()) == 0:
        for _ in range(20):
            put(store, "child")
        os._exit(0)
    for _ in range(20):
        put(store, "parent")
    assert wait(pid) == 0
    put(store, "parent")
    """
    _, accepted = run(tmp_path, code)
    assert check(tmp_path, accepted) == 43


def test_the_end_of_the_interpreter(tmp_path):
    """Daemon threads that still put while the interpreter ends lose nothing, and the file is left in order."""
    code = """
    store = Store(FOLDER)

    def work(name):
        while True:
            try:
                put(store, name)
            except SpoolError:
                return

    for number in range(3):
        threading.Thread(target=work, args=(f"thread {number}",), daemon=True).start()
    time.sleep(0.2)
    """
    for _ in range(3):
        _, accepted = run(tmp_path, code)
        assert len(accepted) > 3
        check(tmp_path, accepted)
