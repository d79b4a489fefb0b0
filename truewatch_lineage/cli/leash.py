"""``receive`` for as long as whoever started it lives: the demo's receiver must not stay when the demo is killed.

The starter keeps the other end of standard input open; the kernel closes it however the starter ends.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Final

from truewatch_lineage.cli.receive import command

_STOP_SECONDS: Final = 5.0


def end_with_starter() -> None:
    """Wait for the end of standard input, then stop this process, by force where it does not stop in time."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_starter, name="truewatch-lineage-leash", daemon=True).start()
    command()
