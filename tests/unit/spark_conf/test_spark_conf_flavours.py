"""Every form says what the plan says, read back by a parser of its own; and none ever holds a token."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from support import cli
from support.private import write_private
from support.spark_parsed import PARSERS, exports, parsed

from truewatch_lineage_spark.flavours import FLAVOURS
from truewatch_lineage_spark.versions import LISTENER

TOKEN = "tkn_never-to-be-seen_0123456789"
JAR = "s3://bucket/openlineage-spark_2.12-1.53.0.jar"
DATAWAY = {"url": "https://openway.truewatch.com", "headers": json.dumps({"X-Team": 'blue & "green" $HOME it\'s'})}
JAVA_HOLDS = [form for form, flavour in FLAVOURS.items() if flavour.carrier == "environment"]
FILLED_IN = [form for form, flavour in FLAVOURS.items() if flavour.carrier == "properties" and form != "glue"]


@pytest.fixture
def token_file(tmp_path):
    """The file that holds the token."""
    return write_private(tmp_path / "token", TOKEN)


def written(form, env, *options):
    """Run the command; Glue can't do without a jar in S3."""
    jars = ("--jars", JAR) if form == "glue" and "--jars" not in options else ()
    return cli.run("spark", "conf", "--format", form, *jars, *options, env=env)


def test_every_form_of_the_design_is_there():
    """Under its name."""
    assert list(FLAVOURS) == list(PARSERS)


@pytest.mark.parametrize("form", [form for form in FLAVOURS if form != "glue"])
def test_a_form_holds_every_property(form, token_file):
    """As spark-defaults.conf holds it; but for jars, which each platform has its own way for."""
    env = {**DATAWAY, "token_file": token_file}
    options = ("--profile", "lean", "--namespace", "ü 😀 'quoted\" \\ #")

    ran = written(form, env, *options)
    expected = parsed("properties", written("properties", env, *options).out).properties

    assert ran.code == 0
    found = parsed(form, ran.out).properties
    own = {"spark.jars.packages", "spark.extraListeners"}
    assert {key: value for key, value in expected.items() if key not in own}.items() <= found.items()
    assert found["spark.extraListeners"].split(",")[-1] == LISTENER


def test_glue_takes_no_blank(token_file):
    """It would end the value there."""
    ran = written("glue", {**DATAWAY, "token_file": token_file})

    assert (ran.code, ran.out) == (2, "")
    assert "headers.X-Team" in ran.err


@pytest.mark.parametrize("form", JAVA_HOLDS)
def test_a_form_says_what_the_environment_must_have(form, token_file):
    """In its own way: lines for a shell, a Secret, a connection, an initialization action."""
    ran = written(form, {"url": "https://x.example", "token_file": token_file})

    environment = parsed(form, ran.out).environment or exports(ran.err)
    assert list(environment) == [
        "OPENLINEAGE__TRANSPORT__TYPE",
        "OPENLINEAGE__TRANSPORT__AUTH__TYPE",
        "OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
    ]
    assert list(environment.values())[:2] == ["http", "api_key"]


REFERENCES = {
    "databricks": {"spark.openlineage.transport.auth.apiKey": "{{secrets/truewatch-lineage/token}}"},
    "emr": {
        "EMR.secret@spark.openlineage.transport.auth.apiKey": (
            "arn:aws:secretsmanager:REGION:ACCOUNT:secret:truewatch-lineage"
        )
    },
    "emr-serverless": {"spark.openlineage.transport.auth.apiKey": "EMR.secret@truewatch-lineage"},
}


@pytest.mark.parametrize("form", FILLED_IN)
def test_a_platform_fills_its_own_secret_in(form, token_file):
    """Beside the type of the token."""
    found = parsed(form, written(form, {"url": "https://x.example", "token_file": token_file}).out).properties

    assert {**REFERENCES[form], "spark.openlineage.transport.auth.type": "api_key"}.items() <= found.items()


