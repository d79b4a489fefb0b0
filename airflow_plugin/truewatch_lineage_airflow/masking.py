"""Has Airflow mask our tokens in its logs, as it masks its own secrets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from truewatch_lineage.errors import TokenError
from truewatch_lineage_airflow import compat

if TYPE_CHECKING:  # which Airflow's start needs not
    from truewatch_lineage.config import Settings

_masked: set[int] = set()


def mask(tokens: Iterable[str]) -> None:
    """Mask tokens in the logs of this process and of the task it runs, each once."""
    for token in tokens:
        if hash(token) not in _masked:  # the set is no place for secrets to lie in
            _masked.add(hash(token))
            compat.mask(token)


def mask_known(settings: Settings) -> None:
    """Mask the tokens that this process knows by now, such as one that a command or a connection gave."""
    for destination in settings.destinations:
        try:
            token = destination.token_source.known() if destination.token_source else None
        except TokenError:  # whoever sends it will say so
            continue
        if token is not None:
            mask([token.reveal()])
