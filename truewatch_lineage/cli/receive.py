"""``truewatch-lineage receive``: the local receiver."""

from __future__ import annotations

from pathlib import Path

import click

from truewatch_lineage.errors import ConfigError, TokenError

EPILOG = """\b
Example:
  truewatch-lineage receive --port 8765 --token local-test-token --data events.sqlite
  curl -X POST http://127.0.0.1:8765/v1/write/openlineage \\
    -H 'Authorization: Bearer local-test-token' --data-binary @event.json
  curl http://127.0.0.1:8765/api/events
"""


@click.command("receive", epilog=EPILOG)
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address needs a token or --no-token.")
@click.option("--token", "tokens", multiple=True, metavar="T", help="A token to accept; can be repeated.")
@click.option(
    "--token-file",
    "token_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that holds a token to accept; can be repeated.",
)
@click.option("--no-token", is_flag=True, help="Ask for no token, also off loopback.")
@click.option(
    "--data",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the events in this file; without it they are gone when the receiver stops.",
)
@click.option("--strict", is_flag=True, help="Refuse what the destinations' pages only advise against.")
def command(
    port: int,
    host: str,
    tokens: tuple[str, ...],
    token_files: tuple[Path, ...],
    no_token: bool,
    data: Path | None,
    strict: bool,
) -> None:
    """Receive events as TrueWatch (DataWay, DataKit) and Portal do, on this machine, to look into them.

    Prints its url on stdout once it accepts connections. A test receiver: nothing is forwarded.
    """
    try:
        from truewatch_lineage.receiver import server  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    try:
        accepted = _tokens(tokens, token_files)
        _check_guarded(host, accepted, no_token=no_token)
        server.run(server.Options(host, port, accepted, data, strict), lambda url: _announce(url, accepted, data))
    except ConfigError as error:
        raise _UsageProblem(str(error)) from error


def _tokens(tokens: tuple[str, ...], files: tuple[Path, ...]) -> tuple[str, ...]:
    from truewatch_lineage.receiver.auth import check_token  # noqa: PLC0415 - needs the extra

    named = [(token, "--token") for token in tokens]
    named += [(_read(file), str(file)) for file in files]
    return tuple(check_token(text, source) for text, source in named)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise TokenError("The token's file can't be read as text.", key="--token-file", source=str(file)) from None


def _check_guarded(host: str, tokens: tuple[str, ...], *, no_token: bool) -> None:
    from truewatch_lineage.receiver.guards import is_loopback  # noqa: PLC0415 - needs the extra

    if tokens and no_token:
        raise ConfigError("--no-token and a token contradict each other.", fix="Give one of them.")
    if not (tokens or no_token or is_loopback(host)):
        raise ConfigError(
            f"Off loopback, on {host}, anybody could send and read events.",
            key="--host",
            fix="Add --token-file FILE, or --no-token if that is meant.",
        )


def _announce(url: str, tokens: tuple[str, ...], data: Path | None) -> None:
    asked = f"asks for one of {len(tokens)} token(s)" if tokens else "asks for no token"
    kept = f"events are kept in {data}" if data else "events are gone when it stops"
    click.echo(f"A test receiver on {url}: nothing is forwarded; it {asked}; {kept}.", err=True)
    click.echo(url)


class _UsageProblem(click.ClickException):
    """Exits with 2, as for wrong options."""

    exit_code = 2


def missing_extra(error: ModuleNotFoundError) -> click.ClickException:
    """Make the error that says what to install."""
    return _UsageProblem(
        f"The receiver needs {error.name}, which is not installed. pip install 'truewatch-lineage[receiver]'"
    )


if __name__ == "__main__":
    command()
