"""Settings inside JSON and YAML: ``openlineage.yml``, Databricks, EMR, Kubernetes, Glue, Dataproc and Livy.

Each platform's shape is looked for anywhere in the tree, since definitions of clusters stand inside those of jobs. The
shapes are those of the platforms' own references (Databricks Clusters API, EMR Configurations, EMR Serverless
StartJobRun, SparkApplication v1beta2, Glue special parameters, Livy REST API, Dataproc Job).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from truewatch_lineage_spark.lint import catalog
from truewatch_lineage_spark.lint.formats import variables
from truewatch_lineage_spark.lint.formats.submit import Follow, Taken, arguments
from truewatch_lineage_spark.lint.formats.tree import Node
from truewatch_lineage_spark.lint.formats.words import OpenQuoteError, Word, commands
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Document, Finding, Platform, Scope, Setting

_YML_NAME: Final = "openlineage"
_YML_KEYS: Final = frozenset({"transport", "facets", "circuitBreaker", "dataset", "metrics", "filter", "columnLineage"})
"""Top-level keys of ``openlineage.yml`` by which it is known under another name."""

_SCALA: Final = re.compile(r"scala(2\.1[0-9])")
_EMR_SCALA: Final = re.compile(r"emr-[567]\.")
_EMR_SECRET: Final = "EMR.secret@"  # noqa: S105 - what stands before a key whose value EMR fetches
_MARKS: Final = re.compile(rf"^(?:{re.escape(_EMR_SECRET)}|spark:)")
"""What stands before a property: EMR's mark, or the file that Dataproc puts it into."""

_EMR_EXPORTS: Final = frozenset({"spark-env", "yarn-env", "hadoop-env", "export"})


@dataclass(frozen=True, slots=True)
class _Found:
    """Settings of one place in the tree."""

    settings: list[Setting]
    platform: Platform = "spark"
    scala: tuple[str, str] | None = None


