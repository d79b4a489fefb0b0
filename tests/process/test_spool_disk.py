"""The spool on disks that are full, limited, read-only, or somebody else's."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from support.mounts import can_mount, make_read_only, small_disk
from support.scripts import run_script
from support.spool_audit import audit

from truewatch_lineage.errors import SpoolCorruptError, SpoolFullError, SpoolUnusableError
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store, salvage

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX disks, limits and users")
BINDING = Binding("default", "dataway", "http://localhost/v1")
NOBODY = 65_534
DISKS = ["tmpfs"] if can_mount() else []
"""Where mounts are not allowed, a limit on file sizes stands in for the full disk: see `test_a_file_size_limit`."""

SPOOL = """
import logging, resource
from pathlib import Path
from truewatch_lineage.errors import SpoolError, SpoolFullError, SpoolUnusableError
from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store
from support.spool_audit import audit

BINDING = Binding("default", "dataway", "http://localhost/v1")
FOLDER = Path(sys.argv[1])
logging.disable()
"""


def entry(number, size):
    """Return an event with an incompressible body."""
    return Entry(BINDING, f"run:{number % 20}", os.urandom(size), "START", "ns/job", None)


def run(tmp_path, code, *arguments):
    """Run a script that works on the spool in ``tmp_path``."""
    return run_script(tmp_path, SPOOL + textwrap.dedent(code), str(tmp_path / "spool"), *arguments)


def fill(store, *sizes):
    """Put events of each size until there is no room for another; return the ids accepted."""
    accepted = []
    for size in sizes:
        with contextlib.suppress(SpoolFullError):
            while True:
                accepted += store.put([entry(len(accepted), size)])
    return accepted


def fill_up(file):
    """Write to a file until the disk is full."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as others:
        while True:
            others.write(bytes(4096))


def drain(store):
    """Deliver all that waits; return the ids in the order of leaving."""
    left = []
    while heads := store.heads(BINDING, 20):
        settlements = [Settlement(one.id, len(left), "delivered") for one in heads]
        store.settle(BINDING, settlements, Standing(attempts=len(left)))
        left += [one.id for one in heads]
    return left


@pytest.mark.parametrize("size", [1500, 20_000, 900_000])
@pytest.mark.parametrize("disk", DISKS)
def test_a_full_disk_is_drained(tmp_path, disk, size):
    """A full disk refuses new events, keeps the accepted ones, can be drained, and then takes events again."""
    with small_disk(tmp_path / "disk", 40) as point:
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB)
        store.tidy()
        assert store.ballast.path.stat().st_size == 8 * MIB
        accepted = fill(store, size, 300)
        found = audit(store)
        assert not found.faults
        assert found.pending == set(accepted)
        assert store.ballast.path.exists()
        assert sorted(drain(store)) == accepted
        store.tidy()
        assert store.put([entry(0, size)]) == [accepted[-1] + 1]
        assert store.ballast.path.exists(), "the room was not given back"
        assert not audit(store).faults
        store.close()


@pytest.mark.parametrize("mib", [20, 40])
@pytest.mark.parametrize("disk", DISKS)
def test_an_outage_on_a_full_disk_leaves_room_to_end_it(tmp_path, disk, mib):
    """What is given up to note the outage is no room for new events, also where there never was a ballast."""
    with small_disk(tmp_path / "disk", mib) as point:
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB)
        store.tidy()
        accepted = []
        for attempt in range(100):
            accepted += fill(store, 20_000)
            store.settle(BINDING, [], Standing("paused", "refused", 1e12, attempts=attempt))
        assert len(accepted) > 100
        store.close()
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB)
        store.register(BINDING)
        assert sorted(drain(store)) == accepted
        store.relieve()
        assert store.put([entry(0, 20_000)]) == [accepted[-1] + 1]
        assert not audit(store).faults
        store.close()


