"""Groups of commands: what they do by themselves, with whichever release of click."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from truewatch_lineage.cli import main


@pytest.mark.parametrize("args", [[], ["spool"]])
def test_a_group_without_a_command_is_wrong_usage_and_shows_the_help(args) -> None:
    """Design section 7: exit code 2 is usage."""
    ran = CliRunner().invoke(main, args)

    assert ran.exit_code == 2
    assert "Usage:" in ran.output
    assert "Commands:" in ran.output
