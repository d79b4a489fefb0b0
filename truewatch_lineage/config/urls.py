"""From ``url`` and ``endpoint`` to the one address events are posted to.

The rule: url, one slash, endpoint. A base path of the url stays; a url that already ends with the endpoint is taken as
it is. Nothing here shows a url in a message, since a credential may have been written into it.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.kafka_url import is_kafka
from truewatch_lineage.destinations.builtin import BY_ENDPOINT, KAFKA, PROFILES
from truewatch_lineage.destinations.profile import Profile

_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
_LOOPBACK: Final = re.compile(r"localhost\.?|127(?:\.[0-9]{1,3}){3}|::1", re.IGNORECASE)
_TOKEN_FIX: Final = "Take it out and give it as token, token_file, token_env or token_command."  # noqa: S105 - advice
_QUERY_TOKEN: Final = re.compile(r"(?:^|[&;])[^=]*(?:token|key|secret|passw)[^=]*=", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Tell whether ``host`` is this machine by its spelling alone: 127.0.0.0/8, ::1 or localhost."""
    return bool(_LOOPBACK.fullmatch(host.strip("[]")))


def choose_profile(kind: Found | None, endpoint: Found | None, url: Found | None) -> Profile:
    """Return the destination's rules: by its name, else by Kafka's scheme, a known endpoint, or a url that ends so."""
    if kind:
        return PROFILES[coerce.choice(kind, tuple(PROFILES))]
    if is_kafka(url):
        return KAFKA
    if endpoint:
        return BY_ENDPOINT.get(clean_endpoint(endpoint), PROFILES["dataway"])
    known = _known_ending(_split(url).path) if url else None
    return BY_ENDPOINT[known] if known else PROFILES["dataway"]


def final_url(url: Found, endpoint: Found | None, profile: Profile) -> str:
    """Join the two.

    Args:
        url: The origin, or the origin with a path.
        endpoint: The path to append, or None for the destination's.
        profile: The destination's rules.

    Raises:
        ConfigError: The url is no http(s) url, holds a user, password, query or fragment, or ends with the endpoint of
            another kind of destination.
    """
    parts = _split(url)
    path = clean_endpoint(endpoint) if endpoint else profile.endpoint
    base = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    if parts.path.rstrip("/").endswith(path.rstrip("/")):
        return base
    if other := _known_ending(parts.path):
        kind = BY_ENDPOINT[other].kind
        raise url.error(
            f"ends with the endpoint of another destination ({kind})",
            f"Leave {other} out of it, or set destination to {kind}.",
        )
    return base + path


def clean_endpoint(endpoint: Found) -> str:
    """Return the endpoint with exactly one slash in front.

    Raises:
        ConfigError: It is no plain path.
    """
    text = coerce.text(endpoint)
    if "?" in text or "#" in text:
        raise _query_error(endpoint, text)
    if "://" in text or not text.strip("/"):
        raise endpoint.error("must be a path such as /v1/write/openlineage", "Put scheme and host in url.")
    _refuse_odd(endpoint, text)
    path = "/" + text.lstrip("/")
    return path.rstrip("/") if path.rstrip("/") in BY_ENDPOINT else path


def check_proxy(found: Found) -> str:
    """Read a proxy's url, which alone may hold a user and password; it is never shown.

    Raises:
        ConfigError: It is no http(s) url of an origin.
    """
    text = coerce.text(found)
    parts = _parse(found, text, example="http://proxy.example:3128")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise found.error("must be an origin such as http://proxy.example:3128, without path or query")
    return text.rstrip("/")


def _split(found: Found) -> SplitResult:
    """Take a url apart, or say what keeps it from being one.

    Raises:
        ConfigError: See :func:`final_url`.
    """
    text = coerce.text(found)
    parts = _parse(found, text)
    if "@" in parts.netloc:
        raise found.error("holds a user or password", _TOKEN_FIX)
    if "?" in text or "#" in text:
        raise _query_error(found, text)
    _refuse_odd(found, parts.path)
    return parts


def _parse(found: Found, text: str, *, example: str = "https://openway.truewatch.com") -> SplitResult:
    if not _PRINTABLE.fullmatch(text) or "\\" in text:
        raise found.error(
            "holds a blank, a backslash or a character outside ASCII",
            "Write blanks and letters outside ASCII percent-encoded, such a host in punycode.",
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = SplitResult("", "", "", "", ""), None, None
    if parts.scheme not in ("http", "https"):
        raise found.error("must start with https:// or http://", f"Write it as {example}.")
    if not host or port == 0:
        raise found.error("has no host, or a port that can't be", f"Write it as {example}.")
    return parts


def _query_error(found: Found, text: str) -> Exception:
    query = text.partition("?")[2]
    if _QUERY_TOKEN.search(query):
        return found.error("holds a token in its query", _TOKEN_FIX)
    return found.error("holds a query or fragment, which no destination takes", "Leave out everything from ? or # on.")


def _refuse_odd(found: Found, path: str) -> None:
    """Refuse what an HTTP client would rewrite, so that the address is the one that was checked."""
    if not _PRINTABLE.fullmatch(path or "/") or "\\" in path:
        raise found.error("holds a blank, a backslash or a character outside ASCII", "Write it percent-encoded.")
    if {".", ".."} & set(path.split("/")):
        raise found.error('holds "." or ".." as a part of its path', "Write the path it leads to.")


def _known_ending(path: str) -> str | None:
    """Return the longest known endpoint that ``path`` ends with."""
    return max((known for known in BY_ENDPOINT if path.rstrip("/").endswith(known)), key=len, default=None)
