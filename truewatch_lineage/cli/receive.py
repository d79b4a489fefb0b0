"""``truewatch-lineage receive``: the local receiver."""

from __future__ import annotations

import contextlib
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli.serving import (
    FILE,
    UsageProblem,
    check_guarded,
    host_option,
    missing_extra,
    no_token_option,
    refuse_itself,
    token_option,
)
from truewatch_lineage.cli.settings import SettingsCommand, load_to_deliver
from truewatch_lineage.errors import ConfigError, TokenError
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage.receiver import server
    from truewatch_lineage.receiver.store import Store

EPILOG = """\b
Examples:
  truewatch-lineage receive --port 8765 --token local-test-token --data events.sqlite
  truewatch-lineage receive --load events/ --open
  curl -X POST http://127.0.0.1:8765/v1/write/openlineage \\
    -H 'Authorization: Bearer local-test-token' --data-binary @event.json
  curl http://127.0.0.1:8765/api/records

\b
The settings (--help-settings) are those of --tee. A destination's token comes from a variable or the file of settings.
"""
_MIB: Final = 1024 * 1024


@click.command("receive", cls=SettingsCommand, without=("token_file",), epilog=EPILOG)
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free port.")
@host_option
@token_option
@click.option(
    "--token-file",
    "token_files",
    multiple=True,
    type=FILE,
    help="A file that holds a token to accept; can be repeated.",
)
@no_token_option
@click.option(
    "--data",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the events in this file; without it they are gone when the receiver stops.",
)
@click.option(
    "--keep-days", default=30.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="Then events go."
)
@click.option(
    "--keep-bytes",
    default=2048 * _MIB,
    show_default=True,
    type=click.IntRange(min=_MIB),
    help="Above this size of the file the oldest events go.",
)
@click.option(
    "--load", multiple=True, metavar="FILE", help="Events to begin with: JSON, NDJSON, a folder, or -; repeatable."
)
@click.option("--open", "opens", is_flag=True, help="Show the page in a browser.")
@click.option("--tee", is_flag=True, help="Also deliver what is accepted, by the settings.")
@click.option("--strict", is_flag=True, help="Refuse what the destinations' pages only advise against.")
def command(
    port: int,
    host: str,
    tokens: tuple[str, ...],
    token_files: tuple[Path, ...],
    no_token: bool,
    data: Path | None,
    keep_days: float,
    keep_bytes: int,
    load: tuple[str, ...],
    opens: bool,
    tee: bool,
    strict: bool,
) -> None:
    """Receive events as TrueWatch (DataWay, DataKit) and Portal do, on this machine, to look into them.

    Prints its url on stdout once it accepts connections. A test receiver: nothing is forwarded but by --tee.
    """
    try:
        from truewatch_lineage.receiver import server  # noqa: PLC0415 - needs the extra
        from truewatch_lineage.receiver.retention import Keep  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_extra(error, "receiver") from error
    try:
        accepted = _tokens(tokens, token_files)
        check_guarded(host, asks=bool(accepted), no_token=no_token, could="send and read events")
        with _forwarding(port) if tee else contextlib.nullcontext() as forward:
            options = server.Options(host, port, accepted, data, strict, Keep(keep_days, keep_bytes), forward)

            def announce(url: str) -> None:
                _announce(url, options)
                if opens:  # in a thread: some browsers return only when they are closed
                    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

            server.run(options, announce, lambda store: _fill(store, load))
    except ConfigError as error:
        raise UsageProblem(str(error)) from error


def _fill(store: Store, files: Sequence[str]) -> None:
    from truewatch_lineage.cli.reading import items  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.receiver.loading import Item, load  # noqa: PLC0415 - needs the extra

    if not files:
        return
    found = (Item(item.where, item.data, item.problem) for item in items(files))
    taken, left = load(store, found, lambda line: click.echo(line, err=True))
    click.echo(f"{counted(taken, 'event')} loaded" + (f", {left:,} left out." if left else "."), err=True)


@contextlib.contextmanager
def _forwarding(port: int) -> Iterator[Callable[[bytes], None]]:
    """Give what passes an event on to the destinations of the settings, by way of the spool."""
    from truewatch_lineage.pipeline import Pipeline  # noqa: PLC0415 - only --tee needs it

    settings = load_to_deliver()
    refuse_itself(settings, port, "--tee would send every event back to this receiver.")
    pipeline = Pipeline(settings)
    try:
        yield pipeline.emit
    finally:
        pipeline.close()


def _tokens(tokens: tuple[str, ...], files: tuple[Path, ...]) -> tuple[str, ...]:
    from truewatch_lineage.serving.credentials import check_token  # noqa: PLC0415 - needs the extra

    named = [(token, "--token") for token in tokens]
    named += [(_read(file), str(file)) for file in files]
    return tuple(check_token(text, source, "receiver") for text, source in named)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise TokenError("The token's file can't be read as text.", key="--token-file", source=str(file)) from None


def _announce(url: str, options: server.Options) -> None:
    accepted = len(options.tokens)
    asked = f"asks for one of {accepted} tokens" if accepted > 1 else f"asks for {'its' if accepted else 'no'} token"
    kept = f"events are kept in {options.data}" if options.data else "events are gone when it stops"
    passed = "nothing is forwarded" if options.tee is None else "what it accepts is also delivered, by your settings"
    click.echo(f"A test receiver on {url}: {passed}; it {asked}; {kept}.", err=True)
    click.echo(url)


if __name__ == "__main__":
    command()
