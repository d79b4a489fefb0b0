"""The gateway's own tokens."""

from __future__ import annotations

import pytest
from support.private import write_private

from truewatch_lineage.destinations.token_file import FileToken
from truewatch_lineage.errors import TokenError
from truewatch_lineage.gateway.http.tokens import Accepted


def test_a_file_is_read_again_when_it_changes(tmp_path):
    """And the last text counts while it can't be read, so that a gateway never opens by that."""
    file = write_private(tmp_path / "token", "first-token\n")
    accepted = Accepted([FileToken(file)])
    assert (len(accepted), list(accepted)) == (1, ["first-token"])
    write_private(tmp_path / "new", "second-token").replace(file)
    assert list(accepted) == ["second-token"]
    file.unlink()
    assert (len(accepted), list(accepted)) == (1, ["second-token"])
    assert "token)" not in repr(accepted).replace("tokens)", "")


def test_a_file_that_can_not_be_read_at_first_is_an_error(tmp_path):
    """A gateway that asks for a token it does not know would refuse everybody."""
    with pytest.raises(TokenError, match="is not there"):
        Accepted([FileToken(tmp_path / "absent")])


def test_no_sources_are_no_tokens():
    """Which means that none is asked for."""
    assert (len(Accepted([])), list(Accepted([]))) == (0, [])
