"""The outcome table: what each answer must mean, and the sentence that says so.

T is TrueWatch's "OpenLineage" page, P Spotify Portal's "Data Lineage" page; where they are silent, an RFC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ALL = ("dataway", "datakit", "portal", "openlineage")
NOT_PORTAL = ("dataway", "datakit", "openlineage")

CONFIRM = 'T: "Send a minimal START event with curl and confirm a 2xx response."'
CACHED = 'T: "A 200 body with error_code=dataway.cached means DataWay cached the event, so the client need not retry"'
CREATED = 'P: "If the curl response status code is 201, validate the event was received"'
NOT_201 = 'P: "a non-201 response indicates the event was rejected."'
DETERMINISTIC = (
    'T: "Do not retry deterministic 4xx errors, because invalid events can otherwise remain in the sending queue"'
)
ROTATED = 'P: "If the token was recently rotated, ensure you are using the new value."'
SECRET = 'T: "Treat the token as a secret"; RFC 9110, 15.4: following a redirect is a choice'
PAGE = "RFC 9110, 8.3: Content-Type tells what came; a page is not the answer of an API"
FORCELIST = 'T: "status_forcelist":[429,500,502,503,504]'
RETRY_503 = 'T: "Retry a 503 according to that header."'
COLLECTOR = 'T: "when its ddtrace collector is enabled"'
ENDPOINT = 'T: "this integration requires an explicit /v1/write/openlineage endpoint"'
QUOTA = "DataWay's public source: a 403 that holds beyondDataUsage is a quota, not a bad token"
RETRY_AFTER = "RFC 9110, 10.2.3: Retry-After is an HTTP-date or a number of seconds"


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        status: What is answered.
        verdict: ``delivered``, ``retry``, ``park`` or ``dead``.
        why: The sentence behind it.
        kinds: The destinations it holds for.
        headers: The answer's.
        body: The answer's, as JSON unless bytes.
        flags: The outcome's other fields that differ from their defaults.
        says: What the reason must name.
        requests: How many requests the attempt makes.
    """

    status: int
    verdict: str
    why: str
    kinds: tuple[str, ...] = ALL
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""
    requests: int = 1

    def __str__(self) -> str:
        told = "".join(f"-{value}" for value in self.headers.values())
        return f"{self.status}{told}-{self.verdict}"


HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
IF_PASSED = {"dead_if_passed": True}
AMBIGUOUS = {"ambiguous": True}
REFUSED = {"error_code": "dataway.refused", "message": "the secret reason"}


def _parked(*statuses: int, why: str, **more: Any) -> list[Row]:
    return [Row(status, "park", why, flags=IF_PASSED, **more) for status in statuses]


