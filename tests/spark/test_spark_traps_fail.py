"""What the linter warns of really fails so in Spark: each trap of its table that Spark shows, run as a job."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import yaml
from support.requests_log import RecordingReceiver, Seen
from support.spark import AS_LOCAL, TESTS, environment
from tables.spark_traps import TOKEN, TRAPS

from truewatch_lineage_spark.versions import LISTENER

CASES = TESTS / "inside" / "cases.py"
CASE = "X-Case"
CHILD = "spark.openlineage.transport.transports.a"
ARRIVES = "/v1/write/openlineage"
DEFAULT = "/api/v1/lineage"
NULL = ("Bearer null",)
HOSTS = ("https://openway.truewatch.com", "https://lineage.example.com")

pytestmark = pytest.mark.timeout(900)  # a first run downloads and makes the environment


@dataclass
class Came:
    """What a trap came to.

    Attributes:
        died: What the job died of, or None.
        seen: Its requests.
    """

    died: str | None
    seen: list[Seen] = field(default_factory=list)

    @property
    def paths(self) -> set[str]:
        """The paths it sent to."""
        return {one.path for one in self.seen}

    @property
    def credentials(self) -> set[tuple[str, ...]]:
        """The Authorization headers of its requests."""
        return {tuple(one.all("authorization")) for one in self.seen}

    @property
    def namespaces(self) -> set[str]:
        """The namespaces of its jobs."""
        return {one.event["job"]["namespace"] for one in self.seen}


def nothing(came: Came) -> bool:
    """Tell whether the job ran and no event was sent."""
    return came.died is None and not came.seen


def killed(came: Came) -> bool:
    """Tell whether the job died."""
    return came.died is not None


def sent_to(path: str) -> Callable[[Came], bool]:
    """Tell whether all was sent to ``path``, without a query."""
    return lambda came: came.paths == {path} and {one.query for one in came.seen} == {""}


def authorized(*values: str) -> Callable[[Came], bool]:
    """Tell whether each request had these Authorization headers."""
    return lambda came: {tuple(sorted(one)) for one in came.credentials} == {tuple(sorted(values))}


def named(namespace: str) -> Callable[[Came], bool]:
    """Tell whether jobs are in ``namespace``."""
    return lambda came: came.namespaces == {namespace}


FAILURES: dict[str, Callable[[Came], bool]] = {
    "no type": nothing,
    "an unknown type": nothing,
    "no url": nothing,
    "a path in url": sent_to(DEFAULT),
    "a query in url": sent_to(ARRIVES),
    "a query in endpoint": sent_to(f"{ARRIVES}?x=1"),
    "no endpoint": sent_to(DEFAULT),
    "a compression that is none": nothing,
    "a timeout that is ignored": sent_to(ARRIVES),
    "a timeout with its unit": nothing,
    "no transports in a composite": nothing,
    "no type in a composite": nothing,
    "no url in a composite": nothing,
    "a lone slash beside an endpoint in a composite": nothing,
    "an unknown key in a composite": nothing,
    "capitals of gzip in a composite": nothing,
    "kafka without its client": killed,
    "auth.type in camelCase": nothing,
    "no auth.type": nothing,
    "auth.api_key": authorized(*NULL),
    "a blank key": authorized(*NULL),
    "a type whose key is in the environment": authorized(*NULL),
    "api_key in openlineage.yml": authorized(*NULL),
    "an Authorization header beside auth": authorized("Bearer {{secrets/a/b}}", "{{secrets/a/c}}"),
    "X-Token beside auth": lambda came: all(one.all("x-token") and one.all("authorization") for one in came.seen),
    "a list of facets": sent_to(ARRIVES),
    "a text in brackets": nothing,
    "a list without brackets": nothing,
    "yes for true": nothing,
    "${env:X}": named("${env:NS}"),
    "a comment behind a value": named("x # the namespace"),
    "quotes": named('"x"'),
    "a key twice": named("b"),
    "an unknown circuit breaker": nothing,
    "a circuit breaker without a type": nothing,
    "a captured token": lambda came: any(TOKEN in one.text for one in came.seen),
    "no listener": nothing,
    "another listener": killed,
    "a listener that does not exist": killed,
    "a listener that is off": nothing,
}
"""What Spark does with a trap of the linter's table."""

