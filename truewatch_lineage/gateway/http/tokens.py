"""The gateway's own tokens, as their files hold them now."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from truewatch_lineage.destinations.tokens import TokenSource
from truewatch_lineage.errors import TokenError
from truewatch_lineage.gateway.http.entrance import OWNER
from truewatch_lineage.notices import Notices
from truewatch_lineage.serving.credentials import check_length

log = logging.getLogger(__name__)


class Accepted:
    """The texts of tokens that a client may show; a file is read again when it changes.

    Args:
        sources: Where they come from.

    Raises:
        TokenError: One of them can't be read, or is too long.
    """

    def __init__(self, sources: Sequence[TokenSource]) -> None:
        self._sources = tuple(sources)
        self._texts = [_read(source) for source in self._sources]
        self._notices = Notices(log)

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[str]:
        """Give the tokens; where a source can't be read now, the one it gave last."""
        for index, source in enumerate(self._sources):
            try:
                self._texts[index] = _read(source)
            except TokenError as error:
                self._notices.warning(source.describe(), "The last token that was read stays accepted: %s", error)
            yield self._texts[index]

    def __repr__(self) -> str:
        return f"Accepted({len(self)} tokens)"


def _read(source: TokenSource) -> str:
    return check_length(source.get().reveal(), source.describe(), OWNER)
