"""The settings that the documentation shows are accepted."""

from __future__ import annotations

import pytest
import yaml
from support.repository import DOCS, code_blocks

from truewatch_lineage.config import load
from truewatch_lineage.config.keys import TOKEN_KEYS

URL = {"url": "https://openway.truewatch.com"}


def _blocks(language):
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in DOCS
        for number, block in enumerate(code_blocks(page.read_text(encoding="utf-8"), language))
    ]


@pytest.mark.parametrize("block", _blocks("yaml"))
def test_a_transports_settings_are_accepted(block) -> None:
    """Every YAML block is a transport's dict, or some keys of one."""
    params = yaml.safe_load(block)
    needed = URL if any(key in params for key in TOKEN_KEYS) else URL | {"token_file": "token"}
    params = params["transport"] if "transport" in params else needed | params

    assert load(params, environ={}).destinations


@pytest.mark.parametrize("block", _blocks("toml"))
def test_a_settings_file_is_accepted(block, tmp_path) -> None:
    """Every TOML block is a whole settings file."""
    path = tmp_path / "lineage.toml"
    path.write_text(block, encoding="utf-8")

    assert load(environ={"TRUEWATCH_LINEAGE_CONFIG": str(path)}).destinations