ROWS: list[Row] = [
    # Delivered.
    *(Row(status, "delivered", CONFIRM, NOT_PORTAL) for status in (200, 201, 202, 299)),
    Row(204, "delivered", CONFIRM, NOT_PORTAL, body=b""),
    Row(200, "delivered", CONFIRM, NOT_PORTAL, body=b""),
    Row(
        201, "delivered", CREATED, ("portal",), JSON, {"status": "ok", "data": {"nodesUpserted": 4, "edgesUpserted": 3}}
    ),
    Row(200, "delivered", CACHED, ("dataway", "datakit"), JSON, {"error_code": "dataway.cached"}, {"cached": True}),
    Row(202, "delivered", CACHED, ("dataway", "datakit"), JSON, {"error_code": "dataway.cached"}),
    Row(200, "delivered", CONFIRM, NOT_PORTAL, {"Content-Type": "text/plain"}, b"ok", {"not_json": True}),
    Row(201, "delivered", CREATED, ("portal",), {"Content-Type": "text/plain"}, b"ok", {"not_json": True}),
    # Success that is none.
    *_parked(200, 202, why=NOT_201, kinds=("portal",), says="not 201"),
    *_parked(204, why=NOT_201, kinds=("portal",), body=b""),
    *_parked(200, 400, 422, why=PAGE, headers=HTML, body=b"<h1>Hello</h1>", says="this is no lineage endpoint"),
    *_parked(201, why=PAGE, kinds=("portal",), headers=HTML, body=b"<h1>Hello</h1>", says="no lineage endpoint"),
    # Redirects.
    *(
        row
        for status in (300, 301, 302, 303, 305, 307, 308, 399)
        for row in _parked(
            status, why=SECRET, headers={"Location": "https://other.example/x?token=1"}, says="setting url"
        )
    ),
    *_parked(302, why=SECRET, headers={"Location": "https://other.example/x?token=1"}, says="https://other.example/x)"),
    *_parked(304, why=SECRET, body=b""),
    # What somebody must mend.
    *_parked(402, why="RFC 9110, 15.5.3: Payment Required", says="payment"),
    *_parked(404, why=COLLECTOR, kinds=("datakit",), says="ddtrace collector"),
    *_parked(404, why=ENDPOINT, kinds=("dataway", "portal", "openlineage"), says="Check"),
    *_parked(405, why="RFC 9110, 15.5.6: known by the server but not supported by the target", says="POST"),
    *_parked(407, why="RFC 9110, 15.5.8: the client must authenticate with a proxy", says="setting proxy"),
    *_parked(410, why="RFC 9110, 15.5.11: likely to be permanent", says="gone"),
    *_parked(426, why="RFC 9110, 15.5.22: refuses the current protocol", says="https"),
    *_parked(431, why="RFC 6585, 5: its header fields are too large", says="headers"),
    *_parked(451, why="RFC 7725, 3: denied as a consequence of a legal demand", says="legal"),
    *_parked(501, why="RFC 9110, 15.6.2: does not recognize the method"),
    *_parked(505, why="RFC 9110, 15.6.6: does not support the major version of HTTP", says="HTTP/1.1"),
    *_parked(511, why="RFC 6585, 6: to gain network access", says="sign-in"),
    # The token.
    Row(401, "park", ROTATED, flags={"reread_token": True}, says="token"),
    Row(403, "park", ROTATED, flags={"reread_token": True, **IF_PASSED}, says="token"),
    Row(
        401,
        "park",
        'T: "DataKit\'s configured DataWay token"',
        ("datakit",),
        flags={"reread_token": True},
        says="DataKit's own",
    ),
    Row(
        403,
        "park",
        QUOTA,
        body={"error_code": "dataway.beyondDataUsage"},
        flags={"quota": True, **IF_PASSED},
        says="quota",
    ),
    # The coding.
    Row(415, "park", "RFC 9110, 15.5.16: Content-Encoding may be why", NOT_PORTAL, flags={"plain": True}, requests=2),
    Row(415, "park", "RFC 9110, 15.5.16, of what was sent without coding", ("portal",), flags={"plain": True}),
    # Never again.
    *(Row(status, "dead", DETERMINISTIC, body=REFUSED, says="dataway.refused") for status in (400, 422)),
    *(
        Row(status, "dead", DETERMINISTIC)
        for status in (406, 409, 411, 412, 414, 416, 417, 418, 421, 423, 424, 428, 499)
    ),
    Row(413, "dead", DETERMINISTIC, says="too large"),
    Row(413, "dead", DETERMINISTIC, headers={"Retry-After": "1"}),
    # Later.
    Row(408, "retry", "RFC 9110, 15.5.9: the client MAY repeat that request", flags={"max_attempts": 2}),
    Row(425, "retry", "RFC 8470, 5.2: a client may retry, not as early data", flags={"max_attempts": 2}),
    Row(429, "retry", FORCELIST, flags={"slow_down": True}, says="too many"),
    Row(429, "retry", RETRY_AFTER, headers={"Retry-After": "7"}, flags={"slow_down": True, "retry_after": 7.0}),
    Row(500, "retry", FORCELIST, flags={"patience": True, **AMBIGUOUS}),
    Row(
        500,
        "retry",
        "DataKit passes Retry-After on with a 503 only",
        headers={"Retry-After": "7"},
        flags={"patience": True, **AMBIGUOUS},
    ),
    Row(502, "retry", FORCELIST, flags=AMBIGUOUS),
    Row(503, "retry", FORCELIST),
    Row(503, "retry", RETRY_503, headers={"Retry-After": "2"}, flags={"retry_after": 2.0}),
    Row(503, "retry", RETRY_503, headers={"Retry-After": "315360000"}, flags={"retry_after": 3600.0}),
    Row(
        503, "retry", RETRY_AFTER, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, flags={"retry_after": 60.0}
    ),
    Row(
        503,
        "retry",
        RETRY_AFTER,
        headers={"Retry-After": "Wednesday, 21-Oct-26 07:28:00 GMT"},
        flags={"retry_after": 60.0},
    ),
    Row(503, "retry", RETRY_AFTER, headers={"Retry-After": "Wed Oct 21 07:28:00 2026"}, flags={"retry_after": 60.0}),
    Row(
        503, "retry", RETRY_AFTER, headers={"Retry-After": "Tue, 20 Oct 2026 07:28:00 GMT"}, flags={"retry_after": 0.0}
    ),
    Row(503, "retry", RETRY_AFTER, headers={"Retry-After": "-5"}),
    Row(503, "retry", RETRY_AFTER, headers={"Retry-After": "soon"}),
    Row(504, "retry", FORCELIST, flags=AMBIGUOUS),
    *(
        Row(status, "retry", "RFC 9110, 15.6: the server failed", flags=AMBIGUOUS)
        for status in (506, 507, 508, 520, 530, 599)
    ),
    *(Row(status, "retry", "RFC 9110, 15: above 599 counts as 5xx", flags=AMBIGUOUS) for status in (600, 999)),
    Row(101, "retry", "RFC 9110, 15.2.2: not what was asked for", flags=AMBIGUOUS),
]

NOW = 1792567620.0
"""2026-10-21 07:27:00 UTC: the clock of the rows with a date."""

PARKED = frozenset({402, 404, 405, 407, 410, 415, 426, 431, 451, 501, 505, 511, 401, 403})
RETRIED = frozenset({408, 425, 429})


def verdict_of(status: int) -> str:
    """Say what any status from 200 to 599 must mean to a destination that takes any 2xx."""
    if status in PARKED or 300 <= status < 400:
        return "park"
    if status in RETRIED or status >= 500:
        return "retry"
    return "delivered" if status < 300 else "dead"