NAMED = {
    "k8s": ("mine:key", "mine:key"),
    "k8s-conf": ("mine", "mine:token"),
    "databricks": ("scope/key", "{{secrets/scope/key}}"),
    "emr": ("arn:aws:x", "arn:aws:x"),
    "emr-serverless": ("mine", "EMR.secret@mine"),
    "airflow": ("my_conn", '"{{ conn.my_conn.password }}"'),
}


@pytest.mark.parametrize(("form", "names"), NAMED.items(), ids=NAMED)
def test_a_secrets_name_can_be_given(form, names, token_file):
    """As the platform knows it."""
    given, expected = names

    found = parsed(form, written(form, {"url": "https://x.example", "token_file": token_file}, "--secret", given).out)

    assert expected in [*found.properties.values(), *found.environment.values()]


TWO = """
[destinations.one]
url = "https://openway.truewatch.com"
token_env = "MY_TOKEN"
[destinations.two]
destination = "portal"
url = "https://portal.example"
token_env = "MY_TOKEN"
auth_method = "x_token"
"""


@pytest.mark.parametrize("form", FLAVOURS)
def test_two_destinations_have_a_token_each(form, tmp_path):
    """Each under a name of its own."""
    config = tmp_path / "config.toml"
    config.write_text(TWO)

    ran = written(form, {"config": config})

    assert ran.code == 0
    found = parsed(form, ran.out)
    environment = found.environment or exports(ran.err)
    if form in JAVA_HOLDS:
        assert json.loads(environment.pop("OPENLINEAGE__TRANSPORT"))["type"] == "composite"
        assert list(environment) == [
            "OPENLINEAGE__TRANSPORT__TRANSPORTS__ONE__AUTH__API_KEY",
            "OPENLINEAGE__TRANSPORT__TRANSPORTS__TWO__HEADERS",
        ]
        assert len(set(environment.values())) == 2
    else:
        transports = "spark.openlineage.transport.transports"
        assert found.properties[f"{transports}.one.auth.type"] == "api_key"
        text = ran.out + ran.err
        assert f"{transports}.one.auth.apiKey" in text
        assert f"{transports}.two.headers.X-Token" in text


SOURCES = {
    "token": lambda file: {"token": TOKEN},
    "token_file": lambda file: {"token_file": file},
    "token_env": lambda file: {"token_env": "HOLDS_IT"},
    "token_command": lambda file: {"token_command": json.dumps(["echo", TOKEN])},
    "a token in the place of a file": lambda file: {"token_file": TOKEN},
    "a token in the place of a variable": lambda file: {"token_env": TOKEN},
    "auth": lambda file: {"auth": json.dumps({"type": "api_key", "apiKey": TOKEN})},
}
METHODS = ("bearer", "x_token", "query")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("form", FLAVOURS)
def test_no_token_is_ever_written(form, source, token_file, monkeypatch):
    """Wherever the settings have it, and however it is sent."""
    monkeypatch.setenv("HOLDS_IT", TOKEN)
    for method in METHODS:
        env = {"url": "https://x.example", "auth_method": method, "allow_query_token": "true"}

        ran = written(form, env | SOURCES[source](token_file))

        assert ran.code == 0, ran.err
        assert TOKEN not in ran.out + ran.err


