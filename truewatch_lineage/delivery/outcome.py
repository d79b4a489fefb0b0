"""What a result means for the event and its destination: the table of the design's section 4, as data and one function.

Pure: nothing here waits, sends, logs or reads a clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import Any, Final

import orjson

from truewatch_lineage.delivery.backoff import parse_retry_after
from truewatch_lineage.delivery.fault import Fault
from truewatch_lineage.delivery.http import HttpResult
from truewatch_lineage.destinations.profile import Profile
from truewatch_lineage.protocol import CACHED_ERROR_CODE, QUOTA_MARK

CACHED: Final = "accepted into DataWay's cache, not visible yet"
"""The reason of a delivery that was cached, by which a receipt tells it from others."""


class Verdict(Enum):
    """What happens next."""

    DELIVERED = "delivered"
    RETRY = "retry"
    PARK = "park"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attempt came to.

    Attributes:
        verdict: Delivered; tried again later; the destination stops until somebody mends something; or dead letter.
        reason: Why, and for a stop what to mend, in plain words without any secret.
        status: The answer's, or None.
        cached: Delivered into DataWay's cache: counted, not yet visible, not sent again.
        not_json: Delivered, though the answer's body is no JSON: counted.
        retry_after: Seconds (0 to 3600) for which the destination asked to be left alone; with 429 and 503 only.
        max_attempts: After so many attempts the event is dead; such a retry stops only its own lane.
        dead_if_passed: The event is dead where a later attempt with the same settings has passed.
        patience: The event is dead only after at least 20 tries and 24 hours, and others passing.
        quota: The workspace's quota is used up, which no other token mends.
        slow_down: The destination wants fewer requests at a time.
        reread_token: The token was refused: worth another try if its source holds another one by now.
        plain: The coding was refused: worth another try without gzip.
        ambiguous: The destination may have taken the event all the same, so that it may arrive twice.
    """

    verdict: Verdict
    reason: str
    status: int | None = None
    cached: bool = False
    not_json: bool = False
    retry_after: float | None = None
    max_attempts: int | None = None
    dead_if_passed: bool = False
    patience: bool = False
    quota: bool = False
    slow_down: bool = False
    reread_token: bool = False
    plain: bool = False
    ambiguous: bool = False


def _park(reason: str, *, dead_if_passed: bool = True, **flags: bool) -> Outcome:
    return Outcome(Verdict.PARK, reason, dead_if_passed=dead_if_passed, **flags)


def _retry(reason: str, **flags: Any) -> Outcome:
    return Outcome(Verdict.RETRY, reason, **flags)


def _dead(reason: str) -> Outcome:
    return Outcome(Verdict.DEAD, reason)


_ROWS: Final[Mapping[int, Outcome]] = {
    400: _dead("the event is malformed, so sending it again can't help."),
    401: _park("the token was refused. {token}", dead_if_passed=False, reread_token=True),
    402: _park("payment is required. Check the account's plan."),
    403: _park("access was refused. {token}", reread_token=True),
    404: _park("there is nothing at this url. {missing}"),
    405: _park("this url takes no POST. {missing}"),
    406: _dead("no rule there accepts the event, so sending it again can't help."),
    407: _park("a proxy in between wants credentials. Put them into the setting proxy."),
    408: _retry("it waited too long for the request.", max_attempts=2),
    410: _park("the endpoint is gone. {missing}"),
    413: _dead("the event is too large, so sending it again can't help."),
    415: _park("it does not take JSON sent like this. {missing}", dead_if_passed=False, plain=True),
    422: _dead("the event breaks a rule, so sending it again can't help."),
    425: _retry("it did not want to take the risk of an early request.", max_attempts=2),
    426: _park("it wants another protocol. Check whether the url must start with https."),
    429: _retry("too many requests.", slow_down=True),
    431: _park("the headers are too large. Shorten the setting headers."),
    451: _park("it is barred for legal reasons. Ask whoever runs the destination."),
    500: _retry("it failed inside.", patience=True, ambiguous=True),
    501: _park("it does not know how to take a POST. {missing}"),
    502: _retry("what is behind it failed.", ambiguous=True),
    503: _retry("it is not available now."),
    504: _retry("what is behind it took too long.", ambiguous=True),
    505: _park("it does not speak HTTP/1.1. {missing}"),
    511: _park("this network asks for a sign-in first. Sign in, or set a proxy."),
}
"""By status. A template's {missing} and {token} are the destination's own words."""

