"""The shell's lines that bring a token in, run by bash: what the driver's environment then holds is JSON."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from support import cli
from support.private import write_private

TOKEN = "123e4_tkn-%s$HOME`'~"
HOLDS = {
    "bearer": ("AUTH__API_KEY", TOKEN),
    "x_token": ("HEADERS", {"X-Token": TOKEN}),
    "query": ("URL_PARAMS", {"token": TOKEN}),
}

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def environment(script, **variables):
    """Run a script in bash and return the variables of the listener that it leaves."""
    env = {"PATH": "/usr/bin:/bin", **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run(
        ["bash", "-euc", f"{script}\nenv -0"], env=env, capture_output=True, text=True, timeout=30, check=True
    )
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    return {name.removeprefix("OPENLINEAGE__TRANSPORT__"): value for name, value in found.items() if "LINEAGE" in name}


def commented(form, env, starts):
    """Return the lines of a form's comments that start so."""
    out = cli.run("spark", "conf", "--format", form, env=env).out
    begins = tuple(f"#   {one}" for one in starts)
    return [line.removeprefix("#   ") for line in out.splitlines() if line.startswith(begins)]


@pytest.mark.parametrize(("method", "expected"), HOLDS.items(), ids=HOLDS)
@pytest.mark.parametrize("source", ["token_file", "token_env"])
def test_exports_make_json_of_the_token(source, method, expected, tmp_path):
    """From a file whose name a shell would split, or from a variable; whatever the token holds."""
    file = write_private(tmp_path / "it's a file", TOKEN + "\n")
    env = {
        "url": "https://x.example",
        "auth_method": method,
        "allow_query_token": "true",
        source: file if source == "token_file" else "MY_TOKEN",
    }

    found = environment("\n".join(commented("properties", env, ["export"])), MY_TOKEN=TOKEN)

    name, value = expected
    assert json.loads(found[name]) == value
    assert found["TYPE"] == "http"


def test_dataprocs_action_writes_what_spark_env_reads(tmp_path):
    """With Google's command stood in for."""
    gcloud = tmp_path / "gcloud"
    gcloud.write_text(f"#!/bin/sh\ncat <<'END'\n{TOKEN.replace(chr(39), '')}\nEND\n")
    gcloud.chmod(0o700)
    target = tmp_path / "spark-env.sh"
    lines = commented("dataproc", {"url": "https://x.example"}, ["echo", "printf"])
    script = "\n".join(lines).replace("/etc/spark/conf/spark-env.sh", str(target))

    found = environment(f"PATH={tmp_path}:$PATH\n{script}\n. {target}")

    assert json.loads(found["AUTH__API_KEY"]) == TOKEN.replace("'", "")
    assert found["AUTH__TYPE"] == "api_key"
