"""Runs a small job under each of many settings, one after the other, in one JVM.

``cases.py CASES`` where the file CASES holds ``{name: {"conf": {…}, "yml": "…"}}``; writes ``{name: null, or what the
job died of}`` to CASES.out. ``OPENLINEAGE_CONFIG`` names the file that ``yml`` is written to.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession


def main(file: Path) -> None:
    """Run all cases."""
    SparkContext._ensure_initialized(conf=SparkConf())
    found = {name: run(name, case) for name, case in json.loads(file.read_text("utf-8")).items()}
    file.with_suffix(".out").write_text(json.dumps(found), encoding="utf-8")


def run(name: str, case: Mapping[str, Any]) -> str | None:
    """Run the job under the settings of one case; return what it died of."""
    if config := os.environ.get("OPENLINEAGE_CONFIG"):
        Path(config).write_text(case.get("yml", "{}"), encoding="utf-8")
    builder = SparkSession.builder.appName(name)
    for key, value in case["conf"].items():
        builder.config(key, value)
    try:
        spark = builder.getOrCreate()
        spark.range(1).write.mode("overwrite").parquet(f"file://{Path.cwd()}/out")
        spark.stop()
    except Py4JJavaError as error:
        return str(error.java_exception)
    finally:
        forget()
    return None


def forget() -> None:
    """Take away what outlives a session, which would have the next one begin with the settings of the last."""
    SparkSession.builder._options.clear()
    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
