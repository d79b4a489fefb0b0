"""Masks tokens and passwords in an event's bytes before they are stored; everything else stays as received."""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

MASK = "***"
MIN_SECRET = 8
"""Shorter secrets would mask ordinary words."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPED = re.compile(rb"\\[u/]")
_PASSWORD_BYTES = re.compile(rb'://[^\s"/@:]*:[^\s"/@]+@')
_PASSWORD = re.compile(r"(://[^\s/@:]*:)[^\s/@]+@")


def redact(body: bytes, secrets: Iterable[str]) -> bytes:
    """Mask secrets of at least ``MIN_SECRET`` characters and passwords in URLs, in every JSON string.

    Args:
        body: A valid JSON text in UTF-8.
        secrets: Texts that must not be kept.

    Returns:
        The same bytes if there is nothing to mask.
    """
    known = [secret for secret in secrets if len(secret) >= MIN_SECRET]
    if not _suspicious(body, known):
        return body
    return _STRING.sub(lambda match: _mask(match[0], known), body)


def _suspicious(body: bytes, secrets: list[str]) -> bool:
    # Any character can be written as an escape, which hides a secret from a search of the bytes.
    return bool(
        any(orjson.dumps(secret)[1:-1] in body for secret in secrets)
        or _PASSWORD_BYTES.search(body)
        or _ESCAPED.search(body)
    )


def _mask(literal: bytes, secrets: list[str]) -> bytes:
    text: str = orjson.loads(literal)
    masked = _PASSWORD.sub(rf"\1{MASK}@", text)
    for secret in secrets:
        masked = masked.replace(secret, MASK)
    return literal if masked == text else orjson.dumps(masked)
