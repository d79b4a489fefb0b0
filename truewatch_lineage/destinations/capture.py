"""Run a command for what it prints, bounded in time and size; apart, as ``subprocess`` is slow to import."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Sequence
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import IO, Final

MAX_BYTES: Final = 64 * 1024
"""More than any token: a command that prints more is killed."""


def capture(arguments: Sequence[str], *, timeout: float) -> tuple[bytes, str | None]:
    """Run ``arguments`` without a shell and return what they print on stdout, or what went wrong.

    Args:
        arguments: The program and its arguments.
        timeout: Seconds until it is killed, its process group included.

    Returns:
        The output and None, or nothing and the end of a sentence such as ``ended with exit code 1``, which never holds
        any of the output.

    Raises:
        TimeoutError: It did not end in time.
    """
    try:
        # The user's own command; a session of its own makes it a group that can be killed whole.
        process = Popen(arguments, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True)  # noqa: S603
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: the interpreter is shutting down
        return b"", f"can't be started ({type(error).__name__})"
    with process:
        try:
            return _finish(process, time.monotonic() + timeout)
        except TimeoutExpired:
            raise TimeoutError(f"did not end within {timeout:.3g} s and was killed") from None
        finally:
            _kill(process)


def _finish(process: Popen[bytes], deadline: float) -> tuple[bytes, str | None]:
    """Wait for the process's end of output and of life.

    Raises:
        TimeoutExpired: It took longer than ``deadline`` allows.
    """
    output = _read(process, deadline)
    if len(output) > MAX_BYTES:
        return b"", f"printed more than {MAX_BYTES} bytes and was killed"
    code = process.wait(max(0.0, deadline - time.monotonic()))
    return (b"", f"ended with exit code {code}") if code else (output, None)


def _read(process: Popen[bytes], deadline: float) -> bytes:
    if os.name != "posix":  # no selector works on a pipe there; subprocess uses threads
        return process.communicate(timeout=max(0.0, deadline - time.monotonic()))[0]
    pipe = process.stdout
    return _drain(pipe, deadline) if pipe else b""


def _drain(pipe: IO[bytes], deadline: float) -> bytes:
    """Read a pipe to its end, a little more than ``MAX_BYTES``, or the deadline."""
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(output) <= MAX_BYTES:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutExpired("token_command", 0)
            chunk = os.read(pipe.fileno(), MAX_BYTES)
            if not chunk:
                break
            output += chunk
    return output


def _kill(process: Popen[bytes]) -> None:
    """Kill what is left of a process that has not been waited for: its number can't be another's yet."""
    if process.returncode is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
