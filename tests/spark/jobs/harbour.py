"""A Spark application that reads, joins, writes, creates a table by a query, copies by RDD, and fails once.

Prints ``READY`` where all went as it should; the failing query is expected. Where Spark has its pages on, it also keeps
what others can see of the application, in the folder ``seen``.
"""

from __future__ import annotations

import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession

PLACE = Path.cwd()


def main(spark: SparkSession) -> None:
    """Run the job; in the working folder, where the files are made."""
    (PLACE / "ships.csv").write_text("id,name\n1,Anna\n2,Berta\n", encoding="utf-8")
    (PLACE / "calls.csv").write_text("ship,port\n1,Hamburg\n2,Bergen\n2,Riga\n", encoding="utf-8")
    ships = spark.read.csv(f"file://{PLACE}/ships.csv", header=True)
    calls = spark.read.csv(f"file://{PLACE}/calls.csv", header=True)
    ships.join(calls, ships.id == calls.ship).select("name", "port").write.parquet(f"file://{PLACE}/visits")
    spark.read.parquet(f"file://{PLACE}/visits").createOrReplaceTempView("visits")
    spark.sql("CREATE TABLE busiest USING parquet AS SELECT name, count(*) AS calls FROM visits GROUP BY name")
    spark.sparkContext.textFile(f"file://{PLACE}/calls.csv").saveAsTextFile(f"file://{PLACE}/copies")
    _fail(spark)
    assert spark.table("busiest").count() == 2
    if spark.sparkContext.uiWebUrl:
        _look_around(spark)
    print("READY")  # noqa: T201 - how the tests see it


def _fail(spark: SparkSession) -> None:
    """Run a query that fails while it runs, not when it is planned."""
    failing = spark.sql("SELECT CAST(raise_error(concat('no berth for ', name)) AS string) AS berth FROM visits")
    problem = "none"
    try:
        failing.write.parquet(f"file://{PLACE}/berths")
    except Exception as error:  # noqa: BLE001 - py4j, Spark 3.5 and Spark 4.0 raise different ones
        problem = str(error)
    assert "no berth for" in problem, problem


def _look_around(spark: SparkSession) -> None:
    """Keep what others can see of this application while it runs: Spark's pages, its REST API, the process list."""
    seen = PLACE / "seen"
    seen.mkdir()
    url, name = spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId
    pages = {"ui": "environment/", "sql": "SQL/", "rest": f"api/v1/applications/{name}/environment"}
    for page, path in pages.items():
        with urllib.request.urlopen(f"{url}/{path}", timeout=30) as answer:
            (seen / page).write_bytes(answer.read())
    (seen / "conf").write_text(repr(spark.sparkContext.getConf().getAll()), encoding="utf-8")
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    (seen / "processes").write_bytes(b"\n".join(commands).replace(b"\0", b" "))


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    main(session)
    session.stop()
