"""``truewatch-lineage spark conf``: Spark's settings, from the settings that every command takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click

from truewatch_lineage.cli.settings import SettingsCommand, load_settings, refuse_disabled
from truewatch_lineage_spark.flavours import DEFAULT_MODE, FLAVOURS, Extras
from truewatch_lineage_spark.plan import DEFAULT_NAMESPACE, PROFILES, Options, make_plan, told_timeouts
from truewatch_lineage_spark.versions import DEFAULT_SPARK, SCALAS, choose

_FORMS: Final = "\n".join(f"  {name:<15} {flavour.summary}" for name, flavour in FLAVOURS.items())
EPILOG: Final = f"""\b
Forms:
{_FORMS}

\b
Examples:
  truewatch-lineage spark conf --url https://openway.truewatch.com --token-file /etc/truewatch/token
  truewatch-lineage spark conf --destination datakit --spark 4.0 --base spark-defaults.conf -o new.conf
  truewatch-lineage spark conf --format k8s --profile lean --url https://openway.truewatch.com
"""
_SECRET: Final = re.compile(r"[A-Za-z0-9._:/@+=-]+")


@click.command("conf", cls=SettingsCommand, epilog=EPILOG)
@click.option(
    "--format", "form", type=click.Choice(list(FLAVOURS)), default="properties", show_default=True, help="The form."
)
@click.option(
    "--spark",
    default=DEFAULT_SPARK,
    show_default=True,
    metavar="VERSION",
    help=f"Spark's version: {', '.join(SCALAS)}.",
)
@click.option("--scala", metavar="VERSION", help="The Scala version that Spark is built for. [default: the usual one]")
@click.option("--namespace", default=DEFAULT_NAMESPACE, show_default=True, help="The namespace of Spark's jobs.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="full",
    show_default=True,
    help="lean: fewer events and smaller ones.",
)
@click.option("--jars", metavar="PATH", help="The listener's jar, where Spark can't ask Maven Central.")
@click.option(
    "--base",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of settings to extend: spark-defaults.conf, or one in the form itself.",
)
@click.option("--secret", metavar="NAME", help="What the platform knows the token by. [default: an example]")
@click.option(
    "--access-mode",
    type=click.Choice(["dedicated", "standard", "no-isolation", "serverless"]),
    help=f"databricks: the compute's access mode. [default: {DEFAULT_MODE}]",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
def command(
    form: str,
    spark: str,
    scala: str | None,
    namespace: str,
    profile: str,
    jars: str | None,
    base: Path | None,
    secret: str | None,
    access_mode: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Write what makes Spark send its lineage to the present destinations.

    The token is never written: the driver's environment or the platform's own secrets bring it in, and what is
    written says how.
    """
    from truewatch_lineage_spark import base as bases  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage_spark import output as outputs  # noqa: PLC0415

    flavour = FLAVOURS[form]
    if force and output is None:
        raise click.UsageError("--force goes with --output.")
    _check_secret(secret, form)
    if access_mode and form != "databricks":
        raise click.UsageError("--access-mode is for --format databricks.")
    settings = refuse_disabled(load_settings(delivery="spool"))  # which asks for no token: none is written
    found = bases.read(base, flavour) if base else bases.NOTHING
    plan = make_plan(
        Options(
            destinations=settings.destinations,
            jar=choose(spark, scala, jars),
            namespace=namespace,
            profile="lean" if profile == "lean" else "full",
            carrier=flavour.carrier,
            base=found.properties,
            timeouts=told_timeouts(settings),
        )
    )
    rendered = flavour.load().render(
        plan, Extras(secret=secret, access_mode=access_mode or DEFAULT_MODE, base=found.tree)
    )
    if output is None:
        outputs.show(rendered)
    else:
        outputs.write(rendered, output, private=flavour.private, force=force)


def _check_secret(secret: str | None, form: str) -> None:
    """Refuse a name of a secret that the form has no place for, or that a shell or template would read otherwise."""
    if secret is None:
        return
    if not FLAVOURS[form].names_secret:
        forms = ", ".join(name for name, flavour in FLAVOURS.items() if flavour.names_secret)
        raise click.UsageError(f"--secret is for the forms {forms}: {form} takes the token from a variable.")
    if not _SECRET.fullmatch(secret):
        raise click.UsageError("--secret names the platform's secret: letters, digits and any of . _ : / @ + = -")
