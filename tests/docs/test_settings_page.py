"""docs/settings.md says what the code does."""

from __future__ import annotations

import pytest
from support.repository import ROOT, table_rows

from truewatch_lineage.config.keys import KEYS

PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
DEFAULTS = {row[0].strip("`"): row[1].replace("`", "") for row in table_rows(PAGE) if len(row) == 3}


def test_the_page_has_every_key_and_no_other() -> None:
    """No key is left out, and none is documented that does not exist."""
    assert set(DEFAULTS) - {"key", "---"} == set(KEYS)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.name)
def test_the_page_gives_the_codes_default_and_choices(key) -> None:
    """A row of the page agrees with the row of the table that the code reads."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{key.name}` |"))

    assert DEFAULTS[key.name] == key.default
    assert [choice for choice in key.choices if f"`{choice}`" not in row] == []


@pytest.mark.parametrize("alias", [alias for key in KEYS.values() for alias in key.aliases])
def test_the_page_names_every_other_spelling(alias) -> None:
    """Other clients' names for a setting are documented."""
    assert f"`{alias}`" in PAGE