@pytest.mark.parametrize("disk", DISKS)
def test_a_disk_filled_by_others(tmp_path, disk):
    """What others fill the disk with does not keep the spool from being drained, twice if need be."""
    with small_disk(tmp_path / "disk", 48) as point:
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB)
        store.tidy()
        for _ in range(2):
            accepted = [store.put([entry(number, 5000)])[0] for number in range(300)]
            fill_up(point / "others")
            assert sorted(drain(store)) == accepted
            (point / "others").unlink()
            store.tidy()
            assert store.ballast.path.exists()
        store.close()


def test_a_file_size_limit(tmp_path):
    """At a limit on file sizes the accepted events stay, can be drained, and then new ones are taken."""
    code = """
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
    store = Store(FOLDER)
    store.tidy()
    assert not store.ballast.path.exists()
    accepted = []
    for size in (9000, 200):
        try:
            while True:
                accepted += store.put([Entry(BINDING, f"run:{len(accepted) % 9}", os.urandom(size))])
        except SpoolFullError:
            pass
    found = audit(store)
    assert not found.faults and found.pending == set(accepted), found
    while heads := store.heads(BINDING, 20):
        store.settle(BINDING, [Settlement(one.id, 1, "delivered") for one in heads], Standing())
    assert audit(store).delivered == set(accepted)
    store.put([Entry(BINDING, "run:1", os.urandom(9000))])
    print(len(accepted))
    """
    assert int(run(tmp_path, code)) > 200


@pytest.mark.parametrize("disk", DISKS)
def test_a_disk_that_turns_read_only(tmp_path, disk):
    """A store on a disk that can't be written to any more says so, and a new one refuses the folder."""
    with small_disk(tmp_path / "disk", 40) as point:
        store = Store(point / "spool")
        store.put([entry(0, 100)])
        # The log's index is a shared mapping, which the kernel counts as a writer.
        store.close()
        make_read_only(point)
        with pytest.raises(SpoolUnusableError):
            store.put([entry(1, 100)])
        with pytest.raises(SpoolUnusableError, match="can't be written to"):
            Store(point / "spool")
        with pytest.raises(SpoolUnusableError, match="can't be made: Read-only file system"):
            Store(point / "other" / "spool")


def test_a_folder_that_one_may_not_write_to(tmp_path):
    """A folder without the right to write is refused, also where the spool was made before."""
    code = """
    if os.geteuid() == 0:
        os.chown(FOLDER, 65534, 65534)
        os.setuid(65534)
    store = Store(FOLDER)
    store.put([Entry(BINDING, "run:1", b"x")])
    store.close()
    FOLDER.chmod(0o500)
    for attempt in (lambda: Store(FOLDER), lambda: Store(FOLDER / "deeper")):
        try:
            attempt()
        except SpoolUnusableError as error:
            print(error.problem)
    FOLDER.chmod(0o700)
    """
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lie below one that is root's alone
        out = run_script(tmp_path, SPOOL + textwrap.dedent(code), folder).splitlines()
    assert out == ["The spool's folder can't be written to.", "The spool's folder can't be made: Permission denied."]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder(tmp_path):
    """Another user's folder is refused with both names, even for root, and left as it was."""
    folder = tmp_path / "spool"
    folder.mkdir(mode=0o750)
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(SpoolUnusableError, match=r"belongs to (nobody|65534), and you are root.* Run this as \1"):
        Store(folder)
    assert folder.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o177])