_REDIRECT: Final = _park(
    "redirects are not followed, as they would carry the token away. Put that url into the setting url."
)
_NOT_LINEAGE: Final = _park("it answered a page (text/html): this is no lineage endpoint. {missing}")
_NOT_SUCCESS: Final = _park("that is not {success}, so the event was not taken. {missing}")
_QUOTA: Final = _park("the quota for data is used up. Raise it, or wait until it is renewed.", quota=True)
_OTHER_4XX: Final = _dead("the event was refused, so sending it again can't help.")
_OTHER: Final = _retry("it failed.", ambiguous=True)
"""5xx, and what is outside 100 to 599, which counts as 5xx (RFC 9110, 15)."""

_FAULTS: Final[Mapping[Fault, Outcome]] = {
    Fault.CERTIFICATE: _park("Check ca_file, client_cert and the certificate itself: verifying is never switched off."),
    Fault.SETTINGS: _park("", dead_if_passed=False),
}
_PROXY_REFUSED: Final = _park(
    "Check the setting proxy, its credentials, and what it lets through.", dead_if_passed=False
)
_OTHER_FAULT: Final = _retry("")

_TOKEN_FIX: Final = {
    "dataway": "Check that the token is the workspace's own and has not been revoked.",
    "datakit": "It is DataKit's own DataWay token: mend it in DataKit's configuration.",
    "portal": "Check the token under Admin, App Settings, External access; if it was rotated, set the new one.",
}

_SAFE_CODE: Final = re.compile(r"[A-Za-z0-9_.]{1,80}")
_BAD_EVENT: Final = frozenset({400, 422})
_RETRY_AFTER: Final = frozenset({429, 503})
_CLIENT_ERRORS: Final = range(400, 500)
_REDIRECTS: Final = range(300, 400)
_SUCCESSES: Final = range(200, 300)


def judge(result: HttpResult, profile: Profile, *, now: float) -> Outcome:
    """Say what ``result`` means.

    Args:
        result: What came of the POST.
        profile: The destination's rules.
        now: Seconds since the epoch, for a Retry-After that is a date.
    """
    if result.fault is not None:
        return _judge_fault(result, result.fault)
    status = result.status or 0
    page = _is_page(result)
    if profile.is_success(status) and not page:
        return _delivered(result, status)
    row = _row(result, status, page=page)
    wait = parse_retry_after(result.headers.get("retry-after"), now) if status in _RETRY_AFTER else None
    return replace(row, reason=_reason(row.reason, result, profile), status=status, retry_after=wait)


def _judge_fault(result: HttpResult, fault: Fault) -> Outcome:
    row = _FAULTS.get(fault, _OTHER_FAULT)
    if fault is Fault.PROXY and result.status in _CLIENT_ERRORS:
        row = _PROXY_REFUSED
    reason = f"{result.detail.removesuffix('.')}. {row.reason}" if row.reason else result.detail
    return replace(row, reason=reason, status=result.status, ambiguous=result.sent)


def _row(result: HttpResult, status: int, *, page: bool) -> Outcome:
    if status in _SUCCESSES or status in _BAD_EVENT:
        if page:
            return _NOT_LINEAGE
        return _ROWS.get(status, _NOT_SUCCESS)
    if status == HTTPStatus.FORBIDDEN and QUOTA_MARK.encode() in result.body:
        return _QUOTA
    if status in _REDIRECTS:
        return _REDIRECT
    return _ROWS.get(status, _OTHER_4XX if status in _CLIENT_ERRORS else _OTHER)


def _delivered(result: HttpResult, status: int) -> Outcome:
    tree, is_json = _parse(result.body)
    if status == HTTPStatus.OK and _error_code(tree) == CACHED_ERROR_CODE:
        return Outcome(Verdict.DELIVERED, CACHED, status, cached=True)
    return Outcome(Verdict.DELIVERED, "delivered", status, not_json=not is_json)


def _parse(body: bytes) -> tuple[Any, bool]:
    """Return the body as JSON and whether it is any; no body at all is no fault."""
    if not body:
        return None, True
    try:
        return orjson.loads(body), True
    except orjson.JSONDecodeError:
        return None, False


def _error_code(tree: Any) -> str | None:
    """Return ``error_code`` where it looks like one: nothing else of a body is ever shown."""
    code = tree.get("error_code") if isinstance(tree, dict) else None
    return code if isinstance(code, str) and _SAFE_CODE.fullmatch(code) else None


def _is_page(result: HttpResult) -> bool:
    return result.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html"


def _reason(template: str, result: HttpResult, profile: Profile) -> str:
    code = _error_code(_parse(result.body)[0])
    told = ", ".join(filter(None, (code, result.detail)))
    text = template.format(
        missing=profile.missing,
        token=_TOKEN_FIX.get(profile.kind, "Check the token."),
        success=" or ".join(str(status) for status in sorted(profile.success or ())),
    )
    return f"{profile.label} answered {result.status}{f' ({told})' if told else ''}: {text}"