FROM_ENVIRONMENT: dict[str, Callable[[Came], bool]] = {
    "Python's spelling": authorized(*NULL),
    "a value that is JSON at its beginning": named("123"),
    "a token's variable alone": authorized(),
    "variables without the transport's type": authorized(),
}
"""The same of variables, which need a JVM each; where they are not whole all of them are dropped, the token too."""

CAPTURED_TOO = {
    "spark.openlineage.transport.auth.type": "api_key",
    "spark.openlineage.transport.auth.apiKey": TOKEN,
}


@pytest.fixture(scope="module", params=["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def came(request, tmp_path_factory):
    """Give what each trap came to, all run in one JVM."""
    home = tmp_path_factory.mktemp("traps")
    with RecordingReceiver() as receiver:
        yield run(environment(request.param), home, receiver, {name: case_of(name, receiver) for name in FAILURES})


@pytest.mark.parametrize("name", FAILURES)
def test_a_trap_fails_as_the_linter_says(came, name):
    """The linter's finding of the same text is tested beside its table."""
    assert FAILURES[name](came[name]), came[name]


@pytest.mark.parametrize("name", FROM_ENVIRONMENT)
@pytest.mark.parametrize("version", ["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def test_a_variable_fails_as_the_linter_says(version, name, tmp_path):
    """With all that the trap does not name in the properties."""
    words = shlex.split(TRAPS[name].text.replace("$TOKEN", TOKEN).replace("$T", TOKEN))
    variables = dict(word.split("=", 1) for word in words if "=" in word)
    with RecordingReceiver() as receiver:
        conf = {
            "spark.extraListeners": LISTENER,
            "spark.openlineage.transport.type": "http",
            "spark.openlineage.transport.url": receiver.url,
            "spark.openlineage.transport.endpoint": ARRIVES,
            f"spark.openlineage.transport.headers.{CASE}": name,
        }
        found = run(environment(version), tmp_path, receiver, {name: {"conf": conf}}, env=variables)

    assert FROM_ENVIRONMENT[name](found[name]), found[name]


@pytest.mark.parametrize("version", ["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def test_a_jar_for_another_scala_kills_the_job(version, tmp_path):
    """As the linter says of two jars, and the generator refuses."""
    spark = environment(version)
    other = environment({"3.5": "4.0", "4.0": "3.5"}[version]).jar
    with RecordingReceiver() as receiver:
        case = case_of("quotes", receiver)
        found = run(dataclasses.replace(spark, jar=other), tmp_path, receiver, {"quotes": case})

    assert killed(found["quotes"])
    assert "NoSuchMethodError" in (tmp_path / "driver.log").read_text("utf-8")


def case_of(name, receiver):
    """Return a trap as a job's settings, sent to the receiver, each request with the trap's name."""
    trap = TRAPS[name]
    text = trap.text
    for host in HOSTS:
        text = text.replace(host, receiver.url)
    if trap.name.endswith(".yml"):
        tree = yaml.safe_load(text)
        tree["transport"]["headers"] = {CASE: name}
        return {"conf": {"spark.extraListeners": LISTENER}, "yml": yaml.safe_dump(tree)}
    if trap.name.endswith(".json"):
        conf = json.loads(text)["new_cluster"]["spark_conf"] | {"spark.extraListeners": LISTENER}
    else:
        conf = dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#") and "=" in line)
        conf = {key: value.strip() for key, value in conf.items()}
    if name == "a captured token":
        conf |= CAPTURED_TOO
    header = "spark.openlineage.transport.headers." if "transports" not in text else f"{CHILD}.headers."
    return {"conf": conf | {f"{header}{CASE}": name}}


def run(spark, home, receiver, cases, env=None):
    """Run the cases and return what each came to."""
    (home / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    ran = spark.python(
        CASES,
        home / "cases.json",
        home=home,
        properties=f"{AS_LOCAL}spark.driver.extraClassPath={spark.jar}\n",
        env=env or {"OPENLINEAGE_CONFIG": str(home / "openlineage.yml")},
    )
    (home / "driver.log").write_text(ran.log, encoding="utf-8")
    assert ran.code == 0, ran.log
    died = json.loads((home / "cases.out").read_text("utf-8"))
    found = {name: Came(problem) for name, problem in died.items()}
    for one in receiver.seen():
        found[one.all(CASE.lower())[0]].seen.append(one)
    return found
