# Spark's listener sends an event once and forgets it (429 and 503: once more): while a destination is down, events
# are lost. Only something beside Spark that keeps a queue prevents that: truewatch-lineage gateway. DataKit does not
# keep one.
# spark.jars.packages: the listener for Scala 2.12; SHA-256
# 9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d
# spark.extraListeners: a list: the last setting of it wins, so all stand here
# spark.redaction.regex: Spark's own does not mask an apiKey
# spark.scheduler.listenerbus.logSlowEvent: such a line of the log shows every property unmasked
# spark.openlineage.namespace: the namespace of this Spark's jobs
# spark.openlineage.transport.type: without it the listener writes events to the log
# spark.openlineage.transport.url: only the origin: the listener drops a path
# spark.openlineage.transport.endpoint: the path that takes events there
# spark.openlineage.transport.compression: the listener knows gzip only
# spark.openlineage.transport.timeoutInMillis: how long one event may hold up the listener; the driver's spark.stop()
# waits for it
# spark.openlineage.circuitBreaker.type: gives up an event after a time, whatever it waits for
# spark.openlineage.circuitBreaker.timeoutInSeconds: seconds; a destination's Retry-After, which the listener obeys
# without a limit, would hold Spark up
# The token comes from the environment that Spark's driver is started in, and stands nowhere else:
#   export OPENLINEAGE__TRANSPORT__TYPE=http
#   export OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key
#   export OPENLINEAGE__TRANSPORT__AUTH__API_KEY="$(printf '"%s"' "$(cat '/etc/truewatch/token')")"
spark-submit \
    --conf spark.jars.packages=io.openlineage:openlineage-spark_2.12:1.53.0 \
    --conf spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener \
    --conf 'spark.redaction.regex=(?i)secret|password|token|access[.]?key|api[._-]?key|authorization' \
    --conf spark.scheduler.listenerbus.logSlowEvent=false \
    --conf spark.openlineage.namespace=production-spark \
    --conf spark.openlineage.transport.type=http \
    --conf spark.openlineage.transport.url=https://openway.truewatch.com \
    --conf spark.openlineage.transport.endpoint=/v1/write/openlineage \
    --conf spark.openlineage.transport.compression=gzip \
    --conf spark.openlineage.transport.timeoutInMillis=5000 \
    --conf spark.openlineage.circuitBreaker.type=timeout \
    --conf spark.openlineage.circuitBreaker.timeoutInSeconds=30 \
    your_job.py
