"""Every trap is found on its line, with its severity and its fix; what only resembles one is not."""

from __future__ import annotations

import pytest
from tables.spark_traps import (
    BASE,
    CHILD,
    COMPOSITE,
    ENDPOINT,
    LISTENER,
    MASKED,
    OL,
    TOKEN,
    TRAPS,
    TYPE,
    URL,
    YML,
    conf,
)

from truewatch_lineage_spark.lint import catalog, report, rules, sources


def found(folder, name, text, mode=0o644):
    """Return the findings of one file."""
    file = folder / name
    file.write_text(text)
    file.chmod(mode)
    return rules.check([sources.read(str(file))])


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_trap_is_found_on_its_line_with_its_fix(tmp_path, trap) -> None:
    """One finding has the line, the severity and the fix, and nothing else is said."""
    findings = found(tmp_path, trap.name, trap.text, trap.mode)
    (own,) = (one for one in findings if one.rule == trap.rule)
    assert (own.line, own.severity, own.file) == (trap.line, trap.severity, str(tmp_path / trap.name))
    assert trap.fix in own.fix
    assert {one.rule for one in findings} == {trap.rule, *trap.also}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_no_finding_shows_a_value(tmp_path, trap) -> None:
    """Not even one in the wrong place."""
    text = trap.text.replace("=x", "=hidden-word").replace("=a", "=hidden-word")
    told = "\n".join(report.lines(found(tmp_path, trap.name, text)))
    assert "hidden-word" not in told
    assert TOKEN not in told
    assert "abcdef" not in told


def test_every_rule_has_a_trap() -> None:
    """A rule that no file breaks is none; files that can't be read are tested by the command."""
    assert {trap.rule for trap in TRAPS.values()} == set(catalog.RULES) - {"file.unreadable"}