def test_modes_whatever_the_umask(tmp_path, umask):
    """The folder is 0700 and every file 0600, the log and its index and those of a rescue included."""
    code = """
    os.umask(int(sys.argv[2], 8))
    store = Store(FOLDER)
    store.put([Entry(BINDING, "run:1", b"x" * 9000)])
    store.tidy()
    store.close()
    FOLDER.joinpath("spool.db").write_bytes(b"no database" * 1000)
    store.put([Entry(BINDING, "run:1", b"x")])
    for path in (FOLDER, *FOLDER.iterdir()):
        print(f"{path.stat().st_mode & 0o777:o}", path.name)
    """
    if umask & 0o700:
        code = "FOLDER.mkdir(mode=0o700)\n" + textwrap.dedent(code)
    lines = run(tmp_path, code, f"{umask:o}").splitlines()
    assert lines[0] == "700 spool"
    assert {line.split()[0] for line in lines[1:]} == {"600"}
    assert {"600 spool.db-wal", "600 spool.db-shm", "600 ballast", "600 write.lock"} <= set(lines)


def test_a_folder_open_to_others_is_closed(tmp_path):
    """A world-readable folder of one's own becomes 0700."""
    folder = tmp_path / "spool"
    folder.mkdir()
    folder.chmod(0o755)
    Store(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["spool", "spool/spool.db", "spool/write.lock"])
@pytest.mark.parametrize("exists", [True, False])
def test_symlinks_are_refused(tmp_path, name, exists):
    """A symlink in the place of the folder, the database or a lock is refused, and its target is left alone."""
    target = tmp_path / "target"
    if exists:
        target.mkdir() if name == "spool" else target.write_bytes(b"precious")
    link = tmp_path / name
    link.parent.mkdir(mode=0o700, exist_ok=True)
    link.symlink_to(target)
    with pytest.raises(SpoolUnusableError):
        Store(tmp_path / "spool").put([entry(0, 10)])
    assert link.is_symlink()
    assert target.exists() == exists
    assert not exists or name == "spool" or target.read_bytes() == b"precious"
    assert not exists or name != "spool" or not list(Path(target).iterdir())


@pytest.mark.parametrize("disk", DISKS)
def test_a_rescue_without_enough_room(tmp_path, disk, caplog):
    """A damaged spool that there is no room to save stays as it is, takes none of the room, and is saved later."""
    now = [1_800_000_000.0]
    with small_disk(tmp_path / "disk", 40) as point:
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB, clock=lambda: now[0])
        accepted = [store.put([entry(number, 20_000)])[0] for number in range(500)]
        store.database.checkpoint()
        store.close()
        spoil_index(store.database.path)
        (point / "others").write_bytes(bytes(10 * MIB))
        before, files = shutil.disk_usage(point).free, set(store.folder.iterdir())
        for _ in range(2):
            with pytest.raises(SpoolCorruptError):
                store.put([entry(0, 100)])
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "MiB free. Make room" in caplog.text
        store.close()
        assert set(store.folder.iterdir()) == files
        assert shutil.disk_usage(point).free == before
        (point / "others").unlink()
        now[0] += 60
        assert store.put([entry(0, 100)])[0] > accepted[-1]
        found = audit(store)
        assert not found.faults
        assert set(accepted) < found.pending
        store.close()


@pytest.mark.parametrize("disk", DISKS)
def test_a_rescue_that_fails_leaves_nothing(tmp_path, disk, monkeypatch, caplog):
    """A copy that runs out of room, whatever was reckoned before, is removed with its logs."""
    monkeypatch.setattr(salvage, "_size", lambda *_: 0)
    with small_disk(tmp_path / "disk", 24) as point:
        store = Store(point / "spool", durability="process", max_bytes=1024 * MIB)
        for number in range(650):
            store.put([entry(number, 20_000)])
        store.database.checkpoint()
        store.close()
        spoil_index(store.database.path)
        files, before = set(store.folder.iterdir()), shutil.disk_usage(point).free
        with pytest.raises(SpoolCorruptError):
            store.put([entry(0, 100)])
        assert "can't be saved now" in caplog.text
        store.close()
        assert set(store.folder.iterdir()) == files
        assert shutil.disk_usage(point).free == before


def spoil_index(path):
    """Overwrite the root of an index that each event is put into."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'event_lane'").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(os.urandom(4096))
