"""The gateway's own tokens."""

from __future__ import annotations

import contextlib

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
    assert "second-token" not in repr(accepted)


@pytest.mark.parametrize(("length", "counts"), [(4096, True), (4097, False)])
def test_a_token_that_is_too_long_never_counts(tmp_path, length, counts):
    """Clients can show no such one; at the start it is an error, later the last one stays."""
    long = "x" * length
    file = write_private(tmp_path / "token", "first-token")
    accepted = Accepted([FileToken(file)])
    write_private(tmp_path / "new", long).replace(file)
    assert list(accepted) == [long if counts else "first-token"]
    with contextlib.nullcontext() if counts else pytest.raises(TokenError, match="more than 4,096 characters") as told:
        Accepted([FileToken(file)])
    assert long not in str(told)


def test_a_file_that_can_not_be_read_at_first_is_an_error(tmp_path):
    """A gateway that asks for a token it does not know would refuse everybody."""
    with pytest.raises(TokenError, match="is not there"):
        Accepted([FileToken(tmp_path / "absent")])


def test_no_sources_are_no_tokens():
    """Which means that none is asked for."""
    assert (len(Accepted([])), list(Accepted([]))) == (0, [])