OLD = {
    "spark.openlineage.transport.auth.apiKey": TOKEN,
    "spark.openlineage.transport.headers.Authorization": f"Bearer {TOKEN}",
    "spark.openlineage.transport.urlParams.token": TOKEN,
    "spark.yarn.appMasterEnv.OPENLINEAGE_API_KEY": TOKEN,
    "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__AUTH__API_KEY": TOKEN,
}
TREES = {
    "yml": yaml.safe_dump(
        {"transport": {"type": "http", "auth": {"apiKey": TOKEN}}, "facets": {"x": {"disabled": True}}}
    ),
    "k8s": yaml.safe_dump(
        {
            "kind": "SparkApplication",
            "spec": {
                "sparkConf": OLD,
                "driver": {"env": [{"name": "OPENLINEAGE__TRANSPORT__AUTH__API_KEY", "value": TOKEN}, {"name": "A"}]},
            },
        }
    ),
    "databricks": json.dumps({"spark_conf": OLD, "spark_env_vars": {"OPENLINEAGE__TRANSPORT__AUTH__API_KEY": TOKEN}}),
    "emr": json.dumps(
        [
            {"Classification": "spark-defaults", "Properties": OLD},
            {"Classification": "export", "Properties": {"OPENLINEAGE_API_KEY": TOKEN}},
        ]
    ),
    "emr-serverless": json.dumps(
        {"applicationConfiguration": [{"classification": "spark-defaults", "properties": OLD}]}
    ),
    "livy": json.dumps({"conf": OLD}),
    "glue": json.dumps({"--conf": " --conf ".join(f"{key}={value.replace(' ', '')}" for key, value in OLD.items())}),
}


@pytest.mark.parametrize("own", [False, True], ids=["spark-defaults", "own format"])
@pytest.mark.parametrize("form", FLAVOURS)
def test_no_token_of_a_file_that_is_extended_is_written(form, own, tmp_path):
    """Another transport's parts are left out, and named."""
    base = tmp_path / ("base.yaml" if own and form in ("yml", "k8s") else "base")
    base.write_text(TREES[form] if own and form in TREES else "\n".join(f"{key} {value}" for key, value in OLD.items()))

    ran = written(form, {"url": "https://x.example"}, "--base", base)

    assert ran.code == 0, ran.err
    assert TOKEN not in ran.out + ran.err
    assert "eft out" in ran.out + ran.err or "Replaced: the transport" in ran.out


EXTENDED = {
    "yml": (
        {"transport": {"type": "console"}, "facets": {"x": {"disabled": True}}},
        lambda tree: tree["facets"] == {"x": {"disabled": True}} and tree["transport"]["type"] == "http",
    ),
    "k8s": (
        {"kind": "SparkApplication", "spec": {"image": "i", "executor": {"instances": 2, "on": [None, 1.5, "2"]}}},
        lambda tree: (
            tree["spec"]["image"] == "i" and tree["spec"]["executor"] == {"instances": 2, "on": [None, 1.5, "2"]}
        ),
    ),
    "databricks": (
        {
            "num_workers": 2,
            "spark_version": "15.4.x-scala2.12",
            "spark_conf": {"a.b": "c"},
            "init_scripts": [{"s3": {}}],
        },
        lambda tree: tree["num_workers"] == 2 and tree["spark_conf"]["a.b"] == "c" and len(tree["init_scripts"]) == 2,
    ),
    "emr": (
        [{"Classification": "hive-site", "Properties": {"a": "b"}}],
        lambda tree: tree[0] == {"Classification": "hive-site", "Properties": {"a": "b"}} and len(tree) == 2,
    ),
    "emr-serverless": (
        {"monitoringConfiguration": {"a": "b"}},
        lambda tree: tree["monitoringConfiguration"] == {"a": "b"},
    ),
    "livy": (
        {"file": "job.py", "conf": {"spark.x": "1"}},
        lambda tree: tree["file"] == "job.py" and tree["conf"]["spark.x"] == "1",
    ),
    "glue": (
        {"--TempDir": "s3://t", "--extra-jars": "s3://a.jar", "--conf": "spark.x=1 --conf spark.y=a=b"},
        lambda tree: (
            tree["--TempDir"] == "s3://t"
            and tree["--extra-jars"] == f"s3://a.jar,{JAR}"
            and tree["--conf"].startswith("spark.x=1 --conf spark.y=a=b --conf spark.extraListeners=")
        ),
    ),
}


