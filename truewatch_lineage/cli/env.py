"""``truewatch-lineage env``: what to set for this transport, or for the stock client, without ever showing a token."""

from __future__ import annotations

from typing import Final

import click

from truewatch_lineage.cli.settings import SOURCE, SettingsCommand, given, load_settings, refuse_disabled
from truewatch_lineage.config import gather

EPILOG = """\b
Examples:
  truewatch-lineage env python
  truewatch-lineage env airflow --stock --url https://openway.truewatch.com --token-file /etc/truewatch/token
"""
TOOLS: Final = ("python", "airflow", "dbt")


@click.command("env", cls=SettingsCommand, epilog=EPILOG)
@click.argument("tool", type=click.Choice(TOOLS))
@click.option("--stock", is_flag=True, help="For OpenLineage's own client, in the place of this transport.")
@click.option(
    "--file", "as_file", is_flag=True, help="As openlineage.yml (python, dbt) or airflow.cfg, not as exports."
)
def command(tool: str, stock: bool, as_file: bool) -> None:
    """Print what to set for a Python program, Airflow or dbt, from the present settings.

    The token is never printed: what is printed names its file or variable.
    """
    from truewatch_lineage.cli import env_own, env_stock  # noqa: PLC0415 - the help needs none of it

    settings = refuse_disabled(load_settings(delivery="spool"))  # which asks for no token: none is printed
    if stock:
        for number, destination in enumerate(settings.destinations):
            if number:
                click.echo(f"\n# Or, for {destination.name}: a program has one of these.")
            click.echo(env_stock.lines(tool, destination, as_file=as_file))
        return
    whole, destinations = gather(given(), params_name=SOURCE)
    click.echo(env_own.lines(tool, whole, destinations, as_file=as_file))
