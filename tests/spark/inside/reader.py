"""Reads settings as Spark and its listener do, in one JVM: a question and its answer are each a line of JSON.

Asked ``{"properties": PATH}``, ``{"arguments": [...]}`` or ``{"yml": TEXT}``, it answers with Spark's properties and
what the listener makes of ``spark.openlineage.namespace``: ``{"spark": {…}, "namespace": …}``, or ``{"error": …}``.
``OPENLINEAGE_CONFIG`` names the file that ``yml`` is written to.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.conf import SparkConf
from pyspark.java_gateway import launch_gateway


def main(jar: str) -> None:
    """Answer until the input ends."""
    jvm = launch_gateway(SparkConf(loadDefaults=False).set("spark.driver.extraClassPath", jar)).jvm
    for line in sys.stdin:
        try:
            answer = read(jvm, json.loads(line))
        except Py4JJavaError as error:
            answer = {"error": str(error.java_exception)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def read(jvm: Any, question: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one question."""
    Path(os.environ["OPENLINEAGE_CONFIG"]).write_text(question.get("yml", "{}"), encoding="utf-8")
    conf = jvm.org.apache.spark.SparkConf(False)
    spark = dict(properties(jvm, question))
    for key, value in spark.items():
        conf.set(key, value)
    parsed = jvm.io.openlineage.spark.agent.ArgumentParser.parse(conf)
    return {"spark": spark, "namespace": parsed.getNamespace()}


def properties(jvm: Any, question: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield Spark's properties, from a file or from arguments."""
    if "properties" in question:
        yield from pairs(jvm.org.apache.spark.util.Utils.getPropertiesFromFile(question["properties"]))
    if "arguments" in question:
        words = jvm.scala.collection.JavaConverters.asScalaBuffer(jvm.java.util.ArrayList(question["arguments"]))
        none = jvm.scala.collection.JavaConverters.mapAsScalaMap(jvm.java.util.HashMap())
        yield from pairs(
            jvm.org.apache.spark.deploy.SparkSubmitArguments(words.toSeq(), none.toMap(None)).sparkProperties()
        )


def pairs(scala_map: Any) -> Iterator[tuple[str, str]]:
    """Yield the entries of a Scala map of texts."""
    entries = scala_map.iterator()
    while entries.hasNext():
        entry = entries.next()
        yield entry._1(), entry._2()


if __name__ == "__main__":
    main(sys.argv[1])
