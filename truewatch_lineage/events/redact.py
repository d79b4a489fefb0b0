"""Masking secrets in events before they are written anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from truewatch_lineage.events import percent
from truewatch_lineage.events.serialise import dumps

MASK: Final = "***"

SHORTEST: Final = 8
"""Characters: a shorter token is not looked for, since it would mask words that are none."""

_REMEMBERED: Final = 32
"""Sets of secrets that are kept prepared: a gateway's clients may each have a token of their own."""

_PARAMETERS: Final = (
    *(b"password=", b"passwd=", b"pwd=", b"passphrase=", b"secret=", b"token=", b"apikey=", b"api_key=", b"api-key="),
    *(b"accesskey=", b"access_key=", b"access-key=", b"secretkey=", b"secret_key=", b"signature=", b"sig="),
)
"""Ends of the parameter names whose values are secrets, in lower case."""

# Every scan stops at a slash, and "://" has two, so that no text is scanned twice: linear in the text's
# length.
_USERINFO: Final = re.compile(r"(://[^\s/?#:@]*:)[^\s/?#]*(?=@)")
_PARAMETER: Final = re.compile(
    r"([?&;][\w.\-]{0,32}?(?:"
    + "|".join(re.escape(name.decode()) for name in _PARAMETERS)
    + r"))(?:\{[^{}\"]{0,256}\}|(?:[^&;\s\"'\\]|\\(?![\"'])){1,4096})",
    re.IGNORECASE,
)


class _Known:
    """Secrets with the ways they may stand in a string, longest first, and how those look in JSON.

    A plain class, since the repr of a dataclass or tuple would show them.
    """

    __slots__ = ("codes", "decoded", "needles", "secrets", "variants")

    def __init__(self, secrets: tuple[str, ...]) -> None:
        variants = {variant for secret in secrets for variant in _variants(secret)}
        self.secrets = secrets
        self.variants = tuple(sorted(variants, key=len, reverse=True))
        self.needles = tuple(_escaped(variant).encode("utf-8", "replace") for variant in self.variants)
        self.decoded = percent.needles(secrets, SHORTEST)
        self.codes = frozenset(b"".join(self.decoded))


class Redactor:
    """Masks known secrets, passwords in URLs, and what the user's expressions match, as ``***``.

    Known secrets are masked in values and in keys, wherever they stand, also JSON-escaped (an event's text in
    a facet) and percent-encoded, whichever characters that was done to. In URLs the
    password of ``scheme://user:password@host`` and the values of parameters such as ``?password=``,
    ``;password=`` and ``&token=`` are masked, in values and in keys. The user's expressions are applied to
    string values only, each by itself.

    Args:
        patterns: The user's expressions (the setting ``redact``).
        secrets: Returns the secrets known now; those of fewer than 8 characters are left alone. Called for
            every event, so that a rotated token is known.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]] = (), secrets: Callable[[], Iterable[str]] = tuple) -> None:
        self._patterns = tuple(patterns)
        self._secrets = secrets
        self._known: dict[tuple[str, ...], _Known] = {}

    def apply(self, tree: dict[str, Any], data: bytes | None = None, extra: Iterable[str] = ()) -> dict[str, Any]:
        """Return the event with its secrets masked.

        Args:
            tree: An event; never changed.
            data: ``dumps(tree)``, if the caller has it already; it is looked through first, so that an event
                without secrets costs no walk.
            extra: More secrets, to be masked in this event only.

        Returns:
            The same tree if there is nothing to mask, else a copy that shares the rest.

        Raises:
            EventError: The tree can't be serialised.
        """
        known = self._learn(extra)
        if not self._patterns and not _suspicious(dumps(tree) if data is None else data, known):
            return tree
        masked: dict[str, Any] = self._walk(tree, known)
        return masked

    def text(self, text: str, extra: Iterable[str] = ()) -> str:
        """Mask the known secrets and the passwords in URLs in a text that is no event, such as a message."""
        return _mask(text, self._learn(extra))

    def value(self, text: str) -> str:
        """Mask in a text by itself what `apply` masks in a string value."""
        return self._mask_value(text, self._learn(()))

    def _learn(self, extra: Iterable[str]) -> _Known:
        """Return what is known now, made anew where it is none of the last ones; no thread sees half of a new token."""
        secrets = tuple(sorted({secret for secret in (*self._secrets(), *extra) if len(secret) >= SHORTEST}))
        known = self._known.get(secrets)
        if known is None:
            known = _Known(secrets)
            self._known = {**(self._known if len(self._known) < _REMEMBERED else {}), secrets: known}
        return known

    def _walk(self, value: Any, known: _Known) -> Any:
        if isinstance(value, str):
            return self._mask_value(value, known)
        if isinstance(value, Mapping):
            items = {_mask(key, known): self._walk(item, known) for key, item in value.items()}
            same = all(key in value and items[key] is value[key] for key in items)
            return value if same and len(items) == len(value) else items
        if isinstance(value, list):
            new = [self._walk(item, known) for item in value]
            return value if all(after is before for after, before in zip(new, value, strict=True)) else new
        return value

    def _mask_value(self, text: str, known: _Known) -> str:
        masked = _mask(text, known)
        for pattern in self._patterns:
            masked = pattern.sub(_mask_match, masked)
        return text if masked == text else masked


def _suspicious(data: bytes, known: _Known) -> bool:
    """Tell whether a serialised event may hold anything to mask, by plain searches only."""
    if any(needle in data for needle in known.needles) or (b"@" in data and b"://" in data):
        return True
    if b"%" in data and percent.may_hold(data, known.codes):
        return True
    if b"=" not in data:
        return False
    folded = data.lower()
    return any(name in folded for name in _PARAMETERS)


def _mask(text: str, known: _Known) -> str:
    masked = text
    for variant in known.variants:
        masked = masked.replace(variant, MASK)
    if "%" in masked:
        masked = percent.mask(masked, known.decoded, MASK)
    if "@" in masked and "://" in masked:
        masked = _USERINFO.sub(rf"\1{MASK}", masked)
    if "=" in masked and ("://" in masked or "jdbc:" in masked):
        masked = _PARAMETER.sub(rf"\1{MASK}", masked)
    return text if masked == text else masked


def _variants(secret: str) -> set[str]:
    """Return the ways a secret may stand in a string: as it is, as in JSON, as in a JSON path or a repr."""
    escaped, quoted = _escaped(secret), secret.replace("\\", "\\\\")
    return {secret, escaped, escaped.replace("/", "\\/"), quoted, quoted.replace("'", "\\'")}


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _mask_match(match: re.Match[str]) -> str:
    """Mask a match; an empty one, which an expression like ``x*`` finds everywhere, stays empty."""
    return MASK if match.group() else ""
