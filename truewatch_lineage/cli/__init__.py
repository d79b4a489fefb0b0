"""``truewatch-lineage``: one file a command, each imported only when it is asked for."""

from __future__ import annotations

from typing import Any

import click

from truewatch_lineage.cli.guard import EXIT_NO, guarded
from truewatch_lineage.cli.lazy import LazyGroup, Place
from truewatch_lineage.errors import ConfigError, SpoolUnusableError, TruewatchLineageError

EXIT_USAGE = 2

_HERE = "truewatch_lineage.cli"
_PLACES = {
    "demo": Place(f"{_HERE}.demo", "Send a real pipeline's events through an outage, to a receiver on this machine."),
    "check": Place(f"{_HERE}.check", "Check the way to each destination, step by step."),
    "send": Place(f"{_HERE}.send", "Send events from files and wait until they are delivered."),
    "validate": Place(f"{_HERE}.validate", "Name what a destination would refuse, by JSON path."),
    "receive": Place(f"{_HERE}.receive", "Receive events on this machine, as the destinations do."),
    "spool": Place(f"{_HERE}.spool", "Show, deliver and mend what waits."),
    "courier": Place(f"{_HERE}.courier", "Deliver in the background until stopped."),
    "gateway": Place(f"{_HERE}.gateway", "Take events from any client or from Kafka, keep them, and deliver them."),
    "env": Place(f"{_HERE}.env", "Print what to set for Python, Airflow or dbt."),
    "spark": Place("truewatch_lineage_spark.commands", "Write and check Spark's settings for OpenLineage."),
}
_LEVELS = ("debug", "info", "warning", "error")
_EPILOG = """\b
Examples:
  truewatch-lineage demo
  truewatch-lineage check --url https://openway.truewatch.com --token-file /etc/truewatch/token
  truewatch-lineage send events/

\b
Exit codes: 0 all well, 1 the answer is no, 2 usage or settings, 75 kept in the spool and not delivered yet,
130 interrupted, 141 nobody reads the output.
"""


class _Main(LazyGroup):
    """Prints every error of ours as one message, and gives each kind its exit code."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with guarded():  # the help is printed in here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with guarded():
            try:
                return super().invoke(ctx)
            except TruewatchLineageError as error:
                click.echo(f"Error: {error}", err=True)
                return ctx.exit(EXIT_USAGE if isinstance(error, (ConfigError, SpoolUnusableError)) else EXIT_NO)


@click.group(cls=_Main, places=_PLACES, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="truewatch-lineage", prog_name="truewatch-lineage")
@click.option(
    "--log-level",
    type=click.Choice(_LEVELS, case_sensitive=False),
    default="warning",
    show_default=True,
    help="How much is said on stderr of what happens inside; never a token or an event.",
)
@click.pass_context
def main(context: click.Context, log_level: str) -> None:
    """Take OpenLineage events to TrueWatch and Spotify Portal.

    Settings are options of the commands, variables (TRUEWATCH_LINEAGE_URL) or a file (TRUEWATCH_LINEAGE_CONFIG). A
    token is never an option: name its file in TRUEWATCH_LINEAGE_TOKEN_FILE.
    """
    from truewatch_lineage.cli import logs  # noqa: PLC0415 - the help needs no logging

    if context.invoked_subcommand != "receive":  # which logs by itself
        context.call_on_close(logs.to_stderr(log_level))
