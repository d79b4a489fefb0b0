"""The command line run in this process, or in a child of its own where signals or a terminal matter."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truewatch_lineage.cli import main

TOKEN = "a-token-of-the-tests-1234"
# A shell starts what is in the background with SIGINT ignored, and children inherit that.
_MAIN = """
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
from truewatch_lineage.cli import main; main(prog_name="truewatch-lineage")
"""
CHILD = (sys.executable, "-c", _MAIN)


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its result as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Its results as JSON, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def run(*args: object, env: Mapping[str, object] | None = None, stdin: bytes = b"") -> Ran:
    """Run a command in this process with ``TRUEWATCH_LINEAGE_`` settings of ``env``, by their lower-case names."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    kept = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        with _environment(env or {}), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _code([str(arg) for arg in args])
    finally:
        sys.stdin = kept
    return Ran(code, *(_text(stream) for stream in (out, err)))


def child_environment(env: Mapping[str, object]) -> dict[str, str]:
    """Return the environment of a child with the settings of ``env``."""
    return {**os.environ, **_variables(env)}


def run_child(*args: object, env: Mapping[str, object] | None = None, timeout: float = 30) -> Ran:
    """Run a command in a child process."""
    done = subprocess.run(
        [*CHILD, *(str(arg) for arg in args)],
        env=child_environment(env or {}),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def started(*args: object, env: Mapping[str, object] | None = None, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a child process, which is killed where it still runs at the block's end, whatever ended it."""
    command = [*CHILD, *(str(arg) for arg in args)]
    with subprocess.Popen(command, env=child_environment(env or {}), text=True, **options) as child:
        try:
            yield child
        finally:
            child.kill()


def ndjson(path: Path, *events: object) -> Path:
    """Write a file with a value a line; what is bytes is written as it is."""
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def _code(args: list[str]) -> int:
    code: object = 0
    try:
        main.main(args, prog_name="truewatch-lineage")
    except SystemExit as error:
        code = error.code
    return code if isinstance(code, int) else int(code is not None)


def _variables(env: Mapping[str, object]) -> dict[str, str]:
    return {name if name.isupper() else f"TRUEWATCH_LINEAGE_{name.upper()}": str(value) for name, value in env.items()}


@contextlib.contextmanager
def _environment(env: Mapping[str, object]) -> Iterator[None]:
    kept = dict(os.environ)
    os.environ.update(_variables(env))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _text(stream: io.TextIOWrapper) -> str:
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()
