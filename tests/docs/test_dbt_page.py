"""docs/dbt.md and examples/dbt name what exists: variables, settings, commands."""

from __future__ import annotations

import ast
import re

import pytest
import yaml
from support.repository import ROOT

from truewatch_lineage.config.keys import KEYS, PREFIX

PAGE = (ROOT / "docs" / "dbt.md").read_text(encoding="utf-8")
EXAMPLES = sorted(path for path in (ROOT / "examples" / "dbt").iterdir() if path.is_file())
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "dbt_wrapper").rglob("*.py"))
OF_THE_CORE = {f"{PREFIX}{key.upper()}" for key in KEYS} | {f"{PREFIX}CONFIG", "OPENLINEAGE_DISABLED"}
SETTING = re.compile(r"\b(?:TRUEWATCH_LINEAGE|OPENLINEAGE)_[A-Z][A-Z_]*[A-Z]\b")


@pytest.mark.parametrize("path", [ROOT / "docs" / "dbt.md", *EXAMPLES], ids=lambda path: path.name)
def test_every_variable_is_one_that_is_read(path) -> None:
    """Of the core's settings, or by the wrapper."""
    named = set(SETTING.findall(path.read_text(encoding="utf-8")))

    assert {name for name in named - OF_THE_CORE if f'"{name}"' not in SOURCE} == set()


def test_every_variable_of_the_wrapper_is_on_the_page() -> None:
    """None is read that nobody can know of."""
    read = set(re.findall(r'"((?:TRUEWATCH_LINEAGE|OPENLINEAGE)_[A-Z_]+)"', SOURCE))

    assert {name for name in read - OF_THE_CORE if name not in PAGE} == set()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_parses_and_is_named_on_the_page(path) -> None:
    """A reader finds it, and it is Python or YAML."""
    text = path.read_text(encoding="utf-8")

    assert f"examples/dbt/{path.name}" in PAGE
    assert "truewatch-dbt" in text
    assert ast.parse(text) if path.suffix == ".py" else yaml.safe_load(text)