BOTH_SPELLINGS = """
export OPENLINEAGE__TRANSPORT__TYPE=http OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key
export OPENLINEAGE__TRANSPORT__AUTH__API_KEY="$(cat /t)"
export OPENLINEAGE__TRANSPORT__AUTH__APIKEY="$(cat /t)"
"""
WHOLE = """OPENLINEAGE__TRANSPORT='{"type":"http","url":"http://localhost:8080",
"auth":{"type":"api_key","apiKey":"{{secrets/a/b}}"}}'
"""
K8S = """
spec:
  sparkVersion: "4.0.0"
  deps: {packages: ["io.openlineage:openlineage-spark_2.13:1.53.0"]}
  sparkConf:
    spark.extraListeners: io.openlineage.spark.agent.OpenLineageSparkListener
    spark.openlineage.transport.type: http
    spark.openlineage.transport.url: http://datakit.monitoring.svc:9529
    spark.openlineage.transport.endpoint: /openlineage/api/v1/lineage
"""
NEAR_MISSES = {
    "all is well": ("a.conf", conf()),
    "no lineage at all": ("a.conf", "spark.app.name x\nspark.executor.memory 2g\n"),
    "a lone slash in url": ("a.conf", conf(f"{URL}/", without=(URL,))),
    "blanks around": ("a.conf", "\n".join(f"  {line.replace('=', ' : ', 1)}" for line in BASE)),
    "a value over two lines": ("a.conf", conf("spark.openlineage.name\\\n  space=x")),
    "a # inside a word": ("a.conf", conf(f"{OL}.namespace=team#1")),
    "an escaped backslash": ("a.conf", conf(rf"{OL}.dataset.removePath.pattern=(.*)\\d")),
    "facets by name": (
        "a.conf",
        conf(f"{OL}.facets.spark.logicalPlan.disabled=false", f"{OL}.facets.gc.disabled=true"),
    ),
    "lists": ("a.conf", conf(f"{OL}.filter.deniedSparkNodes=[a;b]", f"{OL}.job.tags=a:b;c", f"{OL}.run.tags=[a:b]")),
    "breakers": ("a.conf", conf(f"{OL}.circuitBreaker.type=asyncTaskQueue", f"{OL}.circuitBreaker.queueSize=5")),
    "another endpoint's default": ("a.conf", conf(f"{OL}.transport.url=https://marquez:5000", without=(URL, ENDPOINT))),
    "a custom provider": (
        "a.conf",
        conf(f"{OL}.transport.auth.type=com.example.Provider", f"{OL}.transport.auth.path=x"),
    ),
    "a transport of another jar": (
        "a.conf",
        conf(f"{OL}.transport.type=gcplineage", f"{OL}.transport.mode=x", base=(LISTENER,)),
    ),
    "compression in capitals": ("a.conf", conf(f"{OL}.transport.compression=GZIP")),
    "two transports": ("a.conf", conf(*CHILD, f"{OL}.transport.continueOnFailure=true", base=COMPOSITE)),
    "dotted headers": ("a.conf", conf(f"{OL}.transport.headers.x.y=1")),
    "names that sound secret": (
        "a.conf",
        conf(f"{OL}.job.owners.token=team", f"{OL}.capturedProperties=spark.my.token"),
    ),
    "the same line twice": ("a.conf", conf(f"{OL}.namespace=a", f"{OL}.namespace=a")),
    "a wider redaction": ("a.conf", conf(f"{MASKED[0]}|mine")),
    "Spark's own redaction": ("a.conf", conf("spark.redaction.regex=(?i)secret|password|token|access[.]?key")),
    "other listeners beside": ("a.conf", conf(f"{LISTENER},a.B", without=(LISTENER,))),
    "jars for one Scala": (
        "a.conf",
        conf("spark.jars=/x/openlineage-spark_2.12-1.53.0.jar,/x/delta-spark_2.12-3.2.0.jar"),
    ),
    "http without a token": (
        "a.conf",
        conf(
            f"{OL}.transport.url=http://datakit:9529",
            f"{OL}.transport.endpoint=/openlineage/api/v1/lineage",
            without=(URL, ENDPOINT),
        ),
    ),
    "http on this machine": ("v.env", WHOLE),
    "yml": ("openlineage.yml", YML),
    "yml with the token elsewhere": (
        "openlineage.yml",
        f"{YML}  compression: gzip\nfacets:\n  gc: {{disabled: true}}\n",
    ),
    "two transports in yml": (
        "openlineage.yml",
        "transport:\n  type: composite\n  transports:\n    - {type: http, url: 'https://a/b'}\n    - {type: console}\n",
    ),
    "both spellings": ("v.env", BOTH_SPELLINGS),
    "Python's names beside Java's": ("v.env", "OPENLINEAGE_URL=https://x\nOPENLINEAGE__TRANSPORT__TYPE=http\n"),
    "digits": (
        "v.env",
        "OPENLINEAGE__NAMESPACE=123\nOPENLINEAGE__JOB__NAME=123abc\nOPENLINEAGE__JOB__NAMESPACE='\"1 a\"'\n",
    ),
    "a token's file": (
        "v.env",
        "TRUEWATCH_LINEAGE_TOKEN_FILE=/etc/truewatch/token\nMY_TOKEN=of-something-else-entirely\n",
    ),
    "set -a": ("s.sh", f"set -a\nOPENLINEAGE__NAMESPACE=x\nset +a\nspark-submit --conf {LISTENER} job.py\n"),
    "exported later": (
        "s.sh",
        f"OPENLINEAGE__NAMESPACE=x\nexport OPENLINEAGE__NAMESPACE\nspark-submit --conf {LISTENER} job.py\n",
    ),
    "for one command": ("s.sh", f"OPENLINEAGE__NAMESPACE=x spark-submit --conf {LISTENER} job.py\n"),
    "a quoted list": (
        "s.sh",
        f"spark-submit --conf {LISTENER} --conf '{OL}.filter.deniedSparkNodes=[a;b]' job.py --conf x\n",
    ),
    "Kubernetes": ("job.yaml", K8S),
    "a type in a comment": ("a.conf", conf(f"#{OL}.transport.auth.type=apiKey", f"! {TYPE}x")),
}


@pytest.mark.parametrize(("name", "text"), NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_what_only_resembles_a_trap_is_not_reported(tmp_path, name, text) -> None:
    """Nothing is said of settings that do what they ask for."""
    assert list(report.lines(found(tmp_path, name, text))) == []
