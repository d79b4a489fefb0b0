"""What the package logs goes to stderr, each record as one line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_PLAIN = "%(message)s"
_TIMED = "%(asctime)s %(levelname)s %(message)s"
_logger = logging.getLogger("truewatch_lineage")


class _Stderr(logging.Handler):
    """Looks stderr up for each record: a progress bar puts its own in the place while it shows."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)


class _Kept(logging.Handler):
    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record.getMessage())


def to_stderr(level: str, *, timed: bool = False) -> Callable[[], None]:
    """Show the package's log from ``level`` on; returns what ends it.

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``.
        timed: Whether each line has its time; below ``warning`` it always has.
    """
    number = logging.getLevelName(level.upper())
    handler = _Stderr()
    handler.setFormatter(logging.Formatter(_TIMED if timed or number < logging.WARNING else _PLAIN))
    before = _logger.level
    _logger.addHandler(handler)
    _logger.setLevel(number)

    def end() -> None:
        _logger.removeHandler(handler)
        _logger.setLevel(before)

    return end


def show_progress() -> None:
    """Show what happens from ``info`` on, with times: for a command that runs for long and has no other output."""
    for handler in _logger.handlers:
        if isinstance(handler, _Stderr):
            handler.setFormatter(logging.Formatter(_TIMED))
    _logger.setLevel(min(_logger.level, logging.INFO))


@contextmanager
def quiet(*modules: str) -> Iterator[None]:
    """Hush the warnings of modules of ours for a ``with`` block: what they say, the command says better."""
    loggers = [logging.getLogger(f"truewatch_lineage.{module}") for module in modules]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(max(logging.ERROR, logger.level))
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def kept() -> Iterator[list[str]]:
    """Collect what is logged as a warning or worse, in the place of showing it."""
    messages: list[str] = []
    shown = [handler for handler in _logger.handlers if isinstance(handler, _Stderr)]
    handler = _Kept(messages)
    for one in shown:
        _logger.removeHandler(one)
    _logger.addHandler(handler)
    try:
        yield messages
    finally:
        _logger.removeHandler(handler)
        for one in shown:
            _logger.addHandler(one)
