"""What the log says of a request that failed: whose it was and why, and no token."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope

from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.notices import Notices
from truewatch_lineage.serving.credentials import Gate

log = logging.getLogger(__name__)

MAX_TOPICS: Final = 500
"""So many kinds of failures, by client, are told apart; more clients than that share their lines."""

_LONGEST: Final = 500
_EXPLAINED: Final = frozenset({400, 413})
_NOT_FOUND: Final = 404


class Failures:
    """Logs requests that failed, each client's and kind's at most once a minute.

    Args:
        gate: Knows what must not be shown of a request.
        paths: Those that are served; of an unknown one only the words that they have too are shown, since any other may
            be a token.
    """

    def __init__(self, gate: Gate, paths: Iterable[str]) -> None:
        self._gate = gate
        self._words = {word for path in paths for word in path.split("/")}
        self._redactor = Redactor()
        self._notices = Notices(log)
        self._topics: set[tuple[str, ...]] = set()

    def __call__(self, scope: Scope, path: str, status: int | None, seconds: float, answer: bytes) -> None:
        """Log one.

        Args:
            scope: The request.
            path: Its label.
            status: The answer's, or None if there was none.
            seconds: How long it took.
            answer: The answer's body.
        """
        client = (scope.get("client") or ("an unknown address",))[0]
        code, message = _parts(answer)
        topic: tuple[str, ...] = (client, path, str(status), code)
        if topic not in self._topics and len(self._topics) >= MAX_TOPICS:
            topic = topic[1:]
        self._topics.add(topic)

        def line() -> str:
            shown = self._shown(scope["path"]) if status == _NOT_FOUND else path
            begin = f"{scope['method']} {shown} {status or 'dropped'} {seconds * 1000:.0f} ms from {client}"
            why = f"{code}: {self._masked(message, scope)}" if status in _EXPLAINED else code
            return _printable(f"{begin} {why}".rstrip())

        self._notices.warning(" ".join(topic), "%s", _Told(line))

    def _masked(self, text: str, scope: Scope) -> str:
        return self._redactor.text(text, self._gate.secrets(scope))

    def _shown(self, path: str) -> str:
        return "/".join(word if word in self._words else "…" for word in path.split("/"))


@dataclass(frozen=True, slots=True)
class _Told:
    """A line that is made only when it is written: clients can make thousands a second, nearly all of them hushed."""

    make: Callable[[], str]

    def __str__(self) -> str:
        return self.make()


def _parts(answer: bytes) -> tuple[str, str]:
    """Return an answer's ``error_code`` and message; a text that is no JSON counts as the code, as a probe's."""
    try:
        found = json.loads(answer)
        return str(found["error_code"]), str(found["message"])
    except (ValueError, KeyError, TypeError):
        return answer.decode("utf-8", "replace").strip(), ""


def _printable(text: str) -> str:
    kept = "".join(character if character.isprintable() else "�" for character in text)
    return kept if len(kept) <= _LONGEST else f"{kept[:_LONGEST]}…"
