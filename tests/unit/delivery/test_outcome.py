"""What a result means, without a network: the whole table over sockets is in tests/contract."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage.delivery.fault import Fault
from truewatch_lineage.delivery.http import HttpResult
from truewatch_lineage.delivery.outcome import Verdict, judge
from truewatch_lineage.destinations.builtin import DATAKIT, DATAWAY, PORTAL, PROFILES

PARKING = {Fault.CERTIFICATE, Fault.SETTINGS}


@pytest.mark.parametrize("fault", Fault)
def test_every_fault_has_a_verdict(fault) -> None:
    """What mends itself is tried again; a certificate or a setting waits for somebody."""
    outcome = judge(HttpResult(fault=fault, detail="what happened"), DATAWAY, now=0)

    assert outcome.verdict is (Verdict.PARK if fault in PARKING else Verdict.RETRY)
    assert outcome.reason.startswith("what happened")


@pytest.mark.parametrize("sent", [True, False])
def test_a_fault_is_ambiguous_once_something_was_sent(sent) -> None:
    """Only then may the event arrive twice."""
    assert judge(HttpResult(fault=Fault.TIMEOUT, sent=sent), DATAWAY, now=0).ambiguous is sent


def test_a_truncated_answer_counts_for_nothing() -> None:
    """A fault outweighs the status that came before it."""
    assert judge(HttpResult(200, fault=Fault.TRUNCATED, sent=True), DATAWAY, now=0).verdict is Verdict.RETRY


@pytest.mark.parametrize("kind", PROFILES)
def test_what_to_mend_is_in_the_destinations_own_words(kind) -> None:
    """A 404 says what is missing there."""
    assert PROFILES[kind].missing in judge(HttpResult(404), PROFILES[kind], now=0).reason


def test_the_reason_of_a_refused_token_names_where_it_is_kept() -> None:
    """Each destination keeps its tokens elsewhere; DataKit has its own."""
    reasons = [judge(HttpResult(401), profile, now=0).reason for profile in (DATAWAY, DATAKIT, PORTAL)]

    assert ["workspace" in reasons[0], "DataKit's configuration" in reasons[1], "External access" in reasons[2]] == [
        True
    ] * 3


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error_code": "ns.camelCase", "message": "secret"}', "(ns.camelCase)"),
        (b'{"error_code": 7}', ": "),
        (b'{"error_code": "with space"}', ": "),
        (b'{"error_code": "' + b"x" * 81 + b'"}', ": "),
        (b'["error_code"]', ": "),
        (b"secret", ": "),
        (b"[" * 60_000, ": "),
    ],
)
def test_of_a_body_only_a_plain_error_code_is_shown(body, shown) -> None:
    """Nothing else of what a stranger wrote reaches a log."""
    reason = judge(HttpResult(400, body=body), DATAWAY, now=0).reason

    assert reason.startswith(f"TrueWatch DataWay answered 400{shown if shown == ': ' else f' {shown}'}")
    assert "secret" not in reason


@given(
    status=st.integers(100, 999),
    body=st.binary(max_size=60),
    headers=st.dictionaries(st.sampled_from(["content-type", "retry-after", "location"]), st.text()),
    profile=st.sampled_from(list(PROFILES.values())),
)
def test_every_answer_has_an_outcome(status, body, headers, profile) -> None:
    """Whatever a destination answers, judging it never raises, and only success is delivered."""
    outcome = judge(HttpResult(status, headers, body), profile, now=0)

    assert outcome.reason
    assert outcome.verdict is not Verdict.DELIVERED or profile.is_success(status)
