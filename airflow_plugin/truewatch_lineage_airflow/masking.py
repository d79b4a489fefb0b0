"""Has Airflow mask our tokens in its logs, as it masks its own secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truewatch_lineage.errors import TokenError
from truewatch_lineage_airflow import compat

if TYPE_CHECKING:  # which Airflow's start needs not
    from truewatch_lineage.config import Settings


def mask_known(settings: Settings) -> None:
    """Mask the tokens that this process knows by now, such as one that a command or a connection gave."""
    for destination in settings.destinations:
        try:
            token = destination.token_source.known() if destination.token_source else None
        except TokenError:  # whoever sends it will say so
            continue
        if token is not None:
            compat.mask(token.reveal())
