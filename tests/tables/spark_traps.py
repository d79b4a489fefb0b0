"""Spark's settings with one trap each, and what the linter must say of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

TOKEN = "tkn_0123456789abcdef0123456789abcdef"
LISTENER = "spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener"
TYPE = "spark.openlineage.transport.type=http"
URL = "spark.openlineage.transport.url=https://openway.truewatch.com"
ENDPOINT = "spark.openlineage.transport.endpoint=/v1/write/openlineage"
BASE = (LISTENER, TYPE, URL, ENDPOINT)
MASKED = (
    "spark.redaction.regex=(?i)secret|password|token|access[.]?key|api[._-]?key|authorization",
    "spark.scheduler.listenerbus.logSlowEvent=false",
)
COMPOSITE = (LISTENER, "spark.openlineage.transport.type=composite")
A = "spark.openlineage.transport.transports.a"
CHILD = (f"{A}.type=http", f"{A}.url=https://lineage.example.com", f"{A}.endpoint=/v1/write/openlineage")
OL = "spark.openlineage"
YML = "transport:\n  type: http\n  url: https://openway.truewatch.com\n  endpoint: /v1/write/openlineage\n"
VARIABLES = "OPENLINEAGE__TRANSPORT__TYPE=http\nOPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key\n"
SERIALIZERS = tuple(
    f"{OL}.transport.properties.{of}.serializer=org.apache.kafka.common.serialization.StringSerializer"
    for of in ("key", "value")
)
SUBMIT = "spark-submit \\\n" + "".join(f"  --conf {line} \\\n" for line in BASE)


@dataclass(frozen=True)
class Trap:
    """A file with a trap.

    Attributes:
        rule: The finding's rule.
        at: What the line holds that is named, or the line's number.
        fix: What the fix says.
        text: The file.
        name: Its name.
        severity: The finding's.
        also: Other rules that the same mistake breaks.
        mode: The file's mode.
    """

    rule: str
    at: str | int
    fix: str
    text: str
    name: str = "spark-defaults.conf"
    severity: str = "error"
    also: tuple[str, ...] = ()
    mode: int = 0o644

    @property
    def line(self) -> int:
        """The number of the line that is named."""
        if isinstance(self.at, int):
            return self.at
        return next(number for number, line in enumerate(self.text.splitlines(), start=1) if self.at in line)


def conf(*lines: str, without: tuple[str, ...] = (), base: tuple[str, ...] = BASE) -> str:
    """Return a file of properties that is in order but for ``lines``."""
    return "\n".join(["# Spark", *(line for line in base if line not in without), *lines, ""])


def _databricks(**changed: object) -> str:
    spark_conf = dict(line.split("=", 1) for line in (*BASE, *MASKED))
    listeners = spark_conf["spark.extraListeners"]
    spark_conf["spark.extraListeners"] = f"com.databricks.backend.daemon.driver.DBCEventLoggingListener,{listeners}"
    cluster = {"spark_version": "15.4.x-scala2.12", "spark_conf": spark_conf | changed.pop("spark_conf", {}), **changed}
    return json.dumps({"new_cluster": cluster}, indent=1)


def _emr(**changed: str) -> str:
    properties = dict(line.split("=", 1) for line in (*BASE, *MASKED)) | changed
    return json.dumps([{"Classification": "spark-defaults", "Properties": properties}], indent=1)


TRAPS: dict[str, Trap] = {
    # The transport.
    "no type": Trap("transport.no-type", URL, "transport.type", conf(without=(TYPE,))),
    "an unknown type": Trap(
        "transport.unknown-type", "type=htp", "Write http", conf(f"{OL}.transport.type=htp", without=(TYPE,))
    ),
    "a type of the Python client": Trap(
        "transport.unknown-type", "type=noop", "Write", conf(f"{OL}.transport.type=noop", without=(TYPE,))
    ),
    "no url": Trap("transport.no-url", TYPE, "transport.url", conf(without=(URL,))),
    "a path in url": Trap(
        "transport.url-path",
        "/v1/write",
        "transport.endpoint",
        conf(f"{URL}/v1/write/openlineage", without=(URL, ENDPOINT)),
    ),
    "a query in url": Trap("transport.url-path", "?a=b", "endpoint", conf(f"{URL}?a=b", without=(URL,))),
    "a url without a scheme": Trap(
        "transport.url-broken",
        "url=openway",
        "https://HOST",
        conf(f"{OL}.transport.url=openway.x.com:80", without=(URL,)),
    ),
    "a placeholder for a url": Trap(
        "transport.url-broken",
        "url=<",
        "https://HOST",
        conf(f"{OL}.transport.url=<OPENLINEAGE_BASE_URL>", without=(URL,)),
    ),
    "a query in endpoint": Trap(
        "transport.endpoint-query",
        "openlineage?x=1",
        "transport.urlParams.NAME",
        conf(f"{ENDPOINT}?x=1", without=(ENDPOINT,)),
    ),
    "no endpoint": Trap(
        "transport.no-endpoint", URL, "/v1/write/openlineage", conf(without=(ENDPOINT,)), severity="warning"
    ),
    "no endpoint for DataKit": Trap(
        "transport.no-endpoint",
        "9529",
        "/openlineage/api/v1/lineage",
        conf(f"{OL}.transport.url=http://127.0.0.1:9529", without=(URL, ENDPOINT)),
        severity="warning",
    ),
    "a token over http": Trap(
        "transport.insecure",
        "http://lineage",
        "https://",
        conf(f"{OL}.transport.url=http://lineage.example.com", without=(URL,))
        + "spark.kubernetes.driver.secretKeyRef.OPENLINEAGE__TRANSPORT__AUTH__API_KEY=a:b\n"
        + "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TYPE=http\n"
        + "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key\n",
        severity="warning",
    ),
    "a compression that is none": Trap(
        "transport.compression", "=none", "gzip", conf(f"{OL}.transport.compression=none")
    ),
    "a timeout that is ignored": Trap(
        "key.misspelt", "timeout=5", "timeoutInMillis", conf(f"{OL}.transport.timeout=5")
    ),
    "a timeout with its unit": Trap("value.type", "5s", "digits", conf(f"{OL}.transport.timeoutInMillis=5s")),
    "retries": Trap("key.misspelt", "retry", "gateway", conf(f"{OL}.transport.retry.total=5")),
    "no transports in a composite": Trap("transport.no-children", 3, "transports.NAME.type", conf(base=COMPOSITE)),
    "no type in a composite": Trap(
        "transport.no-type", CHILD[1], "transports.a.type", conf(*CHILD[1:], base=COMPOSITE)
    ),
    "no url in a composite": Trap(
        "transport.no-url", CHILD[0], "transports.a.url", conf(CHILD[0], CHILD[2], base=COMPOSITE)
    ),
    "a lone slash beside an endpoint in a composite": Trap(
        "transport.url-and-endpoint", "com/", "origin", conf(CHILD[0], f"{CHILD[1]}/", CHILD[2], base=COMPOSITE)
    ),
    "an unknown key in a composite": Trap(
        "transport.child-key", "retries", "gateway", conf(*CHILD, f"{A}.retries=3", base=COMPOSITE)
    ),
    "auth.api_key in a composite": Trap(
        "transport.child-key",
        "api_key=$",
        "a.auth.apiKey",
        conf(*CHILD, f"{A}.auth.type=api_key", f"{A}.auth.api_key=${{T}}", *MASKED, base=COMPOSITE),
        also=("token.literal", "value.not-expanded"),
    ),
    "a dotted header in a composite": Trap(
        "transport.child-key", "headers", "out", conf(*CHILD, f"{A}.headers.x.y=3", base=COMPOSITE)
    ),
    "capitals of gzip in a composite": Trap(
        "transport.compression", "GZIP", "lower case", conf(*CHILD, f"{A}.compression=GZIP", base=COMPOSITE)
    ),
    "kafka without its client": Trap(
        "transport.kafka-jar",
        "type=kafka",
        "kafka-clients",
        conf(
            f"{OL}.transport.type=kafka",
            f"{OL}.transport.topicName=lineage",
            f"{OL}.transport.properties.bootstrap.servers=localhost:9092",
            *SERIALIZERS,
            base=(LISTENER,),
        ),
    ),
    "kafka without a topic": Trap(
        "transport.kafka-settings",
        "type=kafka",
        "Add it",
        conf(
            f"{OL}.transport.type=kafka",
            "spark.jars.packages=org.apache.kafka:kafka-clients:3.9.1",
            f"{OL}.transport.properties.bootstrap.servers=localhost:9092",
            *SERIALIZERS,
            base=(LISTENER,),
        ),
    ),
    # The token's way.
    "auth.type in camelCase": Trap("auth.type", "auth.type", "api_key", conf(f"{OL}.transport.auth.type=apiKey")),
    "no auth.type": Trap(
        "auth.no-type",
        "apiKey",
        "auth.type",
        _databricks(spark_conf={f"{OL}.transport.auth.apiKey": "{{secrets/a/b}}"}),
        "cluster.json",
    ),
    "auth.api_key": Trap(
        "auth.key-spelling",
        "api_key=$",
        "transport.auth.apiKey",
        conf(f"{OL}.transport.auth.type=api_key", f"{OL}.transport.auth.api_key=${{T}}", *MASKED),
        also=("token.literal", "value.not-expanded"),
    ),
    "a blank key": Trap(
        "auth.no-key",
        "apiKey=",
        "environment",
        conf(f"{OL}.transport.auth.type=api_key", f"{OL}.transport.auth.apiKey=  ", *MASKED),
    ),
    "a type whose key is in the environment": Trap(
        "auth.no-key",
        "auth.type",
        "OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
        conf(f"{OL}.transport.auth.type=api_key"),
    ),
    "api_key in openlineage.yml": Trap(
        "auth.key-spelling",
        "api_key: tkn",
        "Write transport.auth.apiKey",
        f"{YML}  auth:\n    type: api_key\n    api_key: {TOKEN}\n",
        "openlineage.yml",
        also=("token.literal-private",),
        mode=0o600,
    ),
    "an Authorization header beside auth": Trap(
        "auth.two-headers",
        "Authorization",
        "transport.auth",
        _databricks(
            spark_conf={
                f"{OL}.transport.auth.type": "api_key",
                f"{OL}.transport.auth.apiKey": "{{secrets/a/b}}",
                f"{OL}.transport.headers.Authorization": "{{secrets/a/c}}",
            }
        ),
        "cluster.json",
    ),
    "X-Token beside auth": Trap(
        "auth.two-tokens",
        "X-Token",
        "one of them",
        _databricks(
            spark_conf={
                f"{OL}.transport.auth.type": "api_key",
                f"{OL}.transport.auth.apiKey": "{{secrets/a/b}}",
                f"{OL}.transport.headers.X-Token": "{{secrets/a/c}}",
            }
        ),
        "cluster.json",
        severity="warning",
    ),
    # Values.
    "a misspelt key": Trap("key.misspelt", "endpoit", "transport.endpoint.", conf(f"{OL}.transport.endpoit=/x")),
    "openlineage misspelt": Trap(
        "key.misspelt", "openlinage", "spark.openlineage.", conf("spark.openlinage.namespace=x")
    ),
    "openlineage in capitals": Trap(
        "key.misspelt", "OpenLineage.n", "spark.openlineage.", conf("spark.OpenLineage.namespace=x")
    ),
    "transport misspelt": Trap("key.misspelt", "tranport", "transport.NAME", conf(f"{OL}.tranport.url=https://h")),
    "transport misspelt in openlineage.yml": Trap(
        "key.misspelt", "type", "Write transport.NAME", "transprot:\n  type: http\n", "openlineage.yml"
    ),
    "a key in another case": Trap("key.misspelt", "urlparams", "urlParams.NAME", conf(f"{OL}.transport.urlparams.x=1")),
    "a key of an old release": Trap("key.misspelt", ".host", "transport.url", conf(f"{OL}.host=x")),
    "an unknown key": Trap("key.unknown", "zebra", "out", conf(f"{OL}.zebra=1"), severity="warning"),
    "a list of facets": Trap(
        "key.misspelt", "disabled=[", "facets.NAME.disabled=true", conf(f"{OL}.facets.disabled=[a;b]")
    ),
    "a facet that is not quite disabled": Trap("value.type", "gc", "true", conf(f"{OL}.facets.gc.disabled=yes")),
    "a text in brackets": Trap("value.list", "[a]", "without", conf(f"{OL}.namespace=[a]")),
    "a list without brackets": Trap("value.not-list", "SparkNodes", "[a;b]", conf(f"{OL}.filter.deniedSparkNodes=a;b")),
    "yes for true": Trap("value.type", "rdd", "true or false", conf(f"{OL}.filter.rddEventsDisabled=yes")),
    "${env:X}": Trap("value.not-expanded", "${env", "OPENLINEAGE__", conf(f"{OL}.namespace=${{env:NS}}")),
    "a comment behind a value": Trap(
        "value.comment", "# the", "line of its own", conf(f"{OL}.namespace=x # the namespace")
    ),
    "quotes": Trap("value.quotes", '"x"', "away", conf(f'{OL}.namespace="x"')),
    "a lone backslash": Trap(
        "value.backslash", "pattern", r"\\", conf(rf"{OL}.dataset.removePath.pattern=(.*)\d"), severity="warning"
    ),
    "a key twice": Trap(
        "key.duplicate", "namespace=a", "Leave one", conf(f"{OL}.namespace=a", f"{OL}.namespace=b"), severity="warning"
    ),
    "listeners twice": Trap("key.not-additive", "=a.B", "one line", conf("spark.extraListeners=a.B", *BASE, base=())),
    "packages twice": Trap(
        "key.not-additive",
        "a:b",
        "commas",
        conf("spark.jars.packages=a:b:1", "spark.jars.packages=io.openlineage:openlineage-spark_2.12:1.53.0"),
    ),
    "a value too long for EMR": Trap(
        "value.too-long", "namespace", "spark-submit", _emr(**{f"{OL}.namespace": "x" * 1024}), "emr.json"
    ),
    "a key without spark.": Trap(
        "file.broken", "openlineage.transport.url=x", "spark.", conf("openlineage.transport.url=x")
    ),
    "a broken escape": Trap("file.broken", "nam", "away", conf(rf"{OL}.name\u12=1")),
    "a byte order mark": Trap("file.broken", 1, "away", "\ufeff" + conf()),
    "an unknown circuit breaker": Trap(
        "breaker.type", "taskQueue", "asyncTaskQueue", conf(f"{OL}.circuitBreaker.type=taskQueue")
    ),
    "a circuit breaker without a type": Trap(
        "breaker.type", "Seconds", "circuitBreaker.type", conf(f"{OL}.circuitBreaker.timeoutInSeconds=5")
    ),
    # Tokens that show.
    "a token in the properties": Trap(
        "token.literal",
        "apiKey=tkn",
        "environment",
        conf(f"{OL}.transport.auth.type=api_key", f"{OL}.transport.auth.apiKey={TOKEN}", *MASKED),
    ),
    "Spark's own redaction": Trap(
        "leak.redaction",
        "apiKey=tkn",
        "spark.redaction.regex",
        conf(f"{OL}.transport.auth.type=api_key", f"{OL}.transport.auth.apiKey={TOKEN}", MASKED[1]),
        also=("token.literal",),
    ),
    "slow events are logged": Trap(
        "leak.slow-event",
        "apiKey=tkn",
        "logSlowEvent",
        conf(f"{OL}.transport.auth.type=api_key", f"{OL}.transport.auth.apiKey={TOKEN}", MASKED[0]),
        also=("token.literal",),
    ),
    "a narrowed redaction": Trap(
        "leak.redaction-narrowed", "redaction", "(?i)secret", conf("spark.redaction.regex=apiKey"), severity="warning"
    ),
    "a captured token": Trap(
        "leak.captured",
        "captured",
        "out of it",
        conf(f"{OL}.capturedProperties=spark.app.name,{OL}.transport.auth.apiKey"),
    ),
    "a token in the url": Trap(
        "token.literal",
        "token=abc",
        "environment",
        conf(f"{URL}?token=abcdefgh", *MASKED, without=(URL,)),
        also=("transport.url-path",),
    ),
    "a password in the url": Trap(
        "token.literal",
        "u:p@",
        "environment",
        conf(f"{OL}.transport.url=https://u:p@openway.truewatch.com", MASKED[0] + "|url", MASKED[1], without=(URL,)),
    ),
    "a token in a comment": Trap("token.literal", "# tkn", "environment", conf(f"# {TOKEN}")),
    "a token on the command line": Trap(
        "token.literal",
        "apiKey=tkn",
        "environment",
        SUBMIT
        + "".join(f"  --conf '{line}' \\\n" for line in MASKED)
        + f"  --conf {OL}.transport.auth.type=api_key --conf {OL}.transport.auth.apiKey={TOKEN} job.py\n",
        "submit.sh",
    ),
    "a shell's variable on the command line": Trap(
        "leak.process-list",
        "apiKey=$",
        "environment",
        SUBMIT
        + "".join(f"  --conf '{line}' \\\n" for line in MASKED)
        + f'  --conf {OL}.transport.auth.type=api_key --conf "{OL}.transport.auth.apiKey=$TOKEN" job.py\n',
        "submit.sh",
    ),
    "a token in openlineage.yml": Trap(
        "token.literal",
        "apiKey",
        "environment",
        f"{YML}  auth:\n    type: api_key\n    apiKey: {TOKEN}\n",
        "openlineage.yml",
    ),
    "a token in an openlineage.yml of its owner's": Trap(
        "token.literal-private",
        "apiKey",
        "environment",
        f"{YML}  auth:\n    type: api_key\n    apiKey: {TOKEN}\n",
        "openlineage.yml",
        severity="warning",
        mode=0o600,
    ),
    "a token in a variable": Trap(
        "token.literal",
        "API_KEY",
        "secrets",
        f"{VARIABLES}OPENLINEAGE__TRANSPORT__AUTH__API_KEY={TOKEN}\n",
        "spark.env",
    ),
    "a token in a cluster's definition": Trap(
        "token.literal",
        "apiKey",
        "secrets",
        _databricks(spark_conf={f"{OL}.transport.auth.type": "api_key", f"{OL}.transport.auth.apiKey": "abcdef-12345"}),
        "cluster.json",
    ),
    "a token in EMR's configurations": Trap(
        "token.literal",
        "apiKey",
        "secrets",
        _emr(**{f"{OL}.transport.auth.type": "api_key", f"{OL}.transport.auth.apiKey": "abcdef-12345"}),
        "emr.json",
    ),
    "a token of this package": Trap(
        "token.literal", "TOKEN=", "secrets", "export TRUEWATCH_LINEAGE_TOKEN=abcdef-123456\n", "spark.env"
    ),
    # The environment.
    "Python's spelling": Trap(
        "environment.python-spelling",
        "APIKEY",
        "OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
        f'{VARIABLES}export OPENLINEAGE__TRANSPORT__AUTH__APIKEY="$TOKEN"\n',
        "spark.env",
    ),
    "Python's spelling of a secret on Kubernetes": Trap(
        "environment.python-spelling",
        "APIKEY",
        "AUTH__API_KEY",
        conf(
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TYPE=http",
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key",
            "spark.kubernetes.driver.secretKeyRef.OPENLINEAGE__TRANSPORT__AUTH__APIKEY=a:b",
        ),
    ),
    "Python's names": Trap(
        "environment.python-name",
        "URL",
        "OPENLINEAGE__",
        "export OPENLINEAGE_URL=https://openway.truewatch.com\n",
        "spark.env",
        severity="warning",
    ),
    "a name in lower case": Trap(
        "environment.case",
        "openlineage__",
        "OPENLINEAGE__TRANSPORT__URL",
        f"{VARIABLES}openlineage__transport__url=https://x\n",
        "spark.env",
    ),
    "a value that is JSON at its beginning": Trap(
        "environment.json",
        "NAMESPACE",
        "quotes",
        f"{VARIABLES}OPENLINEAGE__NAMESPACE='123 abc'\n",
        "spark.env",
    ),
    "a header in a variable": Trap(
        "environment.header",
        "X_TOKEN",
        "JSON",
        f'{VARIABLES}OPENLINEAGE__TRANSPORT__HEADERS__X_TRACE="$ID"\n'.replace("X_TRACE", "X_TOKEN"),
        "spark.env",
        also=("auth.two-tokens",),
    ),
    "a token's variable alone": Trap(
        "auth.no-type",
        "API_KEY",
        "OPENLINEAGE__TRANSPORT__AUTH__TYPE",
        'OPENLINEAGE__TRANSPORT__TYPE=http\nOPENLINEAGE__TRANSPORT__AUTH__API_KEY="$T"\n',
        "spark.env",
    ),
    "variables without the transport's type": Trap(
        "transport.no-type",
        "AUTH__TYPE",
        "OPENLINEAGE__TRANSPORT__TYPE",
        'OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key\nOPENLINEAGE__TRANSPORT__AUTH__API_KEY="$T"\n',
        "spark.env",
    ),
    "a variable that is not exported": Trap(
        "environment.not-exported",
        "NAMESPACE",
        "export",
        f"OPENLINEAGE__NAMESPACE=x\n{SUBMIT}  job.py\n",
        "submit.sh",
    ),
    "debug beside variables": Trap(
        "precedence.dropped",
        "debug",
        "there, too",
        f"export OPENLINEAGE__NAMESPACE=x\n{SUBMIT}  --conf {OL}.debug.metricsDisabled=true job.py\n",
        "submit.sh",
        severity="warning",
    ),
    "a token for a transport inside a composite": Trap(
        "precedence.composite",
        "API_KEY",
        "all of it",
        conf(
            *CHILD,
            "spark.kubernetes.driver.secretKeyRef.OPENLINEAGE__TRANSPORT__TRANSPORTS__A__AUTH__API_KEY=a:b",
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TRANSPORTS__A__AUTH__TYPE=api_key",
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TRANSPORTS__A__TYPE=http",
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TRANSPORTS__A__URL=https://lineage.example.com",
            "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__TYPE=composite",
            base=COMPOSITE,
        ),
    ),
    # The listener and its jar.
    "no listener": Trap(
        "listener.missing", TYPE, "spark.extraListeners", conf(without=(LISTENER,)), severity="warning"
    ),
    "another listener": Trap("listener.name", "=a.B", "Add io", conf("spark.extraListeners=a.B", without=(LISTENER,))),
    "a listener that does not exist": Trap(
        "listener.name",
        "SparkListner",
        "Write io",
        conf(LISTENER.replace("SparkListener", "SparkListner"), without=(LISTENER,)),
    ),
    "Databricks' own listener lost": Trap(
        "listener.databricks",
        "extraListeners",
        "DBCEventLoggingListener",
        _databricks(spark_conf={"spark.extraListeners": LISTENER.partition("=")[2]}),
        "cluster.json",
        severity="warning",
    ),
    "a listener that is off": Trap(
        "listener.disabled", "disabled", "out", conf(f"{OL}.disabled=true"), severity="warning"
    ),
    "a jar for another Scala than the others": Trap(
        "jar.scala",
        "packages",
        "Scala",
        conf("spark.jars.packages=io.delta:delta-spark_2.12:3.2.0,io.openlineage:openlineage-spark_2.13:1.53.0"),
    ),
    "a jar for another Scala than the platform": Trap(
        "jar.scala",
        "jars",
        "Scala",
        _databricks(spark_conf={"spark.jars": "dbfs:/openlineage-spark_2.13-1.53.0.jar"}),
        "cluster.json",
    ),
    "two jars of the listener": Trap(
        "jar.scala",
        "packages",
        "Scala",
        conf(
            "spark.jars.packages=io.openlineage:openlineage-spark_2.12:1.53.0,"
            "io.openlineage:openlineage-spark_2.13:1.53.0"
        ),
    ),
    "a release that is not there": Trap(
        "jar.name", "1.54.0", "1.53.0", conf("spark.jars.packages=io.openlineage:openlineage-spark_2.12:1.54.0")
    ),
    "a jar without a Scala version": Trap(
        "jar.name", "packages", "_2.12", conf("spark.jars.packages=io.openlineage:openlineage-spark:1.8.0")
    ),
    "a library of a cluster": Trap(
        "jar.databricks-library",
        "coordinates",
        "init script",
        _databricks(libraries=[{"maven": {"coordinates": "io.openlineage:openlineage-spark_2.12:1.53.0"}}]),
        "cluster.json",
        severity="warning",
    ),
    "Glue's jars first": Trap(
        "jar.glue-first",
        "--conf",
        "true",
        json.dumps({"DefaultArguments": {"--conf": " --conf ".join(BASE)}}, indent=1),
        "glue.json",
        severity="warning",
    ),
    # The command line.
    "behind the application": Trap(
        "submit.after-application", "job.py", "before", f"{SUBMIT}  job.py --conf {OL}.namespace=x\n", "submit.sh"
    ),
    "a list that the shell cuts": Trap(
        "submit.not-quoted",
        "SparkNodes",
        "single quotes",
        f"{SUBMIT}  --conf {OL}.filter.deniedSparkNodes=[a;b] job.py\n",
        "submit.sh",
        also=("value.not-list",),
    ),
    "--conf without =": Trap(
        "file.broken", "namespace", "quotes", f"{SUBMIT}  --conf {OL}.namespace job.py\n", "submit.sh"
    ),
    "an open quote": Trap("file.broken", 1, "Close", f"export OPENLINEAGE__NAMESPACE='x\n{VARIABLES}", "spark.env"),
    # Files.
    "broken JSON": Trap("file.broken", 2, "Mend", '{"spark_conf":\n {', "cluster.json"),
    "broken YAML": Trap("file.broken", 2, "Mend", "transport:\n\t- x\n", "openlineage.yml"),
    "a key twice in JSON": Trap(
        "key.duplicate",
        3,
        "Leave one",
        '{"new_cluster": {"spark_conf": {"spark.app.name": "x"},\n"x": 1,\n"x": 2}}',
        "cluster.json",
        severity="warning",
    ),
    "nothing of Spark": Trap("file.nothing", 1, "right file", '{"a": 1}', "cluster.json", severity="warning"),
}
"""By what is wrong."""
