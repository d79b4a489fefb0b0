"""A damaged spool is put away, what can be read of it is saved, and no other process is harmed by that."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from itertools import pairwise

import pytest
from support.figures import show
from support.scripts import run_script
from support.spool_audit import audit

from truewatch_lineage.errors import SpoolBusyError, SpoolCorruptError, SpoolTooNewError
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, rescue, schema

BINDING = Binding("default", "dataway", "http://localhost/v1")
PAGE = 4096
CORRUPT = "*.corrupt-*"


@pytest.fixture(autouse=True)
def quiet(caplog):
    """A rescue is logged as an error, which is right, and no news here."""
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def store(tmp_path):
    """A store, closed at the end."""
    store = Store(tmp_path / "spool", durability="process")
    yield store
    store.close()


def entry(number, size=400):
    """Return an event of one of 50 runs."""
    return Entry(BINDING, f"run:{number % 50}", os.urandom(size), "START", "ns/job", None)


def fill(store, count=1000, *, closed=True):
    """Put events; bring them into the database and close it, unless they are to stay in the log."""
    ids = [store.put([entry(number)])[0] for number in range(count)]
    if closed:
        store.database.checkpoint()
        store.close()
    return ids


def scribble(path, at, size, seed=1):
    """Overwrite a part of a file with noise."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(random.Random(seed).randbytes(size))


def touch_all(store):
    """Work on the whole spool, as a courier does, until nothing waits; return what left."""
    left = []
    while heads := store.heads(BINDING, 20):
        store.settle(BINDING, [Settlement(one.id, 1, "delivered") for one in heads], Standing())
        left += [one.id for one in heads]
    return left


@pytest.mark.parametrize(
    ("kind", "count"),
    [(schema_type, count) for schema_type in ("leaf", "index", "interior") for count in (1, 3)],
)
def test_one_damaged_page_costs_few_rows(store, kind, count, capsys):
    """Of 1,000 events nearly all are saved when pages are damaged, whichever they are, and the rest is told."""
    accepted = set(fill(store))
    marks = {"leaf": 13, "index": 10, "interior": 5}
    data = store.database.path.read_bytes()
    pages = [at for at in range(PAGE, len(data), PAGE) if data[at] == marks[kind]]
    for at in random.Random(7).sample(pages, min(count, len(pages))):
        scribble(store.database.path, at, PAGE)
    left = touch_all(store)
    found = audit(store)
    assert not found.faults
    assert list(store.folder.glob(CORRUPT))
    assert store.put([entry(0)])[0] > max(accepted)
    lost = accepted - set(left) - found.known
    show(capsys, f"{count} damaged {kind} pages of {len(pages)}: {len(lost)} of 1000 lost, {len(found.dead)} dead")
    # A page of bodies holds some ten of them; one that leads to others may take those along.
    assert len(lost) + len(found.dead) <= (15 * count if kind != "interior" else 1000)


