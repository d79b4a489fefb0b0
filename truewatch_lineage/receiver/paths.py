"""The receiver's paths: which ask for no token off loopback, and how the access log names them."""

from __future__ import annotations

from truewatch_lineage.receiver import pages
from truewatch_lineage.receiver.endpoints import KNOWN_PATHS
from truewatch_lineage.receiver.rules import ALL_RULES

_INTAKE = {rules.path for rules in ALL_RULES}
_KNOWN = {*_INTAKE, *KNOWN_PATHS, "/"}
_OPEN = {*_INTAKE, "/healthz"}
_EVENT_PATH = "/api/events/"
_OTHER = "other"


def is_open(path: str) -> bool:
    """Tell whether a path asks for no token: the intake has its own rules, and the page's files hold no event."""
    return path in _OPEN or path.startswith(pages.STATIC)


def label(path: str) -> str:
    """Name a path in a bounded set."""
    if path in _KNOWN:
        return path
    return "/api/events/{event_id}" if path.startswith(_EVENT_PATH) else _OTHER
