"""The forms by tools that are not ours: yamllint, shellcheck, AWS's definitions of its calls, Databricks' SDK.

Their environment has nothing of Spark; a first run downloads about 25 MB.
"""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from support import cli
from support.environments import Made, folder_name, skip_unless_possible
from support.repository import ROOT
from support.spark_parsed import exports

JAR = "s3://your-bucket/openlineage-spark_2.12-1.53.0.jar"
PLATFORMS = ROOT / "tests" / "spark" / "inside" / "platforms.py"
DATAWAY = {"url": "https://openway.truewatch.com", "token_file": "/etc/truewatch/token"}
AWKWARD = {**DATAWAY, "headers": json.dumps({"X-Team": 'blue & "green" $HOME `id` it\'s #1'})}
TWO = {"destinations": json.dumps({"one": DATAWAY, "two": {**DATAWAY, "destination": "openlineage"}})}
SETTINGS = {"one destination": DATAWAY, "awkward": AWKWARD, "two destinations": TWO}
YAML = "{extends: default, rules: {line-length: disable, document-start: disable}}"
SHELL = ["submit", "k8s-conf", "dataproc"]
WARNINGS = ["--severity=warning"]  # below are hints, such as that nothing expands in single quotes: it must not
UNSET = "SC2155"
"""An ``export`` whose command fails still succeeds; the command's own message is on the terminal."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def tools():
    """The environment that has them."""
    skip_unless_possible("The tools' pins", 13)
    made = Made(ROOT / ".spark" / folder_name("tools"), ROOT / "requirements" / "spark-tools.txt")
    made.make()
    return made


def written(form, settings, *options):
    """Give a form, and what is printed beside it."""
    jars = ["--jars", JAR] if form == "glue" else []
    ran = cli.run("spark", "conf", "--format", form, "--profile", "lean", *jars, *options, env=settings)
    assert ran.code == 0, ran.err
    return ran


def by(command, text):
    """Run a tool on a text, and give its exit code and all it says."""
    done = subprocess.run(
        [str(word) for word in command], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("form", ["k8s", "yml"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_yamllint_has_nothing_to_say(form, settings, tools):
    """But for long lines, which values and commands make."""
    lint = [tools.scripts / "yamllint", "--strict", "-d", YAML, "-"]

    text = written(form, settings).out

    assert by(lint, text) == (0, "")
    assert by(lint, text + text)[0] == 1  # it does look


@pytest.mark.parametrize("form", SHELL)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_shellcheck_has_nothing_to_say(form, settings, tools):
    """Of the command, and of the lines in its comments that bring the token in."""
    check = [tools.scripts / "shellcheck", "--shell=bash", *WARNINGS, "--exclude", UNSET, "-"]
    text = written(form, settings, "--namespace", "a 'b' \"c\" $HOME `id`").out

    lines = re.findall(r"^#   (\S.*)$", text, re.MULTILINE)
    assert lines
    assert by(check, text) == (0, "")
    assert by(check, "\n".join(lines)) == (0, "")
    assert by(check, f"{text}\necho $nothing")[0] == 1  # it does look


@pytest.mark.parametrize("form", ["properties", "pyspark", "yml", "livy"])
def test_shellcheck_has_nothing_to_say_of_exports(form, tools):
    """In a POSIX shell."""
    ran = written(form, AWKWARD)
    lines = [line.strip("# ") for line in (ran.out + ran.err).splitlines() if "export OPENLINEAGE" in line]

    assert exports("\n".join(lines))
    assert by([tools.scripts / "shellcheck", "--shell=sh", *WARNINGS, "--exclude", UNSET, "-"], "\n".join(lines)) == (
        0,
        "",
    )


@pytest.mark.parametrize("jars", [[], ["--jars", "/Volumes/it's mine/$x/listener.jar"]], ids=["fetched", "copied"])
def test_shellcheck_has_nothing_to_say_of_the_init_script(jars, tools, tmp_path):
    """Whether it fetches the jar or copies it."""
    written("databricks", DATAWAY, *jars, "-o", tmp_path / "cluster.json")

    script = (tmp_path / "cluster.openlineage.init.sh").read_text("utf-8")

    assert by([tools.scripts / "shellcheck", *WARNINGS, "-"], script) == (0, "")


@pytest.mark.parametrize("form", ["emr", "emr-serverless", "glue", "databricks"])
@pytest.mark.parametrize("settings", [DATAWAY, TWO], ids=["one destination", "two destinations"])
def test_the_platforms_own_definitions_take_the_document(form, settings, tools):
    """Every key is known, every value of the right type; and they do look."""
    text = written(form, settings).out

    assert by([tools.python, PLATFORMS, form], text) == (0, "")
    assert by([tools.python, PLATFORMS, form], _spoilt(form, text))[1]


def _spoilt(form, text):
    """Give a document that the platform would not take."""
    if form == "glue":
        return json.dumps({**json.loads(text), "--user-jars-first": True})
    old = {"emr": "Properties", "emr-serverless": "properties", "databricks": "spark_conf"}[form]
    return text.replace(f'"{old}"', f'"{old}s"')
