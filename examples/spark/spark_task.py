# Spark's listener sends an event once and forgets it (429 and 503: once more): while a destination is down, events
# are lost. Only something beside Spark that keeps a queue prevents that: truewatch-lineage gateway. DataKit does not
# keep one.
# The token is the password of an Airflow connection, which Airflow masks on its pages. This way is for a driver that
# the worker itself starts (client mode). On YARN and Kubernetes the operator would put env_vars on the command line:
# leave env_vars out there, and set the environment of the workers, or use --format k8s-conf.
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

your_job = SparkSubmitOperator(
    task_id="your_job",
    application="your_job.py",
    conn_id="spark_default",
    conf={
        # the listener for Scala 2.12; SHA-256 9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d
        "spark.jars.packages": "io.openlineage:openlineage-spark_2.12:1.53.0",
        # a list: the last setting of it wins, so all stand here
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        # Spark's own does not mask an apiKey
        "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|api[._-]?key|authorization",
        # such a line of the log shows every property unmasked
        "spark.scheduler.listenerbus.logSlowEvent": "false",
        # the namespace of this Spark's jobs
        "spark.openlineage.namespace": "production-spark",
        # without it the listener writes events to the log
        "spark.openlineage.transport.type": "http",
        # only the origin: the listener drops a path
        "spark.openlineage.transport.url": "https://openway.truewatch.com",
        # the path that takes events there
        "spark.openlineage.transport.endpoint": "/v1/write/openlineage",
        # the listener knows gzip only
        "spark.openlineage.transport.compression": "gzip",
        # how long one event may hold up the listener; the driver's spark.stop() waits for it
        "spark.openlineage.transport.timeoutInMillis": "5000",
        # gives up an event after a time, whatever it waits for
        "spark.openlineage.circuitBreaker.type": "timeout",
        # seconds; a destination's Retry-After, which the listener obeys without a limit, would hold Spark up
        "spark.openlineage.circuitBreaker.timeoutInSeconds": "30",
    },
    env_vars={
        "OPENLINEAGE__TRANSPORT__TYPE": "http",
        "OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key",
        "OPENLINEAGE__TRANSPORT__AUTH__API_KEY": '"{{ conn.truewatch_default.password }}"',
    },
)
