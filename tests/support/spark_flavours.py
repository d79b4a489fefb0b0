"""Spark's settings in each form that Spark itself reads, written by the command and used as the form's comments say.

    text = written("submit", spark, {"url": receiver.url, "token_file": file})
    ran = FLAVOURS["submit"](Scene(spark, home), text)

Nothing but what is printed tells Spark anything: variables come from the printed ``export`` lines, run by bash.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from support import cli
from support.spark import AS_LOCAL, HARBOUR, Ran, Spark

_EXPORT = re.compile(r"^(?:#|\s)*(export OPENLINEAGE\w*=.*)$", re.MULTILINE)
_PROPERTY = re.compile(r"^#\s+(spark\.[\w.]+=.*)$", re.MULTILINE)
_SECRET = re.compile(r"--from-file=([\w-]+)=<\((printf .*?)\)(?= --from-file=|$)", re.MULTILINE)


def written(form: str, spark: Spark, settings: Mapping[str, object], *options: object) -> str:
    """Return what ``truewatch-lineage spark conf`` prints.

    Args:
        form: Its ``--format``.
        spark: For which Spark.
        settings: The destination's settings.
        options: More options.

    Raises:
        AssertionError: It refused; with what it said.
    """
    ran = cli.run(
        "spark", "conf", "--format", form, "--spark", spark.version, "--jars", spark.jar, *options, env=settings
    )
    assert ran.code == 0, ran.err
    return ran.out


def exported(text: str) -> dict[str, str]:
    """Return the variables that a form's ``export`` lines set, as bash sets them."""
    return _variables("\n".join(_EXPORT.findall(text)))


@dataclass(frozen=True)
class Scene:
    """Where a job runs.

    Attributes:
        spark: Which Spark.
        home: Its folder.
        base: The ``spark-defaults.conf`` that is there already.
        verbose: Whether Spark is to print its settings.
    """

    spark: Spark
    home: Path
    base: str = AS_LOCAL
    verbose: bool = False

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``spark-submit`` that have nothing to do with lineage."""
        return ["--verbose"] if self.verbose else []


def by_properties(scene: Scene, text: str) -> Ran:
    """Run with a ``spark-defaults.conf``, which was written on the base of the one that is there."""
    env = exported(text)
    return scene.spark.submit(HARBOUR, home=scene.home, properties=text, arguments=scene.arguments, env=env)


def by_submit(scene: Scene, text: str) -> Ran:
    """Run the command in bash, with this job in the place of yours."""
    return _shell(scene, text, exported(text))


def by_pyspark(scene: Scene, text: str) -> Ran:
    """Run the code, and the job on its session."""
    env = {**exported(text), "PYSPARK_SUBMIT_ARGS": " ".join([*scene.arguments, "pyspark-shell"])}
    return scene.spark.python(program(text, scene.home), home=scene.home, properties=scene.base, env=env)


def by_yml(scene: Scene, text: str) -> Ran:
    """Run with ``openlineage.yml`` in the working folder, and what the comments say that Spark must be told besides."""
    (scene.home / "openlineage.yml").write_text(text, encoding="utf-8")
    properties = scene.base + "".join(f"{line}\n" for line in _PROPERTY.findall(text))
    env = exported(text)
    return scene.spark.submit(HARBOUR, home=scene.home, properties=properties, arguments=scene.arguments, env=env)


def by_k8s_conf(scene: Scene, text: str) -> Ran:
    """Run the command without a cluster: what it would put into the driver's pod is put into our environment."""
    words = shlex.split(text, comments=True)
    conf = dict(word.split("=", 1) for before, word in itertools.pairwise(words) if before == "--conf")
    secrets = dict(_SECRET.findall(text))
    env = {}
    for key, value in conf.items():
        if name := _after(key, "spark.kubernetes.driverEnv."):
            env[name] = value.replace("$$(", "$(")
        if name := _after(key, "spark.kubernetes.driver.secretKeyRef."):
            env[name] = _variables(f'export X="$({secrets[value.partition(":")[2]]})"')["X"]
    command = re.sub(r"--(?:master|deploy-mode) \S+ \\\n", "\\\n", text)
    return _shell(scene, re.sub(r"local:///\S+\.py", "your_job.py", command), env)


def by_airflow(scene: Scene, text: str) -> Ran:
    """Run as ``SparkSubmitHook`` does in client mode: ``conf`` as arguments, ``env_vars`` in the environment."""
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    given = {"env_vars": {}} | {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg}
    password = (scene.home / "token").read_text("utf-8")
    env = {name: re.sub(r"\{\{ conn\.\w+\.password \}\}", password, value) for name, value in given["env_vars"].items()}
    conf = [part for key, value in given["conf"].items() for part in ("--conf", f"{key}={value}")]
    arguments = [*scene.arguments, *conf]
    return scene.spark.submit(HARBOUR, home=scene.home, properties=scene.base, arguments=arguments, env=env)


def program(text: str, home: Path) -> Path:
    """Write a program that makes the session ``spark`` by ``text`` and runs the job on it."""
    path = home / "program.py"
    lines = ["import sys", f"sys.path.insert(0, {str(HARBOUR.parent)!r})", "import harbour", text]
    path.write_text("\n".join([*lines, "harbour.main(spark)", "spark.stop()", ""]), encoding="utf-8")
    return path


FLAVOURS: Mapping[str, Callable[[Scene, str], Ran]] = {
    "properties": by_properties,
    "submit": by_submit,
    "pyspark": by_pyspark,
    "yml": by_yml,
    "k8s-conf": by_k8s_conf,
    "airflow": by_airflow,
}
"""Runs the job with a form's text."""


def _shell(scene: Scene, text: str, env: Mapping[str, str]) -> Ran:
    """Run a printed command in bash."""
    script = text.replace("your_job.py", " ".join([*scene.arguments, shlex.quote(str(HARBOUR))]))
    return scene.spark.run(["bash", "-euc", script], home=scene.home, properties=scene.base, env=env)


def _variables(script: str) -> dict[str, str]:
    """Return what a script exports."""
    done = subprocess.run(
        ["bash", "-euc", f"{script}\nenv -0"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    return {name: value for name, value in found.items() if name not in {"PATH", "PWD", "SHLVL", "_"}}


def _after(text: str, prefix: str) -> str:
    return text.removeprefix(prefix) if text.startswith(prefix) else ""