@pytest.mark.parametrize(("form", "case"), EXTENDED.items(), ids=EXTENDED)
def test_a_file_of_the_form_is_extended(form, case, tmp_path):
    """What else is in it stays."""
    tree, holds = case
    base = tmp_path / "base.yaml"
    base.write_text(json.dumps(tree) if FLAVOURS[form].base == "json" else yaml.safe_dump(tree))

    ran = written(form, {"url": "https://x.example"}, "--base", base)

    assert ran.code == 0, ran.err
    assert holds(yaml.safe_load(ran.out))


@pytest.mark.parametrize("form", [form for form in FLAVOURS if form not in ("yml", "glue")])
def test_lists_of_a_spark_defaults_are_extended(form, tmp_path):
    """In every form: one that names our listener alone would switch the others off."""
    base = tmp_path / "spark-defaults.conf"
    base.write_text(
        "spark.extraListeners  org.x.Y,org.x.Z\nspark.redaction.regex: (?i)pin\nspark.jars.packages=a:b:1\n"
    )

    found = parsed(form, written(form, {"url": "https://x.example"}, "--base", base).out).properties

    assert found["spark.extraListeners"].split(",")[-3:] == ["org.x.Y", "org.x.Z", LISTENER]
    assert found["spark.redaction.regex"].startswith("(?:(?i)pin)|(?i:")
    assert found["spark.jars.packages"].startswith("a:b:1")


def test_spark_defaults_keeps_the_others_in_order(tmp_path):
    """Above what is added."""
    base = tmp_path / "spark-defaults.conf"
    base.write_text("# mine\nspark.z 1\nspark.a=C\\:\\\\x\nspark.openlineage.namespace=old\n")

    ran = written("properties", {"destination": "datakit"}, "--base", base)

    assert ran.out.startswith("spark.z=1\nspark.a=C:\\\\x\n\n")
    assert "# Replaced: spark.openlineage.namespace had another value." in ran.out


REFUSED = {
    "serverless": (("databricks", "--access-mode", "serverless"), "", "takes neither init scripts"),
    "a runtime for another Scala": (("databricks",), '{"spark_version": "16.4.x-scala2.13"}', "Use --scala 2.13"),
    "a jar that is not in S3": (("glue", "--jars", "/tmp/x.jar"), "", "only from S3"),
    "another kind of Kubernetes' things": (("k8s",), '{"kind": "Deployment"}', "no SparkApplication"),
    "a SparkApplication for another Spark": (
        ("k8s",),
        '{"kind": "SparkApplication", "spec": {"sparkVersion": "4.0.1"}}',
        "Use --spark 4.0.1",
    ),
    "a list for an object": (("livy",), "[]", "an object"),
    "an object for a list": (("emr",), "{}", "a list"),
    "a text for a mapping": (("livy",), '{"conf": "x"}', "conf is no mapping"),
    "a mapping for a list": (("emr-serverless",), '{"applicationConfiguration": {}}', "is no list"),
    "broken JSON": (("livy",), '{"conf": \n "hidden', "no JSON: see line 2"),
    "JSON for spark-defaults": (("submit",), "{}", "extends spark-defaults.conf"),
    "a template": (("airflow", "--namespace", "a{{b"), "", "for a template"),
    "a long value": (("emr", "--namespace", "n" * 1024), "", "1024 characters"),
    "all of gcloud's separators": (("dataproc", "--namespace", "#;@~|!%&"), "", "separate"),
}


