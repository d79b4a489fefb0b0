"""Extra headers: what a proxy or gateway on the way wants, never a credential and never what the sender sets itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2: a token."""

_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
"""RFC 9110, 5.5, ASCII only: no line break, no NUL, no blank at either end."""

_SECRET: Final = re.compile(
    r"authorization|api[-_]?key|token|cookie|secret|passw|credential|(?:^|[-_])auth(?:$|[-_])", re.IGNORECASE
)
_SECRET_VALUE: Final = re.compile(r"(?:bearer|basic|digest|negotiate)\s", re.IGNORECASE)
_OURS: Final = re.compile(
    r"content-.*|host|connection|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding", re.IGNORECASE
)


def headers(found: Found) -> dict[str, str]:
    """Read the extra headers, as ``{name: value}`` or its JSON text.

    Raises:
        ConfigError: One holds a credential (whose right place is ``token``), breaks HTTP, or is set by the sender.
    """
    tree = coerce.tree(found)
    if not isinstance(tree, Mapping):
        raise found.error("must be a mapping of names to texts")
    result = {_name(found, name): _value(found.inner(str(name), value)) for name, value in tree.items()}
    if len({name.lower() for name in result}) < len(tree):
        raise found.error("names a header twice")
    return result


def holds_credential(name: str, value: str = "") -> bool:
    """Tell whether a header is a credential by its name, or by how its value begins."""
    return bool(_SECRET.search(name) or _SECRET_VALUE.match(value))


def _name(found: Found, name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise found.error("holds a name that no HTTP header can have")
    if holds_credential(name):
        fix = (
            "Give the token as token, token_file, token_env or token_command; auth_method x_token sends it as X-Token."
        )
        raise found.inner(name, None).error("is a credential, which headers may not hold", fix)
    if _OURS.fullmatch(name):
        raise found.inner(name, None).error("is set by the sender itself", "Leave it out.")
    return name


def _value(found: Found) -> str:
    value = coerce.text(found)
    if not isinstance(found.value, str) or _VALUE.fullmatch(found.value):
        if holds_credential("", value):
            raise found.error("holds a credential, which headers may not", "Give the token as token or token_file.")
        return value
    raise found.error("holds a character that no header's value may hold, such as a line break")
