"""A file that is given up when the disk is full, so that a full spool can still be drained.

SQLite's DELETE and its checkpoint need room themselves, so on a full disk nothing could leave the spool.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Final

from truewatch_lineage.protocol import MIB

SIZE: Final = 8 * MIB
_ROOM_TO_REFILL: Final = 4 * SIZE


class Ballast:
    """The file ``ballast`` in a spool's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ballast"

    def fill(self) -> bool:
        """Make the file if it is missing and the disk has room for it four times over.

        Returns:
            Whether it is there now.
        """
        if self._is_whole():
            return True
        self.drop()  # a kill or a power cut has left a part of it
        try:
            if shutil.disk_usage(self.path.parent).free < _ROOM_TO_REFILL:
                return False
            self._allocate()
        except OSError:  # a full disk, a limit on file sizes: the spool works without a ballast until then
            self.drop()
            return False
        return True

    def is_kept(self) -> bool:
        """Tell whether the room that deliveries need is there: in this file, or free on the disk.

        Where it is not, new events must not take what is left: in an outage the ballast is given up to note it, and
        whatever took its room then would keep everything from leaving.
        """
        try:
            return self._is_whole() or shutil.disk_usage(self.path.parent).free >= SIZE
        except OSError:  # the folder is gone, or can't be seen: whoever writes makes it anew, or says what is wrong
            return True

    def drop(self) -> bool:
        """Give the room back.

        Returns:
            Whether there was any to give.
        """
        with contextlib.suppress(OSError):
            self.path.unlink()
            return True
        return False

    def _is_whole(self) -> bool:
        with contextlib.suppress(OSError):
            return self.path.stat().st_size == SIZE
        return False

    def _allocate(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(self.path, flags, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle, 0, SIZE)
            else:  # pragma: no cover - macOS and Windows
                os.write(handle, bytes(SIZE))
        finally:
            os.close(handle)
