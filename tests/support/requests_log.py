"""The local receiver, with a note of how each request came: its path, and its header lines in order.

with RecordingReceiver(tokens=["a-test-token"]) as receiver:
    ...
    receiver.seen()[0].all("authorization")      # two where two came
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.receiver import Receiver

_PROGRAM = """
import json, sys
from truewatch_lineage.receiver import server
from truewatch_lineage.cli.receive import command

file = open(sys.argv.pop(1), "a", buffering=1)
build = server.build_app

def noting(*args, **options):
    app = build(*args, **options)
    async def note(scope, receive, send):
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] != "/api/faults":
            headers = [[part.decode("latin-1") for part in header] for header in scope["headers"]]
            print(json.dumps([scope["path"], scope["query_string"].decode("latin-1"), headers]), file=file)
        await app(scope, receive, send)
    return note

server.build_app = noting
command()
"""


@dataclass(frozen=True)
class Seen:
    """How one request came.

    Attributes:
        path: Its path, decoded.
        query: Its query, as it came.
        headers: Its header lines, names in lower case, in order.
    """

    path: str
    query: str
    headers: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """Return the values of each header line of a name."""
        return [value for key, value in self.headers if key == name]


class RecordingReceiver(Receiver):
    """A receiver that notes each request; arguments as of ``Receiver``."""

    def __init__(self, *, tokens: Sequence[str] = (), args: Sequence[str] = ()) -> None:
        super().__init__(tokens=tokens, args=args)
        self._notes = Path(self._folder.name, "requests.ndjson")
        self._program = ("-c", _PROGRAM, str(self._notes))

    def seen(self) -> list[Seen]:
        """Return how each request to a destination's path came, refused ones too, in order of arrival."""
        lines = self._notes.read_text("utf-8").splitlines()
        return [Seen(path, query, tuple(map(tuple, headers))) for path, query, headers in map(json.loads, lines)]
