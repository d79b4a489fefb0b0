"""How a command ends when its output can't be written or somebody interrupts it: by a code and a line, no traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Final, TextIO

import click

from truewatch_lineage.words import counted

EXIT_NO: Final = 1
EXIT_WAITS: Final = 75
"""EX_TEMPFAIL of sysexits.h: something is kept in the spool and not delivered yet."""

EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as shells say it."""

EXIT_PIPE: Final = 141
"""128 + SIGPIPE: whoever read the output has gone, as ``head`` does."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Run a ``with`` block; what the operating system refuses, or a Ctrl-C, ends the process.

    Raises:
        SystemExit: With 130, 141, or 1 after a message.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        _forget(sys.stdout)
        _forget(sys.stderr)
        sys.exit(EXIT_PIPE)
    except OSError as error:  # what a command has no better words for
        told = _told(error)
        _forget(sys.stdout)
        click.echo(f"Error: {told}", err=True)
        sys.exit(EXIT_NO)


def interrupted_note(kept: int) -> str:
    """Say what a Ctrl-C leaves behind.

    Args:
        kept: How many events wait in the spool.
    """
    return f"Interrupted: {counted(kept, 'event')} kept in the spool." if kept else "Interrupted: nothing waits."


def _told(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:  # what is open already, and files that are read are told by those who read them
        return f"The output can't be written: {reason}."
    return f"{os.fsdecode(error.filename)}: {reason}."


def _forget(stream: TextIO) -> None:
    """Let what is still in a buffer go nowhere: Python writes it once more when it ends, and would complain."""
    with contextlib.suppress(OSError, ValueError):  # a stream that is no file
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)
