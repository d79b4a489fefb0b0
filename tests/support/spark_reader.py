r"""Asks Spark itself how it reads settings: one JVM that answers many questions.

with SparkReader(environment("3.5"), folder) as reader:
    reader.properties("spark.openlineage.namespace=a\\tb\n")     # {"spark": {…: "a\tb"}, "namespace": "a\tb"}
"""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.spark import TESTS, Spark

PROGRAM = TESTS / "inside" / "reader.py"
ANSWER_SECONDS = 120


class SparkReader:
    """Spark's and the listener's own readers, in a child process.

    Args:
        spark: Which Spark.
        folder: Where its files are.
    """

    def __init__(self, spark: Spark, folder: Path) -> None:
        self._file = folder / "spark-defaults.conf"
        self._command = [str(spark.made.python), str(PROGRAM), str(spark.jar)]
        self._env = spark.variables(folder, {"OPENLINEAGE_CONFIG": str(folder / "openlineage.yml")})
        self._log = folder / "reader.log"
        self._child: subprocess.Popen[str]

    def __enter__(self) -> SparkReader:  # noqa: PYI034 - Self is in typing from 3.11 on
        with self._log.open("w") as log:
            self._child = subprocess.Popen(
                self._command, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._ask({})
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=ANSWER_SECONDS)

    def properties(self, text: str) -> dict[str, Any]:
        """Say how it reads a ``spark-defaults.conf``: ``{"spark": {…}, "namespace": …}``, or ``{"error": …}``."""
        self._file.write_text(text, encoding="utf-8", newline="")
        return self._ask({"properties": str(self._file)})

    def arguments(self, words: Sequence[str]) -> dict[str, Any]:
        """Say how it reads the arguments of ``spark-submit``; as ``properties``."""
        return self._ask({"arguments": [*words, "job.py"]})

    def yml(self, text: str) -> dict[str, Any]:
        """Say how the listener reads an ``openlineage.yml``; as ``properties``."""
        return self._ask({"yml": text})

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(question) + "\n")
        self._child.stdin.flush()
        ready = select.select([self._child.stdout], [], [], ANSWER_SECONDS)[0]
        line = self._child.stdout.readline() if ready else ""
        assert line, f"no answer: {self._log.read_text(errors='replace')}"
        answer: dict[str, Any] = json.loads(line)
        return answer
