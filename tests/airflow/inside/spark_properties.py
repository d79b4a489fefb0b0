"""Have OpenLineage's provider inject the transport's destination into Spark's properties, and print them as JSON."""

import json
import os
import sys

from airflow.providers.openlineage.utils.spark import inject_transport_information_into_spark_properties

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Airflow prints is no answer
properties = inject_transport_information_into_spark_properties({"spark.app.name": "x"}, {})
print(json.dumps(properties), file=out, flush=True)
sys.exit()
