"""What ``spark conf`` writes is clean to ``spark check``, in every form."""

from __future__ import annotations

import pytest
from support import cli

from truewatch_lineage_spark.flavours import FLAVOURS
from truewatch_lineage_spark.lint import report, rules, sources

DATAWAY = 'url = "https://openway.truewatch.com"\ntoken_env = "MY_TOKEN"\n'
PORTAL = 'destination = "portal"\nurl = "https://portal.example.com"\ntoken_env = "MY_TOKEN"\n'
DESTINATIONS = {
    "dataway": DATAWAY,
    "by X-Token": f'{DATAWAY}auth_method = "x_token"\n',
    "datakit": 'destination = "datakit"\n',
    "portal": PORTAL,
    "a gateway": 'destination = "openlineage"\nurl = "https://gateway.example.com/lineage"\ntoken_env = "MY_TOKEN"\n',
    "two at once": f"[destinations.one]\n{DATAWAY}[destinations.two]\n{PORTAL}",
}
JAR = "s3://bucket/openlineage-spark_2.12-1.53.0.jar"


@pytest.mark.parametrize("profile", ["full", "lean"])
@pytest.mark.parametrize("destination", DESTINATIONS.values(), ids=DESTINATIONS)
@pytest.mark.parametrize("form", FLAVOURS)
def test_what_spark_conf_writes_is_clean(tmp_path, form, destination, profile) -> None:
    """Its format is seen by its looks, its settings are found, and nothing is said of them."""
    (tmp_path / "config.toml").write_text(destination)
    jars = ("--jars", JAR) if form == "glue" else ()
    options = ("--format", form, "--profile", profile, *jars)
    ran = cli.run("spark", "conf", *options, env={"config": tmp_path / "config.toml"})
    assert ran.code == 0, ran.err
    (tmp_path / "written").write_text(ran.out)
    document = sources.read(str(tmp_path / "written"))
    assert any(one.rest for scope in document.scopes for one in scope.settings)
    assert list(report.lines(rules.check([document]))) == []
