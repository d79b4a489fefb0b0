# Spark's listener sends an event once and forgets it (429 and 503: once more): while a destination is down, events
# are lost. Only something beside Spark that keeps a queue prevents that: truewatch-lineage gateway. DataKit does not
# keep one.
# Before anything else makes a session: a listener is taken only when Spark's driver starts.
# The token comes from the environment that Spark's driver is started in, and stands nowhere else:
#   export OPENLINEAGE__TRANSPORT__TYPE=http
#   export OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key
#   export OPENLINEAGE__TRANSPORT__AUTH__API_KEY="$(printf '"%s"' "$(cat '/etc/truewatch/token')")"
import os

from pyspark.sql import SparkSession

needed = (
    "OPENLINEAGE__TRANSPORT__TYPE",
    "OPENLINEAGE__TRANSPORT__AUTH__TYPE",
    "OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
)
missing = [name for name in needed if os.environ.get(name) in (None, "", '""')]
if missing:
    raise SystemExit(f"Set {', '.join(missing)} before the job starts: the comments say how.")

spark = (
    SparkSession.builder
    # the listener for Scala 2.12; SHA-256 9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d
    .config("spark.jars.packages", "io.openlineage:openlineage-spark_2.12:1.53.0")
    # a list: the last setting of it wins, so all stand here
    .config("spark.extraListeners", "io.openlineage.spark.agent.OpenLineageSparkListener")
    # Spark's own does not mask an apiKey
    .config("spark.redaction.regex", "(?i)secret|password|token|access[.]?key|api[._-]?key|authorization")
    # such a line of the log shows every property unmasked
    .config("spark.scheduler.listenerbus.logSlowEvent", "false")
    # the namespace of this Spark's jobs
    .config("spark.openlineage.namespace", "production-spark")
    # without it the listener writes events to the log
    .config("spark.openlineage.transport.type", "http")
    # only the origin: the listener drops a path
    .config("spark.openlineage.transport.url", "https://openway.truewatch.com")
    # the path that takes events there
    .config("spark.openlineage.transport.endpoint", "/v1/write/openlineage")
    # the listener knows gzip only
    .config("spark.openlineage.transport.compression", "gzip")
    # how long one event may hold up the listener; the driver's spark.stop() waits for it
    .config("spark.openlineage.transport.timeoutInMillis", "5000")
    # gives up an event after a time, whatever it waits for
    .config("spark.openlineage.circuitBreaker.type", "timeout")
    # seconds; a destination's Retry-After, which the listener obeys without a limit, would hold Spark up
    .config("spark.openlineage.circuitBreaker.timeoutInSeconds", "30")
    .getOrCreate()
)
