"""Which of the listener's jars fits which Spark, where it is, and what it must be byte for byte."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import ConfigError

LISTENER: Final = "io.openlineage.spark.agent.OpenLineageSparkListener"
"""TrueWatch's page, under "Apache Spark"."""

GROUP: Final = "io.openlineage"
ARTIFACT: Final = "openlineage-spark"
VERSION: Final = "1.53.0"
"""The release that everything here was measured with."""

MAVEN: Final = "https://repo1.maven.org/maven2"

SCALAS: Final = {
    "3.2": ("2.12", "2.13"),
    "3.3": ("2.12", "2.13"),
    "3.4": ("2.12", "2.13"),
    "3.5": ("2.12", "2.13"),
    "4.0": ("2.13",),
}
"""The Scala versions that each Spark is built for, the usual one first; the Sparks that the listener is built for."""

SHA256: Final = {
    "2.12": "9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d",
    "2.13": "5d84b0ae7e72909b5aae7ed87df878bf06b28d9ac3005765c3529d0a66dbae6f",
}
"""The checksums of ``VERSION``'s jars by Scala version, as Maven Central has them."""

DEFAULT_SPARK: Final = "3.5"

_NAME: Final = re.compile(r"openlineage-spark_(?P<scala>[0-9]+\.[0-9]+)-(?P<version>[^/\\]+)\.jar")
_CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Jar:
    """The listener's jar for one Spark.

    Attributes:
        spark: Spark's version, major and minor.
        scala: The Scala version it is built for.
        path: Where the jar is, for a Spark that can't ask Maven Central; None to have Spark fetch it.
    """

    spark: str
    scala: str
    path: str | None = None

    @property
    def coordinates(self) -> str:
        """What Maven knows it by."""
        return f"{GROUP}:{ARTIFACT}_{self.scala}:{VERSION}"

    @property
    def file_name(self) -> str:
        """The name it has in Maven Central."""
        return f"{ARTIFACT}_{self.scala}-{VERSION}.jar"

    @property
    def url(self) -> str:
        """Where to download it."""
        return f"{MAVEN}/{GROUP.replace('.', '/')}/{ARTIFACT}_{self.scala}/{VERSION}/{self.file_name}"

    @property
    def sha256(self) -> str:
        """Its checksum, in hexadecimal."""
        return SHA256[self.scala]


def choose(spark: str = DEFAULT_SPARK, scala: str | None = None, path: str | None = None) -> Jar:
    """Return the jar for a Spark.

    Args:
        spark: Spark's version; what follows the minor one is ignored.
        scala: The Scala version that this Spark is built for; None for the usual one.
        path: Where the jar is already: a file, or an address of a store that Spark reads, such as ``s3://…``.

    Raises:
        ConfigError: The listener is not built for that Spark, or the jar is another one.
    """
    minor = ".".join(spark.split(".")[:2])
    if minor not in SCALAS:
        raise ConfigError(
            f"The listener {VERSION} is not built for Spark {spark}.",
            key="spark",
            fix=f"It is built for {', '.join(SCALAS)}. `spark-submit --version` tells yours.",
        )
    jar = Jar(minor, scala or SCALAS[minor][0], path)
    if jar.scala not in SCALAS[minor]:
        raise ConfigError(
            f"Spark {minor} does not exist for Scala {scala}, and a jar for another Scala kills the job.",
            key="scala",
            fix=f"Use --scala {' or '.join(SCALAS[minor])}. `spark-submit --version` tells yours.",
        )
    if path is not None:
        _check(jar, path)
    return jar


def _check(jar: Jar, path: str) -> None:
    """Refuse a jar that is named as one for another Scala, or that is not what Maven Central has by its name."""
    named = _NAME.fullmatch(re.split(r"[/\\]", path)[-1])
    if named and named["scala"] != jar.scala:
        raise ConfigError(
            f"The jar is for Scala {named['scala']}, Spark is for {jar.scala}: the job would die of NoSuchMethodError.",
            key="jars",
            fix=f"Use {jar.file_name}, from {jar.url}.",
        )
    file = Path(path)
    if named and named["version"] == VERSION and file.is_file() and _digest(file) != jar.sha256:
        raise ConfigError(
            f"{path} is damaged or not what its name says: its SHA-256 is not {jar.sha256}.",
            key="jars",
            fix=f"Download it again from {jar.url}.",
        )


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
