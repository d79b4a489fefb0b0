"""``truewatch-lineage spark check``: what is wrong with Spark's settings, by line, with the fix."""

from __future__ import annotations

from typing import Final

import click

from truewatch_lineage.cli import output
from truewatch_lineage_spark.lint import report, rules, sources

EPILOG: Final = """\b
Examples:
  truewatch-lineage spark check spark-defaults.conf
  truewatch-lineage spark check submit.sh openlineage.yml lineage.env
  truewatch-lineage spark check --json cluster.json

\b
Exits 1 if there is an error, 0 if there are warnings only.
"""


@click.command("check", epilog=EPILOG)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(sources.FORMATS)),
    help="What the files are. [default: what their names or contents say]",
)
@click.option("--scala", type=click.Choice(("2.12", "2.13")), help="The Scala version that Spark is built for.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
def command(files: tuple[str, ...], format_: str | None, scala: str | None, as_json: bool) -> None:
    """Name what Spark or OpenLineage's listener would get wrong, and where a token shows, by file and line.

    A FILE is spark-defaults.conf, a script or arguments of spark-submit, openlineage.yml, a file of variables, JSON or
    YAML of Databricks, EMR, Kubernetes, Glue, Dataproc or Livy, PySpark code, or - for standard input. Files that are
    named together are taken to be used together. No value is ever shown.
    """
    documents = [sources.read(file, format_) for file in files]
    findings = rules.check(documents, scala=scala)
    if as_json:
        output.as_json(report.as_dict(documents, findings))
    else:
        for line in report.lines(findings):
            click.echo(line)
        for note in (note for document in documents for note in document.notes):
            output.note(note)
        output.note(report.summary(documents, findings))
    click.get_current_context().exit(1 if report.errors_of(findings) else 0)
