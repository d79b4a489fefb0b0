"""Keeps out of events what dbt keeps out of its own logs: the values of variables named ``DBT_ENV_SECRET…``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.events.redact import MASK, Redactor

PREFIX: Final = "DBT_ENV_SECRET"
"""``dbt_common.constants.SECRET_ENV_PREFIX``."""


class Masking:
    """Masks secrets of the environment.

    Args:
        environ: Where they stand.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        found = {value for name, value in environ.items() if name.startswith(PREFIX) and value.strip()}
        self._secrets = sorted(found, key=len, reverse=True)
        self._redactor = Redactor(secrets=lambda: self._secrets)

    def event(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Return an event, new from its builder, without secrets.

        dbt's message loses each of them, as in dbt's own logs (``dbt_common.scrub_secrets``); elsewhere one that is
        shorter than 8 characters stays, since it would mask parts of names.
        """
        if not self._secrets:
            return tree
        error = tree.get("run", {}).get("facets", {}).get("errorMessage")
        for secret in self._secrets if error else ():
            error["message"] = error["message"].replace(secret, MASK)
        return self._redactor.apply(tree)
