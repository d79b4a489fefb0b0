"""Read the token of ``[truewatch]`` as it is sent, before and after it is rotated; print what came of it as JSON."""

import json
import os
import sys
from pathlib import Path

import airflow  # noqa: F401 - the surroundings in which settings of Airflow are looked for

from truewatch_lineage.config import load

file, first, second = Path(sys.argv[1]), *sys.argv[2:]
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Airflow prints is no answer
file.write_text(f"{first}\n", encoding="utf-8")
source = load({"url": "https://h"}).destinations[0].token_source
known = source.known()
tokens = [source.get().reveal()]
file.write_text(f"{second}\n", encoding="utf-8")
tokens += [source.get().reveal(), source.get(refresh=True, within=30).reveal()]
file.unlink()
try:
    error = source.get(refresh=True).reveal()
except Exception as raised:  # noqa: BLE001 - which it is, is told
    error = f"{type(raised).__name__}: {raised}"
answer = {"known": known, "tokens": tokens, "source": source.describe(), "error": error, "repr": repr(source)}
print(json.dumps(answer), file=out, flush=True)