def test_the_page_of_destinations(store):
    """Events keep their address when the one page that holds the destinations is damaged, since an index has it too."""
    accepted = fill(store, 100)
    with contextlib.closing(sqlite3.connect(store.database.path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'destination'").fetchone()[0]
    scribble(store.database.path, (root - 1) * PAGE, PAGE)
    assert sorted(touch_all(store)) == accepted


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_schema(store, seed):
    """Noise in the page that names the tables raises nothing but errors of the spool; what follows is stored."""
    fill(store, 50)
    for at in random.Random(seed).sample(range(100, PAGE), 1 + seed * 4):
        scribble(store.database.path, at, 1, seed)
    numbers = [store.put([entry(number)])[0] for number in range(3)]
    left = touch_all(store)
    assert set(numbers) <= set(left)
    assert not audit(store).faults


def test_a_damaged_entry_of_the_schema_costs_no_event(store):
    """Where one entry of the schema can't be read, the tables of the others are saved all the same."""
    accepted = fill(store, 50)
    data = store.database.path.read_bytes()
    scribble(store.database.path, data.index(b"CREATE INDEX event_dead"), 12)
    assert sorted(touch_all(store)) == accepted
    assert not audit(store).faults


def test_a_damaged_file_is_not_saved_twice_a_minute(tmp_path):
    """What a copy can't mend, such as a disk that returns noise, costs one copy a minute and not one an event."""
    now = [1_800_000_000.0]
    store = Store(tmp_path / "spool", durability="process", clock=lambda: now[0])
    store.put([entry(1)])
    inodes = [store.database.path.stat().st_ino]
    for later in (0, 59, 1):
        now[0] += later
        for _ in range(3):
            with pytest.raises(SpoolCorruptError), store.database.read():
                raise SpoolCorruptError("noise", path="")
        inodes.append(store.database.path.stat().st_ino)
    assert [one == two for one, two in pairwise(inodes)] == [False, True, False]
    store.close()


@pytest.mark.parametrize("what", ["folder", "database", "all files"])
def test_a_spool_that_is_removed_while_in_use(store, caplog, what):
    """A cleaner of temporary files costs what waited: a new spool is begun, and told once."""
    caplog.set_level(logging.WARNING)
    other = Store(store.folder, durability="process")
    for each in (store, other):
        each.put([entry(1)])
    if what == "folder":
        shutil.rmtree(store.folder)
    else:
        for path in store.folder.glob("*" if what == "all files" else "spool.db*"):
            path.unlink()
    for number in range(3):
        for each in (store, other):
            assert each.put([entry(number)])[0]
            each.standing(BINDING)
    assert store.pending(BINDING) == 6
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert not audit(store).faults
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "was removed" in caplog.text
    other.close()


@pytest.mark.parametrize("scar", ["header", "nothing", "zero bytes", "no database", "truncated", "foreign", "log"])
def test_files_that_are_no_spool(store, scar):
    """Whatever is found in its place, an event is stored, and what was there is kept beside or still read."""
    path = store.database.path
    fill(store, 50)
    log = path.with_name("spool.db-wal")
    original = path.read_bytes()
    if scar == "header":
        scribble(path, 0, 100)
    elif scar == "nothing":
        path.unlink()
    elif scar == "zero bytes":
        path.write_bytes(b"")
    elif scar == "no database":
        path.write_bytes(b"dear diary " * 1000)
    elif scar == "truncated":
        os.truncate(path, len(original) // 2)
    elif scar == "foreign":
        path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE recipes (id)")
    else:
        log.write_bytes(random.Random(1).randbytes(50_000))
    number = store.put([entry(1)])[0]
    touch_all(store)
    found = audit(store)
    assert number in found.delivered
    assert not found.faults
    kept = list(store.folder.glob(CORRUPT))
    assert bool(kept) == (scar in {"header", "no database", "truncated", "foreign"})


def test_an_emptied_database_whose_log_is_there(store, tmp_path):
    """SQLite would delete the log of an empty database; the events in it are saved first."""
    accepted = fill(store, 50, closed=False)
    copy = tmp_path / "copy"
    copy.mkdir(mode=0o700)
    (copy / "spool.db").write_bytes(b"")
    (copy / "spool.db-wal").write_bytes(store.database.path.with_name("spool.db-wal").read_bytes())
    other = Store(copy)
    assert sorted(touch_all(other)) == accepted
    other.close()


def test_a_newer_spool_is_refused_and_left_alone(store):
    """A spool of a newer version is refused with what to do, and not one byte of it changes."""
    fill(store, 5)
    with contextlib.closing(sqlite3.connect(store.database.path)) as connection:
        connection.execute(f"PRAGMA user_version={schema.VERSION + 1}")
    before = store.database.path.read_bytes()
    with pytest.raises(SpoolTooNewError, match="Upgrade"):
        store.put([entry(1)])
    assert store.database.path.read_bytes() == before
    assert not list(store.folder.glob(CORRUPT))


def test_a_process_that_still_has_the_old_file_open(store):
    """While one process puts the file away, another has it open: its next event is in the new one, and stays there."""
    fill(store, 20, closed=False)
    other = Store(store.folder, durability="process")
    other.put([entry(1)])
    old = other.database._connection
    damage_and_rescue(store)
    number = store.put([entry(2)])[0]
    assert other.pending(BINDING) == 22
    assert (after := other.put([entry(3)])[0]) > number
    assert other.database._connection is not old
    other.close()
    assert {number, after} <= audit(store).pending


def test_the_end_of_a_process_that_has_the_old_file_open(store, tmp_path):
    """A process that ends with the old file open does not take the new one's log along."""
    fill(store, 20, closed=False)
    code = """
    from pathlib import Path
    from truewatch_lineage.spool import Binding, Entry, Store
    store = Store(Path(sys.argv[1]))
    store.put([Entry(Binding("default", "dataway", "http://localhost/v1"), "run:x", b"x")])
    print("ready", flush=True)
    sys.stdin.readline()
    """
    script = tmp_path / "holder.py"
    script.write_text("import sys\n" + textwrap.dedent(code))
    with subprocess.Popen(
        [sys.executable, str(script), str(store.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "ready\n"
        damage_and_rescue(store)
        number = store.put([entry(2)])[0]
        holder.communicate("go\n", timeout=20)
    assert holder.returncode == 0
    assert number in audit(Store(store.folder)).pending


def damage_and_rescue(store):
    """Let a store find its file damaged while others have it open."""
    with store.database.write() as connection:
        connection.execute("CREATE TABLE odd (id)")
        connection.execute("DROP TABLE odd")
    inode = store.database._inode
    with store.database._entered():
        store.database._move_aside()
    assert store.database.path.stat().st_ino != inode[1]


def test_two_processes_find_the_damage_at_once(store, tmp_path):
    """Only one puts the file away, and what was saved is not put away again."""
    accepted = fill(store, 300)
    data = store.database.path.read_bytes()
    leaves = [at for at in range(PAGE, len(data), PAGE) if data[at] == 13]
    scribble(store.database.path, leaves[len(leaves) // 2], PAGE)
    code = """
    import logging
    from pathlib import Path
    from support.spool_audit import audit
    from truewatch_lineage.errors import SpoolError
    from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
    logging.disable()
    binding = Binding("default", "dataway", "http://localhost/v1")
    pids = []
    for number in range(4):
        if (pid := os.fork()) == 0:
            store = Store(Path(sys.argv[1]))
            for _ in range(30):
                store.put([Entry(binding, f"late:{number}", os.urandom(300))])
                store.heads(binding, 60)
                audit(store)
            store.close()
            os._exit(0)
        pids.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 4
    """
    run_script(tmp_path, code, str(store.folder))
    found = audit(store)
    assert not found.faults
    assert len([path for path in store.folder.glob(CORRUPT) if not path.name.endswith(("-wal", "-shm"))]) == 1
    assert len(found.pending) >= 120 + 300 - 30
    assert len(set(accepted) & found.known) >= 270


@pytest.mark.parametrize("step", ["drafted", "ready", "moved", "logs moved"])
def test_a_kill_in_the_middle_of_a_rescue(store, step, monkeypatch):
    """A rescue that was cut short at any step is taken up by the next process, without a loss."""
    accepted = fill(store, 60, closed=False)
    database, inode = store.database, store.database._inode
    renamed = 0

    def rename(path, target):
        nonlocal renamed
        renamed += 1
        if renamed > {"drafted": 0, "ready": 1, "moved": 2, "logs moved": 2}[step]:
            raise KeyboardInterrupt
        path.replace(target)

    monkeypatch.setattr("pathlib.Path.rename", rename)
    if step == "moved":
        monkeypatch.setattr(rescue, "_move", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        rescue.move_aside(database.path, inode, busy=5)
    monkeypatch.undo()
    other = Store(store.folder)
    assert other.put([entry(1)])[0] > max(accepted)
    found = audit(other)
    assert not found.faults
    assert set(accepted) <= found.pending
    other.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_stopped_writer(store, tmp_path):
    """While a stopped process holds the lock, others give up in a bounded time, and go on once it does or is gone."""
    script = tmp_path / "holder.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from truewatch_lineage.spool import Store
        with Store(Path(sys.argv[1])).database.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('half', 1)")
            os.kill(os.getpid(), signal.SIGSTOP)
            print("went on", flush=True)
        """)
    )
    for end in ("CONT", "KILL"):
        store.database._busy = 5.0
        store.put([entry(0)])
        store.database._busy = 0.4
        with subprocess.Popen([sys.executable, str(script), str(store.folder)], stdout=subprocess.PIPE) as holder:
            os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
            begun = time.monotonic()
            with pytest.raises(SpoolBusyError):
                store.put([entry(1)])
            assert time.monotonic() - begun < 2
            assert store.pending(BINDING) > 0, "reading needs no lock"
            os.kill(holder.pid, {"CONT": 18, "KILL": 9}[end])
            holder.wait(timeout=20)
        assert store.put([entry(2)])[0]
        with store.database.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = 'half'")
    assert not audit(store).faults


@pytest.mark.parametrize("years", [10, -10])
def test_a_clock_that_jumps(tmp_path, years):
    """Events leave in order and receipts go, whether the clock jumps ten years ahead or back."""
    now = [1_800_000_000.0]
    store = Store(tmp_path / "spool", durability="process", clock=lambda: now[0])
    first, second = (store.put([entry(0)])[0] for _ in range(2))
    store.settle(BINDING, [Settlement(first, 1, "wait", due=now[0] + 300)], Standing(attempts=1))
    assert not store.heads(BINDING, 9)
    now[0] += years * 365 * 86_400
    assert [one.id for one in store.heads(BINDING, 9)] == [first]
    assert store.next_due(BINDING) <= now[0]
    third = store.put([entry(0)])[0]
    assert touch_all(store) == [first, second, third]
    store.tidy()
    assert audit(store).delivered == {first, second, third}
    store.close()


def test_eight_processes_open_a_fresh_folder_at_once(tmp_path):
    """Eight processes that make the same spool at the same time all store their events in it."""
    code = """
    import json
    from pathlib import Path
    from truewatch_lineage.spool import Binding, Entry, Store
    start = time.monotonic() + 0.3
    for number in range(8):
        if os.fork() == 0:
            time.sleep(start - time.monotonic())
            store = Store(Path(sys.argv[1]) / "a" / "spool")
            for step in range(5):
                store.put([Entry(Binding("d", "dataway", "http://x"), f"run:{number}", os.urandom(50))])
            os._exit(0)
    print(json.dumps([os.wait()[1] for _ in range(8)]))
    """
    for attempt in range(3):
        out = run_script(tmp_path, code, str(tmp_path / str(attempt)))
        assert json.loads(out) == [0] * 8
        store = Store(tmp_path / str(attempt) / "a" / "spool")
        found = audit(store)
        assert not found.faults
        assert len(found.pending) == 40
        store.close()
