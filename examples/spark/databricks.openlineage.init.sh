#!/bin/bash
# Puts OpenLineage's listener where Databricks' driver finds it when it starts: spark.jars.packages comes too late.
set -euo pipefail
[[ "${DB_IS_DRIVER:-TRUE}" == TRUE ]] || exit 0 # executors need no listener
folder=/mnt/driver-daemon/jars
mkdir -p "$folder"
curl -fsSL --retry 3 -o "$folder"/openlineage-spark_2.12-1.53.0.jar https://repo1.maven.org/maven2/io/openlineage/openlineage-spark_2.12/1.53.0/openlineage-spark_2.12-1.53.0.jar
# What was fetched must be what Maven Central has.
echo "9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d  $folder/openlineage-spark_2.12-1.53.0.jar" | sha256sum --check --quiet || { rm -f "$folder"/openlineage-spark_2.12-1.53.0.jar; exit 1; }
