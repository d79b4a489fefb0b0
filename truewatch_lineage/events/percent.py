"""Finding secrets in texts of which any characters are percent-encoded (RFC 3986, 2.1).

Without an expression made of the secret: a gateway's clients choose theirs, and to compile one takes milliseconds, and
to search with it time in proportion to its length times the text's, during which no other thread runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_CODED: Final = re.compile(rb"%[0-9A-Fa-f]{2}|\\/")  # in JSON a slash may be escaped
_UNIT: Final = re.compile(rb"%[0-9A-Fa-f]{2}|\\/|.", re.DOTALL)
_CODE: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_CODE_LENGTH: Final = 3
_CHUNK: Final = 64 * 1024
"""Bytes decoded at once, so that a text of codes alone takes no memory beside its own."""


def needles(secrets: Sequence[str], shortest: int) -> tuple[bytes, ...]:
    """Return what to look for in decoded texts, longest first.

    Args:
        secrets: The secrets.
        shortest: Characters; less is not looked for.

    Returns:
        Each secret, and what it looks like where something that looks encoded in it was left as it is.
    """
    plain = [_bytes(secret) for secret in secrets]
    found = {needle for secret in plain for needle in (secret, _decoded(secret)) if len(needle) >= shortest}
    return tuple(sorted(found, key=len, reverse=True))


def may_hold(data: bytes, wanted: frozenset[int]) -> bool:
    """Tell whether a text holds the code of one of the ``wanted`` bytes."""
    return any(int(code[0][1:], 16) in wanted for code in _CODE.finditer(data))


def mask(text: str, wanted: Sequence[bytes], instead: str) -> str:
    """Replace what is a secret once it is decoded.

    Args:
        text: Any text.
        wanted: As `needles` returns it.
        instead: Takes its place.
    """
    data, after, kept = _bytes(text), 0, []
    for start, end in sorted(_spans(data, wanted)):
        if start >= after:
            kept += [data[after:start], instead.encode()]
        after = max(after, end)
    return text if not kept else b"".join((*kept, data[after:])).decode("utf-8", "surrogatepass")


def _spans(data: bytes, wanted: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Give where secrets begin and end; one that two chunks hold is given twice."""
    reach = _CODE_LENGTH * max(map(len, wanted), default=0)
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK + reach]
        if b"%" in chunk:
            yield from ((start + begin, start + end) for begin, end in _spans_of(chunk, wanted))


def _spans_of(chunk: bytes, wanted: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    decoded = _decoded(chunk)
    present = [needle for needle in wanted if needle in decoded]
    units = [unit.span() for unit in _UNIT.finditer(chunk)] if present else []
    for needle in present:
        at = decoded.find(needle)
        while at >= 0:
            end = at + len(needle)
            yield units[at][0], units[end - 1][1]
            at = decoded.find(needle, end)


def _decoded(data: bytes) -> bytes:
    return _CODED.sub(_meant, data)


def _meant(coded: re.Match[bytes]) -> bytes:
    return b"/" if coded[0] == b"\\/" else bytes((int(coded[0][1:], 16),))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
