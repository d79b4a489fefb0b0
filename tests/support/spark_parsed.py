"""Spark's settings read back from each form by a parser that is not ours: PyYAML, json, shlex, ast."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

_PROPERTY = re.compile(r"((?:\\.|[^=\\])*)=(.*)", re.DOTALL)
_JAVA = re.compile(r"\\(?:u([0-9a-f]{4})|(.))", re.DOTALL)


@dataclass(frozen=True)
class Parsed:
    """What a form says: Spark's properties, and the driver's environment, where a reference stands for each token."""

    properties: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)


def parsed(form: str, text: str) -> Parsed:
    """Read a form back.

    Raises:
        Exception: The form's own parser does not take it.
    """
    return PARSERS[form](text)


def exports(text: str) -> dict[str, str]:
    """Return the variables of the ``export`` lines, in comments or not, as a shell splits them; commands unexecuted."""
    words = [shlex.split(line.lstrip("# "))[1] for line in text.splitlines() if line.lstrip("# ").startswith("export ")]
    return dict(word.split("=", 1) for word in words)


def _properties(text: str) -> Parsed:
    """Read lines as the JDK does where none is continued."""
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    matches = [match for line in lines if (match := _PROPERTY.fullmatch(line))]
    assert len(matches) == len(lines)
    return Parsed({_java(match[1]): _java(match[2]) for match in matches}, exports(text))


def _java(text: str) -> str:
    plain = _JAVA.sub(
        lambda match: (
            chr(int(match[1], 16)) if match[1] else {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(match[2], match[2])
        ),
        text,
    )
    return plain.encode("utf-16", "surrogatepass").decode("utf-16")


def _submit(text: str) -> Parsed:
    words = shlex.split(text, comments=True)
    assert words[0] == "spark-submit"
    conf = dict(value.split("=", 1) for option, value in itertools.pairwise(words) if option == "--conf")
    return Parsed(conf, exports(text))


def _pyspark(text: str) -> Parsed:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    configs = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "config"]
    return Parsed(dict(reversed([tuple(map(ast.literal_eval, call.args)) for call in configs])), exports(text))


def _yml(text: str) -> Parsed:
    besides = [line[1:].strip() for line in text.splitlines() if line.startswith("#   spark.")]
    conf = _properties("\n".join(besides)).properties
    return Parsed(
        conf | {f"spark.openlineage.{path}": leaf for path, leaf in _leaves(yaml.safe_load(text))}, exports(text)
    )


def _leaves(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{path}", leaf) for path, leaf in _leaves(value))
        else:
            yield key, value


def _k8s(text: str) -> Parsed:
    spec = yaml.safe_load(text)["spec"]
    environment = {
        one["name"]: one["value"].replace("$$(", "$(")
        if "value" in one
        else _reference(one["valueFrom"]["secretKeyRef"])
        for one in spec.get("driver", {}).get("env", [])
    }
    return Parsed(spec["sparkConf"], environment)


def _reference(found: Mapping[str, str]) -> str:
    return f"{found['name']}:{found['key']}"


def _k8s_conf(text: str) -> Parsed:
    conf = _submit(text).properties
    marks = ("spark.kubernetes.driverEnv.", "spark.kubernetes.driver.secretKeyRef.")
    environment = {
        key.removeprefix(mark): value.replace("$$(", "$(")
        for mark in marks
        for key, value in conf.items()
        if key.startswith(mark)
    }
    return Parsed({key: value for key, value in conf.items() if not key.startswith(marks)}, environment)


def _databricks(text: str) -> Parsed:
    return Parsed(json.loads(text)["spark_conf"])


def _emr(text: str) -> Parsed:
    (found,) = [one for one in json.loads(text) if one["Classification"] == "spark-defaults"]
    return Parsed(found["Properties"])


def _emr_serverless(text: str) -> Parsed:
    tree = json.loads(text)["applicationConfiguration"]
    (found,) = [one for one in tree if one["classification"] == "spark-defaults"]
    return Parsed(found["properties"])


def _glue(text: str) -> Parsed:
    return Parsed(dict(part.split("=", 1) for part in json.loads(text)["--conf"].split(" --conf ")))


def _dataproc(text: str) -> Parsed:
    (option,) = [word for word in shlex.split(text, comments=True) if word.startswith("--properties=")]
    _, delimiter, rest = option.removeprefix("--properties=").split("^", 2)
    lines = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith(("#   echo", "#   printf"))]
    written = [shlex.split(line)[1].removeprefix("export ").removesuffix("\\n") for line in lines]
    environment = {name: shlex.split(value)[0] for name, value in (line.split("=", 1) for line in written)}
    return Parsed(dict(part.split("=", 1) for part in rest.split(delimiter)), environment)


def _livy(text: str) -> Parsed:
    return Parsed(json.loads(text)["conf"])


def _airflow(text: str) -> Parsed:
    (call,) = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    return Parsed(given["conf"], given.get("env_vars", {}))


PARSERS: Mapping[str, Callable[[str], Parsed]] = {
    "properties": _properties,
    "submit": _submit,
    "pyspark": _pyspark,
    "yml": _yml,
    "k8s": _k8s,
    "k8s-conf": _k8s_conf,
    "databricks": _databricks,
    "emr": _emr,
    "emr-serverless": _emr_serverless,
    "glue": _glue,
    "dataproc": _dataproc,
    "livy": _livy,
    "airflow": _airflow,
}
"""How each form is read, by the name that ``--format`` has for it."""
