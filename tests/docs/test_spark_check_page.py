"""docs/spark-check.md says what the linter does."""

from __future__ import annotations

from support.repository import ROOT, table_rows

from truewatch_lineage_spark.lint.catalog import RULES
from truewatch_lineage_spark.lint.keys import LISTENER_VERSION
from truewatch_lineage_spark.lint.sources import FORMATS

PAGE = (ROOT / "docs" / "spark-check.md").read_text(encoding="utf-8")


def test_the_page_has_every_rule_with_its_severity() -> None:
    """In the words of the table that the code reads."""
    rows = {row[0].strip("`"): (row[1], row[2]) for row in table_rows(PAGE) if row[0].startswith("`") and "." in row[0]}

    assert rows == {name: (rule.severity, rule.happens) for name, rule in RULES.items()}


def test_the_page_names_the_formats_and_the_listener() -> None:
    """As the command's options have them."""
    assert f"--format {'|'.join(FORMATS)}" in PAGE
    assert f"listener {LISTENER_VERSION}" in PAGE
