"""The spool's folder: ours alone, on a local disk, and never reached through a symlink."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import stat
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import SpoolUnusableError
from truewatch_lineage.spool.mounts import mount_of, read_mountinfo

log = logging.getLogger(__name__)

_ANOTHER: Final = "Set spool_dir to a folder of your own on a local disk."
_NETWORK: Final = (
    "nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs ncpfs afs coda ceph lustre glusterfs gpfs beegfs 9p virtiofs "
    "fuse.sshfs fuse.s3fs fuse.gcsfuse fuse.glusterfs fuse.ceph-fuse fuse.blobfuse fuse.blobfuse2 fuse.goofys "
    "fuse.rclone fuse.mount-s3 afpfs webdav fuse.davfs"
)
NETWORK_FILE_SYSTEMS: Final = frozenset(_NETWORK.split())
"""File systems of Linux's mountinfo on which SQLite's WAL is not safe: its index is shared memory of one host
(https://sqlite.org/wal.html, "does not work over a network filesystem")."""

FILE_NAME: Final = "spool.db"


def prepare(folder: Path) -> None:
    """Make the folder with mode 0700, or check the one that is there.

    Raises:
        SpoolUnusableError: If it is a symlink, another user's, not writable, or on a network file system.
    """
    try:
        _make(folder)
        found = folder.lstat()
    except (FileExistsError, NotADirectoryError) as error:
        raise _unusable(folder, "is not a folder") from error
    except OSError as error:
        raise _unusable(folder, f"can't be made: {error.strerror}") from error
    _check(folder, found)
    if _is_open_to_others(found):
        try:
            folder.chmod(0o700)
        except OSError as error:
            raise _unusable(folder, f"is open to other users and can't be closed: {error.strerror}") from error
        log.warning("The spool's folder %s was open to other users; it is closed to them now (mode 0700).", folder)


def inspect(folder: Path) -> None:
    """Check a folder that is there as `prepare` would, and change nothing.

    Raises:
        SpoolUnusableError: As `prepare`.
    """
    try:
        found = folder.lstat()
    except OSError as error:
        raise _unusable(folder, f"can't be looked at: {error.strerror}") from error
    _check(folder, found)


def create_file(path: Path) -> bool:
    """Make an empty file with mode 0600 if it is missing, durably, and refuse a symlink in its place.

    Returns:
        Whether it was missing.

    Raises:
        SpoolUnusableError: If something else than a file of ours is there, or the folder can't be written to.
        OSError: With ENOSPC where the disk is full.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise _unusable(path, "is not a plain file") from None
        return False
    except PermissionError as error:
        raise _unusable(path, f"can't be made: {error.strerror}") from error
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    if os.name == "nt":  # pragma: no cover - Windows has no descriptor of a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def network_file_system(folder: Path, mountinfo: str | None = None) -> str | None:
    """Name the network file system that holds ``folder``, or None.

    Args:
        folder: An existing folder.
        mountinfo: The text of ``/proc/self/mountinfo`` (proc(5)); read from there if None, and where there is none the
            answer is None.
    """
    mount = mount_of(folder, read_mountinfo() if mountinfo is None else mountinfo)
    return mount.kind if mount and mount.kind in NETWORK_FILE_SYSTEMS else None


def owner_name(uid: int) -> str:
    """Return a user's name for messages, or the number where he has none (as in many containers)."""
    with contextlib.suppress(ImportError, KeyError):
        import pwd  # noqa: PLC0415 - not on Windows

        return pwd.getpwuid(uid).pw_name
    return str(uid)


def _make(folder: Path) -> None:
    """Make the folder and those above it that are missing, and let their names survive a power cut."""
    missing = list(itertools.takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in missing:
        with contextlib.suppress(PermissionError):  # one may pass through a folder that one may not read
            sync_folder(one.parent)


def _check(folder: Path, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise _unusable(folder, "is a symlink")
    if not stat.S_ISDIR(found.st_mode):
        raise _unusable(folder, "is not a folder")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        owner = owner_name(found.st_uid)
        fix = f"Run this as {owner}, with whom the spool is shared, or set spool_dir to a folder of your own."
        raise _unusable(folder, f"belongs to {owner}, and you are {owner_name(os.geteuid())}", fix)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unusable(folder, "can't be written to")
    if _is_open_to_others(found) and not _is_ours_alone(folder):
        raise _unusable(folder, "is open to other users and holds other things than a spool")
    if kind := network_file_system(folder):
        raise _unusable(folder, f"is on a network file system ({kind}), where SQLite's locks don't hold")


def _is_open_to_others(found: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and bool(stat.S_IMODE(found.st_mode) & 0o077)


def _is_ours_alone(folder: Path) -> bool:
    """Tell whether a folder is empty or holds a spool: closing another, such as /tmp, would lock its users out."""
    names = {entry.name for entry in folder.iterdir()} - {"lost+found"}
    return not names or FILE_NAME in names


def _unusable(path: Path, what: str, fix: str = _ANOTHER) -> SpoolUnusableError:
    return SpoolUnusableError(
        f"The spool's {'folder' if path.suffix != '.db' else 'file'} {what}.",
        path=str(path),
        fix=fix,
    )
