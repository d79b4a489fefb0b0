"""``truewatch-lineage env``: what to set for this transport, or for the stock client, without ever showing a token."""

from __future__ import annotations

from typing import Final

import click

from truewatch_lineage.cli.settings import SOURCE, SettingsCommand, given, load_settings, refuse_disabled
from truewatch_lineage.config import gather

EPILOG = """\b
Examples:
  truewatch-lineage env python
  truewatch-lineage env airflow --by connection --url https://openway.truewatch.com
  truewatch-lineage env airflow --stock --url https://openway.truewatch.com --token-file /etc/truewatch/token
"""
TOOLS: Final = ("python", "airflow", "dbt")
WAYS: Final = ("variables", "section", "connection")
_OTHER_WAYS: Final = "Or one connection in the place of all this: truewatch-lineage env airflow --by connection"


@click.command("env", cls=SettingsCommand, epilog=EPILOG)
@click.argument("tool", type=click.Choice(TOOLS))
@click.option("--stock", is_flag=True, help="For OpenLineage's own client, in the place of this transport.")
@click.option(
    "--file", "as_file", is_flag=True, help="As openlineage.yml (python, dbt) or airflow.cfg, not as exports."
)
@click.option(
    "--by",
    type=click.Choice(WAYS),
    help="airflow: by variables [default], by the section [truewatch] of its configuration, or by a connection.",
)
@click.option("--beside", is_flag=True, help="airflow: beside the transport that it has already.")
def command(tool: str, stock: bool, as_file: bool, by: str | None, beside: bool) -> None:
    """Print what to set for a Python program, Airflow or dbt, from the present settings.

    The token is never printed: what is printed names its file or variable.
    """
    from truewatch_lineage.cli import env_airflow, env_own, env_stock  # noqa: PLC0415 - the help needs none of it

    _check_together(tool, stock=stock, by=by, beside=beside)
    if beside:
        click.echo(env_airflow.beside(as_file=as_file))
        return
    settings = refuse_disabled(load_settings(delivery="spool"))  # which asks for no token: none is printed
    if stock:
        for number, destination in enumerate(settings.destinations):
            if number:
                click.echo(f"\n# Or, for {destination.name}: a program has one of these.")
            click.echo(env_stock.lines(tool, destination, as_file=as_file))
        return
    whole, destinations = gather(given(), params_name=SOURCE)
    if by == "section":
        click.echo(env_airflow.section(whole, destinations, as_file=as_file))
    elif by == "connection":
        click.echo(env_airflow.connection(settings, whole, destinations, as_file=as_file))
    else:
        other = env_own.comments(_OTHER_WAYS if tool == "airflow" else None)
        click.echo(other + env_own.lines(tool, whole, destinations, as_file=as_file))


def _check_together(tool: str, *, stock: bool, by: str | None, beside: bool) -> None:
    names = {"--stock": stock, "--by": by, "--beside": beside}
    chosen = [name for name, value in names.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} don't go together.")
    if tool != "airflow" and (by or beside):
        raise click.UsageError(f"{chosen[0]} is for airflow only.")
