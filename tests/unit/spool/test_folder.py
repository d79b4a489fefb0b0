"""The spool's folder."""

from __future__ import annotations

import pytest

from truewatch_lineage.errors import SpoolUnusableError
from truewatch_lineage.spool import folder as folders
from truewatch_lineage.spool import mounts

ROOT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"


@pytest.mark.parametrize(
    ("point", "kind", "expected"),
    [
        ("{}", "nfs4", "nfs4"),
        ("{}/deeper", "nfs4", None),
        ("{}-other", "nfs4", None),
        ("{}", "cifs", "cifs"),
        ("{}", "fuse.sshfs", "fuse.sshfs"),
        ("{}", "fuse.gcsfuse", "fuse.gcsfuse"),
        ("{}", "9p", "9p"),
        ("{}", "ext4", None),
        ("{}", "overlay", None),
        ("{}", "tmpfs", None),
        ("/", "nfs", "nfs"),
    ],
)
def test_network_file_systems(tmp_path, point, kind, expected):
    """The innermost mount that holds the folder decides (proc(5), /proc/pid/mountinfo)."""
    mount = f"36 35 98:0 / {point.format(tmp_path)} rw,noatime master:1 - {kind} server:/export rw,errors=continue"
    assert folders.network_file_system(tmp_path, f"{ROOT}\n{mount}\n") == expected


@pytest.mark.parametrize("name", ["with space", "tab\there", "donnée", "日本", "back\\slash"])
def test_names_in_mountinfo(tmp_path, name):
    """A mount point is found whose name is not ASCII, or holds characters that mountinfo writes in octal."""
    folder = tmp_path / name
    folder.mkdir()
    octal = str.maketrans({" ": r"\040", "\t": r"\011", "\\": r"\134"})
    mount = f"36 35 98:0 / {str(folder).translate(octal)} rw - nfs server:/export rw"
    assert folders.network_file_system(folder, f"{ROOT}\n{mount}") == "nfs"


def test_a_later_mount_hides_an_earlier_one(tmp_path):
    """Of two mounts on one folder the later one counts."""
    mounts = "\n".join(f"36 35 98:0 / {tmp_path} rw - {kind} x rw" for kind in ("nfs", "ext4"))
    assert folders.network_file_system(tmp_path, mounts) is None


def test_no_mountinfo(tmp_path):
    """Where there is no such list nothing is refused."""
    assert folders.network_file_system(tmp_path, "") is None


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    """The refusal names the file system and what to do."""
    listing = tmp_path / "mountinfo"
    listing.write_text(f"36 35 98:0 / {tmp_path} rw - nfs4 server:/export rw\n")
    monkeypatch.setattr(mounts, "MOUNTINFO", listing)
    with pytest.raises(SpoolUnusableError, match=r"network file system \(nfs4\).*Set spool_dir"):
        folders.prepare(tmp_path / "spool")


def test_missing_folders_are_made(tmp_path):
    """Folders above are made as usual, the spool's own is for its user alone."""
    folder = tmp_path / "a" / "b" / "spool"
    folders.prepare(folder)
    folders.prepare(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["spool", "spool/deeper"])
def test_a_file_in_the_way(tmp_path, place):
    """A file where the folder or one above it should be is refused."""
    (tmp_path / "spool").write_text("")
    with pytest.raises(SpoolUnusableError, match="is not a folder"):
        folders.prepare(tmp_path / place)


def test_files_are_made_once(tmp_path):
    """A file is made with mode 0600 and left as it is when it is there."""
    path = tmp_path / "spool.db"
    folders.create_file(path)
    path.write_bytes(b"content")
    folders.create_file(path)
    assert path.read_bytes() == b"content"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_user_without_a_name():
    """A number that no user has, as in many containers, is named by itself."""
    assert folders.owner_name(4_000_000_000) == "4000000000"


@pytest.mark.parametrize(
    ("content", "is_refused"),
    [
        ((), False),
        (("spool.db",), False),
        (("lost+found",), False),
        (("report.csv",), True),
        (("spool.db", "x"), False),
    ],
)
@pytest.mark.parametrize("mode", [0o1777, 0o755, 0o750])
def test_only_a_folder_of_our_own_is_closed_to_others(tmp_path, caplog, mode, content, is_refused):
    """Closing /tmp, or where others work, would lock them out; empty ones and spools are closed aloud."""
    folder = tmp_path / "spool"
    folder.mkdir()
    for name in content:
        (folder / name).touch()
    folder.chmod(mode)
    if is_refused:
        with pytest.raises(SpoolUnusableError, match="holds other things"):
            folders.prepare(folder)
        assert folder.stat().st_mode & 0o7777 == mode
    else:
        folders.prepare(folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert "closed to them now" in caplog.text


def test_inspecting_changes_nothing(tmp_path):
    """A check that only looks must not take a folder from others."""
    tmp_path.chmod(0o755)
    folders.inspect(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_is_not_there_can_not_be_inspected(tmp_path):
    """It is not made either."""
    with pytest.raises(SpoolUnusableError, match="can't be looked at"):
        folders.inspect(tmp_path / "none")
    assert not (tmp_path / "none").exists()
