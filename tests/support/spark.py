"""A real Spark in an environment of its own, with the listener's jar; each made or downloaded once.

spark = environment("3.5")
ran = spark.submit(HARBOUR, home=tmp_path, properties=text, env={"OPENLINEAGE__TRANSPORT__AUTH__API_KEY": '"…"'})
assert ran.code == 0, ran.log

A first run downloads PySpark (about 320 MB for 3.5, 430 MB for 4.0) and a jar of 43 MB for each.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.environments import OUTSIDE, Made, folder_name, run_child, skip_unless_possible
from support.java import java_version
from support.maven import jar
from support.repository import ROOT
from truewatch_lineage_spark.versions import Jar, choose

RUN_SECONDS = 240
TESTS = ROOT / "tests" / "spark"
HARBOUR = TESTS / "jobs" / "harbour.py"
"""A job that reads, joins, writes, creates a table by a query, and fails once."""

NEWEST_PYTHON = {"3.5": 11, "4.0": 13}
JAVAS = {"3.5": (8, 11, 17), "4.0": (17, 21)}
"""What each Spark says it runs on."""

LOCAL = {
    "spark.master": "local[1]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}
"""A Spark in one process."""

AS_LOCAL = "".join(f"{key}={value}\n" for key, value in LOCAL.items())
"""The same as ``spark-defaults.conf``."""

# A short run is over before the second compiler pays for itself.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class Ran:
    """What a Spark application came to.

    Attributes:
        code: Its exit code.
        out: What the job printed.
        log: The driver's log.
        home: Its working folder, home, and folder of everything it wrote.
    """

    code: int
    out: str
    log: str
    home: Path

    @property
    def ready(self) -> bool:
        """Whether the job did everything."""
        return self.code == 0 and "READY" in self.out.splitlines()


@dataclass(frozen=True)
class Spark:
    """An environment with PySpark and this package, and the listener's jar for it.

    Attributes:
        version: ``3.5`` or ``4.0``.
        made: Where it is.
        jar: The path of the listener's jar.
    """

    version: str
    made: Made
    jar: Path

    @property
    def scala(self) -> str:
        """Give the Scala version it is built for."""
        return choose(self.version).scala

    def variables(self, home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a process; nothing else but a path and Java's is inherited."""
        found = {
            "PATH": f"{self.made.scripts}{os.pathsep}{OUTSIDE.get('PATH', os.defpath)}",
            "HOME": str(home),
            "TMPDIR": tempfile.gettempdir(),
            "LANG": "C.UTF-8",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_CONF_DIR": str(_conf_folder(home)),
            "PYSPARK_PYTHON": str(self.made.python),
            "JDK_JAVA_OPTIONS": _SHORT_LIVED,
            **(more or {}),
        }
        return {**found, "JAVA_HOME": OUTSIDE["JAVA_HOME"]} if "JAVA_HOME" in OUTSIDE else found

    def submit(
        self,
        script: Path,
        *args: object,
        home: Path,
        arguments: Sequence[str] = (),
        properties: str = AS_LOCAL,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run a job by ``spark-submit``, in ``home``; a failure shows in the result.

        Args:
            script: The job.
            args: Its ``sys.argv[1:]``.
            home: Its working folder.
            arguments: spark-submit's own.
            properties: The text of its ``spark-defaults.conf``.
            env: More variables.

        Raises:
            subprocess.TimeoutExpired: It took longer than ``RUN_SECONDS``, and was killed.
        """
        command = [str(self.made.scripts / "spark-submit"), *arguments, str(script), *map(str, args)]
        return self.run(command, home=home, properties=properties, env=env)

    def python(
        self,
        script: Path,
        *args: object,
        home: Path,
        properties: str = AS_LOCAL,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run a program with the environment's Python, which starts Spark itself; otherwise as ``submit``."""
        command = [str(self.made.python), str(script), *map(str, args)]
        return self.run(command, home=home, properties=properties, env=env)

    def run(
        self, command: Sequence[str], *, home: Path, properties: str = AS_LOCAL, env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run a command of this environment; as ``submit``."""
        (_conf_folder(home) / "spark-defaults.conf").write_text(properties, encoding="utf-8")
        done = run_child(command, cwd=home, env=self.variables(home, env), timeout=RUN_SECONDS)
        return Ran(done.returncode, done.stdout, done.stderr, home)


def environment(version: str) -> Spark:
    """Return an environment with Spark, made first where it is not there.

    Skips the test where this machine has no Java for it, this Python no such Spark, there is no uv, or no jar.

    Raises:
        AssertionError: It could not be made; with what uv said.
    """
    skip_unless_possible(f"PySpark {version}", NEWEST_PYTHON[version])
    _skip_without_java(version)
    wanted: Jar = choose(version)
    path = jar(wanted)
    made = Made(ROOT / ".spark" / folder_name(version), ROOT / "requirements" / f"spark{version.replace('.', '')}.txt")
    made.make()
    return Spark(version, made, path)


def _skip_without_java(version: str) -> None:
    java = java_version()
    if java not in JAVAS[version]:
        named = " or ".join(map(str, JAVAS[version]))
        here = "there is none" if java is None else f"this is {java}"
        pytest.skip(
            f"Spark {version} runs on Java {named}, and {here}; on Debian: apt-get install openjdk-17-jre-headless"
        )


def _conf_folder(home: Path) -> Path:
    """Give the folder of a run's own settings; Spark's own would come with the package."""
    folder = home / "conf"
    folder.mkdir(exist_ok=True)
    return folder
