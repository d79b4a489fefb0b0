"""The token itself: a value that can be sent, but neither printed nor stored by accident."""

from __future__ import annotations

import re
from hmac import compare_digest
from typing import Any, Final, NoReturn

from truewatch_lineage.errors import TokenError

_LEGAL: Final = re.compile(r"[\x21-\x7e]+")
_SCHEME: Final = re.compile(r"bearer[\s:]", re.IGNORECASE)
_FIX: Final = "Copy the token again, as one line of plain text."


class Token:
    """A checked token: printable ASCII without spaces, so that it fits a header byte for byte.

    Its text leaves only through :meth:`reveal`. It is immutable, compares in constant time, and has no hash and no
    pickle, since both would carry the text, or something derived from it, to places nobody looks after.
    """

    __slots__ = ("_text",)
    __hash__ = None  # type: ignore[assignment]  # how Python spells "unhashable"

    _text: str

    @classmethod
    def parse(cls, text: object, *, source: str | None = None, key: str | None = None) -> Token:
        r"""Check ``text`` and make a token of it; only newlines (``\r``, ``\n``) around it are trimmed.

        Args:
            text: What was configured or read.
            source: Where it came from, for the message.
            key: The setting that named it, for the message.

        Raises:
            TokenError: It is no text, is empty, starts with ``Bearer``, or holds a character that no header may hold
                (design, section 9). The message tells the kind of fault, never the text.
        """
        problem, fix = _fault(text)
        if problem:
            subject = f"The token of `{key}`" if key else "The token"
            raise TokenError(f"{subject} {problem}.", key=key, source=source, fix=fix)
        token = object.__new__(cls)
        object.__setattr__(token, "_text", str(text).strip("\r\n"))
        return token

    def __init__(self) -> None:
        raise TypeError("Make a token by Token.parse(text), which checks it.")

    def reveal(self) -> str:
        """Return the text. Only what sends it or masks it may ask."""
        return self._text

    def __repr__(self) -> str:
        return "Token(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Token):
            return NotImplemented
        return compare_digest(self._text.encode(), other._text.encode())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A token can't be changed.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A token can't be changed.")

    def __copy__(self) -> Token:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Token:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A token can't be pickled: give the other process its own token source.")

    def __getstate__(self) -> NoReturn:
        raise TypeError("A token's state can't be taken.")


def _fault(text: object) -> tuple[str | None, str]:
    """Return what a token with this ``text`` does wrong, or None, and how to mend it."""
    if not isinstance(text, str):
        kind = type(text).__name__
        return f"is no text but of type {kind}", "Put it in quotes, or use token_env or token_file."
    trimmed = text.strip("\r\n")
    if not trimmed:
        return "is empty", "Fill it, or leave the setting out."
    if _SCHEME.match(trimmed):
        return 'starts with "Bearer"', "Leave that word out: it is put before the token when it is sent."
    if _LEGAL.fullmatch(trimmed):
        return None, ""
    return f"holds {_illegal(trimmed)}", _FIX


def _illegal(text: str) -> str:
    """Name the kind of the first character of ``text`` that a token can't hold."""
    first = next(character for character in text if not _LEGAL.match(character))
    names = {"\r": "a line break", "\n": "a line break", "\0": "a NUL", " ": "a space"}
    return names.get(first, "a control character" if ord(first) < 128 else "a character outside ASCII")  # noqa: PLR2004 - ASCII's end
