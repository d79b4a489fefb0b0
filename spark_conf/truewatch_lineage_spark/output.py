"""Where a form goes: to stdout, or into files of which none is replaced by accident."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark.flavours import Rendered

PRIVATE_MODE: Final = 0o600
USUAL_MODE: Final = 0o644


def show(rendered: Rendered) -> None:
    """Print a form on stdout; its other files and notes on stderr, so that the form can be piped."""
    click.echo(rendered.text, nl=False)
    for ending, text in rendered.beside.items():
        click.echo(f"\n--- {ending.lstrip('.')} (-o FILE writes it beside the file)\n{text}", err=True, nl=False)
    _tell(rendered)


def write(rendered: Rendered, path: Path, *, private: bool, force: bool) -> None:
    """Write a form into a file, and its other files beside it.

    Args:
        rendered: The form.
        path: The file.
        private: Whether only its owner may read it.
        force: Whether files that are there are replaced.

    Raises:
        ConfigError: One is there, and ``force`` is not given.
        OSError: It can't be written.
    """
    files = {path: rendered.text} | {path.with_name(path.stem + end): text for end, text in rendered.beside.items()}
    if not force and (there := [str(file) for file in files if os.path.lexists(file)]):
        raise _there(there[0])
    for file, text in files.items():
        _write(file, text.encode(), PRIVATE_MODE if private else USUAL_MODE, force=force)
        click.echo(f"Written: {file}", err=True)
    _tell(rendered)


def _write(file: Path, data: bytes, mode: int, *, force: bool) -> None:
    """Write a file that is not there yet; to replace one, by another name first, so that it is whole or the old one."""
    name = file.with_name(f".{file.name}.{os.getpid()}") if force else file
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(name, flags, mode)
    except FileExistsError:
        raise _there(str(name)) from None
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    if force:
        name.replace(file)


def _tell(rendered: Rendered) -> None:
    for note in rendered.notes:
        click.echo(f"Note: {note}", err=True)


def _there(file: str) -> ConfigError:
    return ConfigError(f"{file} is there already.", key="output", fix="Choose another name, or replace it by --force.")