@pytest.mark.parametrize(("words", "base", "message"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_work_is_refused(words, base, message, tmp_path):
    """With the reason, and nothing of the file's content."""
    form, *options = words
    if base:
        file = tmp_path / "base"
        file.write_text(base)
        options += ["--base", file]

    ran = written(form, {"url": "https://x.example"}, *options)

    assert (ran.code, ran.out) == (2, "")
    assert message in re.sub(r"\s+", " ", ran.err)
    assert "hidden" not in ran.err


MODES = {"dedicated": "SINGLE_USER", "standard": "USER_ISOLATION", "no-isolation": "NONE"}


@pytest.mark.parametrize(("mode", "name"), MODES.items(), ids=MODES)
def test_databricks_has_a_script_that_its_access_mode_runs(mode, name):
    """From a volume where an allowlist asks for one, and with the jar's checksum."""
    ran = written("databricks", {"url": "https://x.example"}, "--access-mode", mode)

    tree = json.loads(ran.out)
    assert tree["data_security_mode"] == name
    assert list(tree["init_scripts"][0]) == ["volumes" if mode == "standard" else "workspace"]
    assert ("allowlist" in ran.err) == (mode == "standard")
    assert "9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d" in ran.err
    listeners = tree["spark_conf"]["spark.extraListeners"].split(",")
    assert listeners == ["com.databricks.backend.daemon.driver.DBCEventLoggingListener", LISTENER]


FILES = {
    "properties": "x.conf",
    "submit": "x.sh",
    "k8s-conf": "x.sh",
    "dataproc": "x.sh",
    "pyspark": "x.py",
    "airflow": "x.py",
    "yml": "openlineage.yml",
    "k8s": "x.yaml",
}


@pytest.mark.parametrize("profile", ["full", "lean"])
@pytest.mark.parametrize("form", FLAVOURS)
def test_what_is_written_passes_the_check(form, profile, tmp_path):
    """The two commands of this package are of one mind."""
    file = write_private(
        tmp_path / FILES.get(form, "x.json"), written(form, {"url": "https://x.example"}, "--profile", profile).out
    )

    ran = cli.run("spark", "check", file)

    assert ran.out == ""
    assert ran.code == 0
    assert not ran.err.startswith("0 settings")


def test_a_breaker_of_an_openlineage_yml_is_left_alone(tmp_path):
    """What one kind of it needs, another does not know."""
    base = tmp_path / "openlineage.yml"
    base.write_text("circuitBreaker:\n  type: asyncTaskQueue\n  queueSize: 10\n")

    ran = written("yml", {"url": "https://x.example"}, "--base", base)

    assert yaml.safe_load(ran.out)["circuitBreaker"] == {"type": "asyncTaskQueue", "queueSize": 10}


@pytest.mark.parametrize("form", ["emr", "emr-serverless", "glue", "dataproc"])
def test_two_tokens_have_two_names_on_a_platform_without_keys(form, tmp_path):
    """By the destinations' names, whatever stands in the secret's own."""
    config = tmp_path / "config.toml"
    config.write_text(TWO)

    ran = written(form, {"config": config}, "--secret", "arn:aws:us-east-1:x")

    assert "arn:aws:us-east-1:x-one" in ran.out + ran.err
    assert "arn:aws:us-east-1:x-two" in ran.out + ran.err


@pytest.mark.parametrize("form", [form for form in TREES if form not in ("yml", "glue")])
def test_another_release_of_the_listener_leaves_a_file_that_is_extended(form, tmp_path):
    """Its jar beside ours would be a second listener of the same name."""
    base = tmp_path / "base.yaml"
    base.write_text(
        TREES[form]
        .replace("spark.openlineage.transport.urlParams.token", "spark.jars")
        .replace(TOKEN, "openlineage-spark.jar")
    )

    ran = written(form, {"url": "https://x.example"}, "--base", base)

    assert "openlineage-spark.jar" not in ran.out
    assert "another release of the listener" in ran.out + ran.err


def test_a_pod_fetches_jars_into_a_folder_it_can_write():
    """An image's home may be read-only; with a jar of its own it fetches none."""
    fetching, having = (
        parsed("k8s", written("k8s", {"url": "https://x.example"}, *options).out).properties
        for options in ((), ("--jars", "local:///opt/openlineage-spark_2.12-1.53.0.jar"))
    )

    assert fetching["spark.jars.ivy"] == "/tmp/.ivy2"
    assert "spark.jars.ivy" not in having
