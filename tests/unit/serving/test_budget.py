"""The bytes that the bodies of all requests together may take."""

from __future__ import annotations

import pytest

from truewatch_lineage.serving.answers import Refusal
from truewatch_lineage.serving.bodies import Budget


def test_a_request_gives_back_what_it_had():
    """Also where it was refused in the middle."""
    budget = Budget(100)
    with budget.lease() as one:
        one.resize(60)
        one.resize(80)
        with budget.lease() as two:
            two.resize(20)
            assert budget.held == 100
            with pytest.raises(Refusal) as refused:
                two.resize(21)
            assert budget.held == 100
        assert budget.held == 80
    assert budget.held == 0
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "1")


def test_less_is_always_possible():
    """Giving back is never refused."""
    budget = Budget(10)
    with budget.lease() as lease:
        lease.resize(10)
        lease.resize(3)
        assert budget.held == 3
