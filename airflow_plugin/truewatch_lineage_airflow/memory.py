"""What Airflow's connections said last, for when Airflow can't be asked: events then still find their destination.

A file in the spool's folder, which is this user's alone. It never holds a token, nor what may have one in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.config.keys import KEYS, TOKEN_KEYS
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.spool.folder import prepare

FILE_NAME: Final = "airflow-connections.json"

KEPT: Final = frozenset(
    {name for name, key in KEYS.items() if key.scope == "destination"}.difference(TOKEN_KEYS, ("headers", "proxy"))
    | {"airflow_conn_id"}
)
"""Settings that are kept; headers and a proxy's url are not, as some write secrets there."""

AGAIN_SECONDS: Final = 3600.0
"""After how long what has not changed is written again, for its time."""

_CLEAN_URL: Final = re.compile(r"[^@?#]+")
"""A url without user, query and fragment, which a token may have been written into."""


class Memory:
    """The file in one spool's folder; reading and writing it never fails, as it is only a help.

    Args:
        folder: The spool's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FILE_NAME

    def recall(self, conn_id: str, *, within: float) -> dict[str, Any] | None:
        """Return what a connection said in the last ``within`` seconds, or None."""
        entry = self._read().get(conn_id)
        if not isinstance(entry, Mapping) or not isinstance(entry.get("values"), Mapping):
            return None
        at = entry.get("at")
        is_young = isinstance(at, (int, float)) and time.time() - at <= within
        return {key: value for key, value in entry["values"].items() if key in KEPT} if is_young else None

    def remember(self, conn_id: str, values: Mapping[str, Any], token: str | None = None) -> None:
        """Keep what a connection says, unless a secret may be in it.

        Args:
            conn_id: The connection's name.
            values: Its settings, as `connection.to_values` returns them; not checked yet.
            token: Its token, which somebody may have written into another field as well.
        """
        kept = {key: value for key, value in values.items() if key in KEPT}
        if not _CLEAN_URL.fullmatch(str(kept.get("url", "-"))) or (token and _holds(kept, token)):
            return
        if self.recall(conn_id, within=AGAIN_SECONDS) == kept:
            return
        entries = {**self._read(), conn_id: {"at": time.time(), "values": kept}}
        with contextlib.suppress(OSError, SpoolError, ValueError, TypeError):
            self._write(json.dumps(entries, indent=1))

    def _read(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return entries if isinstance(entries, dict) else {}

    def _write(self, text: str) -> None:
        """Put a new file in the place of the old in one step, readable by this user alone."""
        prepare(self._folder)
        handle, name = tempfile.mkstemp(prefix=FILE_NAME, dir=self._folder)  # made with mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, self._path)  # noqa: PTH105 - beside os.fdopen and os.unlink
        except OSError:
            os.unlink(name)  # noqa: PTH108
            raise


def _holds(values: Mapping[str, Any], token: str) -> bool:
    return json.dumps(token)[1:-1] in json.dumps(values)