class Reader:
    """Finds the settings of a file's trees.

    Args:
        file: Its path, for findings.
        follow: Reads a file that ``--properties-file`` names.
        private: Whether only its owner can read the file.
    """

    def __init__(self, file: str, follow: Follow, *, private: bool = False) -> None:
        self._file = file
        self._follow = follow
        self._private = private
        self._taken = Taken()
        self._findings: list[Finding] = []

    def read(self, roots: list[Node]) -> Document:
        """Return what the trees tell Spark."""
        found = [one for root in roots for one in self._root(root) if one.settings]
        scopes = tuple(Scope(tuple(one.settings), one.platform, one.scala, self._private) for one in found)
        findings = [*self._findings, *self._taken.findings]
        if not scopes and not findings:
            message = "Nothing here is known to set Spark or the listener."
            findings.append(catalog.of_file("file.nothing", self._file, 1, message, "Is it the right file?"))
        return Document(self._file, scopes, tuple(findings), tuple(self._taken.notes))

    def _root(self, root: Node) -> Iterator[_Found]:
        names = {key for key, _, _ in root.members or ()}
        by_name = Path(self._file).stem == _YML_NAME
        if (by_name or names & _YML_KEYS) and not any(name.startswith("spark.") for name in names):
            yield _Found(list(self._yml(root, "")))
            return
        yield from self._within(root)

    def _within(self, node: Node) -> Iterator[_Found]:
        """Look for every platform's shape in a node, then below what no shape took."""
        self._duplicates(node)
        found = self._shape(node)
        if found is not None:
            yield found
            return
        for _, _, below in node.members or ():
            yield from self._within(below)
        if node.items and any(one.text == "--conf" for one in node.items):
            yield _Found(self._words(node.items))
            return
        if node.items and all(_classification(one) for one in node.items):
            yield _Found([one for item in node.items for one in self._emr(item)], "emr")
            return
        for below in node.items or ():
            yield from self._within(below)

    def _shape(self, node: Node) -> _Found | None:
        if node.members is None:
            return None
        if node.get("spark_conf", "spark_env_vars"):
            return self._databricks(node)
        if node.get("sparkConf") and node.get("driver", "sparkVersion", "type", "deps"):
            return self._kubernetes(node)
        if (release := node.get("ReleaseLabel", "releaseLabel")) and _EMR_SCALA.match(release.text or ""):
            inner = replace(
                node, members=tuple(m for m in node.members if m[0] not in ("ReleaseLabel", "releaseLabel"))
            )
            settings = [one for found in self._within(inner) for one in found.settings]
            return _Found(settings, "emr", ("2.12", "this release of EMR"))
        if (parameters := node.get("sparkSubmitParameters")) is not None:
            return _Found(self._text(parameters), "emr")
        if (conf := node.get("--conf")) is not None:
            return self._glue(node, conf)
        if any(_property(key) for key, _, _ in node.members):
            return _Found(list(self._conf(node)))
        conf = node.get("conf", "properties")
        if conf is not None and any(_property(key) for key, _, _ in conf.members or ()):
            return _Found([*self._conf(conf), *self._jars(node, "jars", "jarFileUris")])
        return None

    def _databricks(self, node: Node) -> _Found:
        version = node.get("spark_version")
        match = _SCALA.search(version.text or "") if version else None
        settings = [*self._conf(node.get("spark_conf")), *self._env(node.get("spark_env_vars"))]
        settings += self._libraries(node.get("libraries"))
        return _Found(settings, "databricks", (match[1], "spark_version") if match else None)

    def _libraries(self, libraries: Node | None) -> Iterator[Setting]:
        for node in libraries.walk() if libraries else ():
            if node.text is not None and "openlineage-spark" in node.text:
                yield self._one("libraries", node.text, node.line)

    def _kubernetes(self, node: Node) -> _Found:
        version, deps, driver = node.get("sparkVersion"), node.get("deps"), node.get("driver")
        settings = [*self._conf(node.get("sparkConf"))]
        if deps is not None:
            settings += [*self._jars(deps, "jars"), *self._jars(deps, "packages")]
        if driver is not None:
            settings += [*self._env(driver.get("envVars")), *self._pod(driver.get("env"))]
            secrets = driver.get("envSecretKeyRefs")
            for name, line, _ in (secrets.members or ()) if secrets else ():
                settings += variables.settings(name, "", self._file, line, known=False)
        scala = ("2.13", "sparkVersion") if version and (version.text or "").startswith("4.") else None
        return _Found(settings, "kubernetes", scala)

    def _pod(self, env: Node | None) -> Iterator[Setting]:
        for one in (env.items or ()) if env else ():
            name, value = one.get("name"), one.get("value")
            if name is not None and name.text:
                text = value.text if value else ""
                yield from variables.settings(name.text, text or "", self._file, one.line, known=value is not None)

    def _glue(self, node: Node, conf: Node) -> _Found:
        settings = self._text(replace(conf, text=f"--conf {conf.text or ''}"))
        first = node.get("--user-jars-first")
        settings += [self._one("--user-jars-first", first.text or "", first.line)] if first else []
        settings += self._jars(node, "--extra-jars")
        return _Found(settings, "glue")

    def _emr(self, node: Node) -> Iterator[Setting]:
        name = (_classification(node) or Node(1)).text or ""
        properties = node.get("Properties", "properties")
        if name in _EMR_EXPORTS:
            yield from self._env(properties)
        elif name.startswith("spark-defaults"):
            yield from self._conf(properties)
        below = node.get("Configurations", "configurations")
        for one in (below.items or ()) if below else ():
            yield from self._emr(one)

    def _conf(self, node: Node | None) -> Iterator[Setting]:
        for key, line, value in (node.members or ()) if node else ():
            name = _MARKS.sub("", key)
            text = value.text if value.text is not None else ""
            usable = not key.startswith(_EMR_SECRET) and not variables.is_reference(text)
            setting = Setting(name, text, self._file, line, written=name, known=usable)
            if value.text is None:
                message = "A property's value is one text here, not a list or an object."
                self._findings.append(catalog.found("file.broken", setting, message, "Put it in quotes."))
            yield setting

    def _env(self, node: Node | None) -> Iterator[Setting]:
        for key, line, value in (node.members or ()) if node else ():
            yield from variables.settings(key, (value.text or "").strip(), self._file, line)

    def _jars(self, node: Node, *names: str) -> Iterator[Setting]:
        jars = node.get(*names)
        key = "spark.jars.packages" if "packages" in names else "spark.jars"
        if jars is not None:
            paths = [one.text for one in jars.walk() if one.text]
            yield self._one(key, ",".join(paths), jars.line, written=names[0])

    def _yml(self, node: Node, path: str) -> Iterator[Setting]:
        if node.members is not None:
            self._duplicates(node)
            for key, line, value in node.members:
                for one in self._yml(value, f"{path}.{key}" if path else key):
                    yield replace(one, line=line) if value.members is None else one
        elif node.items is not None and any(one.members is not None for one in node.items):
            for number, item in enumerate(node.items):
                name = item.get("name")
                yield from self._yml(item, f"{path}.{name.text if name and name.text else number}")
        elif path:
            text = f"[{';'.join(one.text or '' for one in node.items)}]" if node.items is not None else node.text or ""
            yield Setting(OPENLINEAGE + path, text, self._file, node.line, "yml", path)

    def _words(self, items: tuple[Node, ...]) -> list[Setting]:
        words = [Word(one.line, one.text or "", quoted=True) for one in items]
        return self._arguments(words)

    def _text(self, node: Node) -> list[Setting]:
        try:
            words = [replace(word, line=node.line) for one in commands(node.text or "") for word in one.words]
        except OpenQuoteError:
            message = "A quote in the arguments is not closed."
            self._findings.append(catalog.of_file("file.broken", self._file, node.line, message, "Close it."))
            return []
        return self._arguments(words)

    def _arguments(self, words: list[Word]) -> list[Setting]:
        """Read arguments that the platform, not a shell, hands on."""
        return [replace(one, shown=False) for one in arguments(words, self._file, self._taken, self._follow)]

    def _one(self, key: str, value: str, line: int, *, written: str | None = None) -> Setting:
        return Setting(key, value, self._file, line, written=written)

    def _duplicates(self, node: Node) -> None:
        seen: dict[str, int] = {}
        for key, line, _ in node.members or ():
            if key in seen and not _property(key):
                setting = self._one(key, "", line)
                message = f"The same key stands in line {seen[key]}; most readers take the last."
                self._findings.append(catalog.found("key.duplicate", setting, message, "Leave one of them out."))
            seen[key] = line


def _property(key: str) -> bool:
    return _MARKS.sub("", key).startswith("spark.")


def _classification(node: Node) -> Node | None:
    return node.get("Classification", "classification")
