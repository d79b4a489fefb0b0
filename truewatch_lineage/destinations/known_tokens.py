"""The tokens that a process has known, for whoever masks them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Final

from truewatch_lineage.destinations.tokens import Token, TokenSource
from truewatch_lineage.errors import TokenError

REMEMBERED: Final = 2
"""Tokens of each source: after a rotation the one before may still stand in what a job writes."""

PAUSE_SECONDS: Final = 60.0
"""A source that gave no token is asked again after this time, so that its command does not slow down every event."""


class KnownTokens:
    """Remembers the last two tokens of each source, also while a source can't be read.

    Args:
        sources: Where the tokens come from.
    """

    def __init__(self, sources: Sequence[TokenSource]) -> None:
        self._sources = tuple(sources)
        self._seen: list[tuple[str, ...]] = [()] * len(self._sources)
        self._asked_again_at = [-math.inf] * len(self._sources)

    def __iter__(self) -> Iterator[str]:
        """Give the texts of the tokens that were learnt."""
        for seen in self._seen:
            yield from seen

    def learn(self, within: float | None) -> None:
        """Look each source's token up; one that can't be read keeps those it had.

        Args:
            within: Seconds that may be spent on commands in all, each run only where its token is not known yet and
                it has not just failed; None to run none.
        """
        deadline = None if within is None else time.monotonic() + within
        for index, source in enumerate(self._sources):
            try:
                token = source.known()
                if token is None and deadline is not None:
                    token = self._ask(index, source, deadline)
            except TokenError:  # whoever sends it will say so
                continue
            if token is not None:
                self._remember(index, token.reveal())

    def _ask(self, index: int, source: TokenSource, deadline: float) -> Token | None:
        now = time.monotonic()
        if now < self._asked_again_at[index]:
            return None
        try:
            return source.get(within=deadline - now)
        except TokenError:
            self._asked_again_at[index] = time.monotonic() + PAUSE_SECONDS
            raise

    def _remember(self, index: int, token: str) -> None:
        seen = self._seen[index]
        if not seen or seen[0] != token:
            others = [other for other in seen if other != token]
            self._seen[index] = (token, *others[: REMEMBERED - 1])
