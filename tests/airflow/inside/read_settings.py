"""Read the settings in each situation of the file that is given, and write what they come to, one JSON line each.

A situation is ``{"environ": {...}, "params": {...}}``; the answer tells of the first destination, or ``{"error"}``.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from truewatch_lineage.config import load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage_airflow import connection


def answer(situation):
    """Read the settings of one situation, by the one entry that every reader of settings uses."""
    connection._recent.clear()
    connection._failed.clear()
    before = dict(os.environ)
    os.environ.update(situation.get("environ", {}), TRUEWATCH_LINEAGE_SPOOL_DIR=tempfile.mkdtemp(dir=Path.cwd()))
    try:
        settings = load(situation.get("params", {}))
        if not settings.destinations:
            return {"destinations": 0}
        one = settings.destinations[0]
        source = one.token_source
        token = source.get().reveal() if source else None
    except ConfigError as error:
        return {"error": str(error)}
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {
        "url": one.url,
        "kind": one.profile.kind,
        "name": one.name,
        "token": token,
        "source": source.describe() if source else None,
        "origins": dict(settings.origins),
        "timeout": one.timeout,
        "auth_method": one.auth_method,
        "budget": settings.delivery_budget,
        "spool_dir": str(settings.spool_dir),
    }


import airflow  # noqa: E402, F401 - the situation in which the core looks for the integration

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Airflow prints is no answer
for situation in json.loads(Path(sys.argv[1]).read_text()):
    print(json.dumps(answer(situation)), file=out, flush=True)
