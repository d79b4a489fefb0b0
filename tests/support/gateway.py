"""The gateway in a child process.

with Receiver(tokens=["local-test-token"]) as receiver, Gateway(url=receiver.url, token="local-test-token") as gateway:
    gateway.post(event)                  # 200 once it is committed
    receiver.wait_for_events(1)
    gateway.kill()                       # kill -9
    gateway.restart()                    # same port, same spool
"""

from __future__ import annotations

import contextlib
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from support.cli import child_environment, started
from support.served import Served
from support.spooled import Spooled, spooled

NOWHERE = "http://127.0.0.1:9"
"""A destination that refuses every connection."""

EXIT_SECONDS = 0.5
"""The setting ``exit_budget``, unless ``env`` has another: most tests do not ask what a stop still delivers."""

_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:]\w*(?:\{.*\})?) (?P<value>\S+)")


class Gateway(Served):
    """``truewatch-lineage gateway`` as a child process on a free loopback port.

    Args:
        url: The destination's.
        kind: The destination's kind; None where ``env`` or ``args`` name the destinations.
        token: The destination's token.
        tokens: Tokens that clients may show; none to ask for none.
        spool: Its spool; by default one in a temporary folder that outlives restarts.
        port: 0 for a free one, kept over restarts.
        args: More arguments of the command.
        env: More settings, by their lower-case names, or variables in upper case.
        authority: The file of the certificate's authority where it serves https.
        program: What Python runs; another that ends in the same command can change the gateway first.
    """

    def __init__(
        self,
        url: str = NOWHERE,
        *,
        kind: str | None = "dataway",
        token: str = "a-destination's-token",
        tokens: Sequence[str] = (),
        spool: Path | None = None,
        port: int = 0,
        args: Sequence[object] = (),
        env: Mapping[str, object] | None = None,
        authority: Path | None = None,
        program: Sequence[str] = ("-c", "from truewatch_lineage.cli import main; main()"),
    ) -> None:
        named = {"destination": kind, "url": url, "GATEWAY_TEST_TOKEN": token, "token_env": "GATEWAY_TEST_TOKEN"}
        settings = {"exit_budget": EXIT_SECONDS, **(named if kind else {}), **(env or {})}
        super().__init__("gateway", tokens=tokens, port=port, env=child_environment(settings))
        self._settings = settings
        self._program = program
        self._args = [str(arg) for arg in args]
        for one in tokens:
            self._args += ["--token", one]
        self.spool = spool or self.folder / "spool"
        if authority is not None:
            self.trust(authority)

    def command(self) -> list[str]:
        """Return what is run."""
        own = ["--port", str(self.port), "--spool-dir", str(self.spool)]
        return [sys.executable, *self._program, "gateway", *own, *self._args]

    @contextlib.contextmanager
    def courier(self, **settings: object) -> Iterator[None]:
        """Run a courier beside it for a ``with`` block, with its settings and these; it is killed at the end."""
        env = {**self._settings, "spool_dir": self.spool, **settings}
        with started("courier", env=env, stderr=subprocess.DEVNULL):
            yield

    def trust(self, authority: Path) -> None:
        """Make requests by https, and trust this certificate's authority only."""
        self._tls = ssl.create_default_context(cafile=str(authority))

    def metrics(self) -> dict[str, float]:
        """Return ``/metrics``, by the samples' names with their labels as they are written."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        reply = self.request("GET", "/metrics", headers=headers)
        assert reply.status == 200, reply
        found = (_SAMPLE.fullmatch(line) for line in reply.body.decode().splitlines() if not line.startswith("#"))
        return {match["name"]: float(match["value"]) for match in found if match}

    def spooled(self, name: str | None = None) -> Spooled:
        """Count what is in its spool."""
        return spooled(self.spool, name)

    def wait_until_empty(self, timeout: float = 20) -> None:
        """Wait until nothing is pending in its spool; AssertionError after ``timeout``."""
        end = time.monotonic() + timeout
        while (left := self.spooled().pending) > 0:
            assert time.monotonic() < end, f"{left} events are pending after {timeout} s: {self.stderr()[-2000:]}"
            time.sleep(0.05)
