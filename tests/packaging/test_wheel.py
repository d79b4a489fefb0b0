"""What users get: the wheel, installed without extras into an environment of its own."""

from __future__ import annotations

import pytest
from support.repository import ROOT
from support.wheels import Environment, build_wheel, install, wheel_files

PACKAGES = {
    "truewatch_lineage": ROOT,
    "truewatch_lineage_airflow": ROOT / "airflow_plugin",
    "truewatch_lineage_dbt": ROOT / "dbt_wrapper",
    "dbt_truewatch_lineage": ROOT / "dbt_wrapper",
    "truewatch_lineage_spark": ROOT / "spark_conf",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel once."""
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Environment:
    """Install it once, without extras."""
    return install(wheel, tmp_path_factory.mktemp("venv"))


def test_the_wheel_holds_the_five_packages_and_nothing_else(wheel) -> None:
    """Site-packages gets our five names and the metadata."""
    names = {name.split("/")[0] for name in wheel_files(wheel)}

    assert {name for name in names if not name.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_holds_every_module_and_says_that_it_is_typed(wheel, package) -> None:
    """No module is left out, and type checkers read the annotations."""
    base = PACKAGES[package]
    modules = {path.relative_to(base).as_posix() for path in (base / package).rglob("*.py")}

    assert modules | {f"{package}/py.typed"} <= set(wheel_files(wheel))


def test_the_wheel_holds_every_file_of_the_receivers_page(wheel) -> None:
    """The page is served from the installed package, so none of its files is left out."""
    page = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("truewatch_lineage/receiver/page/**/*.*")}

    assert page
    assert page <= set(wheel_files(wheel))


def test_the_wheel_holds_the_license(wheel) -> None:
    """The licence goes along with the code."""
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel_files(wheel))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_imports_without_extras(environment, package) -> None:
    """Importing needs only the core's dependencies."""
    result = environment.run(environment.python, "-W", "error", "-c", f"import {package}")

    assert result.returncode == 0, result.stderr


def test_the_environment_has_no_extras(environment) -> None:
    """The environment of these tests is what it claims to be."""
    result = environment.run(environment.python, "-c", "import starlette")

    assert "ModuleNotFoundError" in result.stderr


def test_the_transport_imports_without_extras(environment) -> None:
    """The dotted path that users write into their settings leads to a transport."""
    code = (
        "from openlineage.client.transport import Transport; import truewatch_lineage; "
        "assert issubclass(truewatch_lineage.TrueWatchTransport, Transport)"
    )
    result = environment.run(environment.python, "-c", code)

    assert result.returncode == 0, result.stderr


def test_help_works_without_extras(environment) -> None:
    """The command is installed, and its help needs no receiver."""
    result = environment.run(environment.scripts / "truewatch-lineage", "--help")

    assert result.returncode == 0, result.stderr
    assert "Usage: truewatch-lineage" in result.stdout


def test_receive_without_its_extra_says_what_to_install(environment) -> None:
    """A missing extra is named, not shown as a traceback."""
    result = environment.run(environment.scripts / "truewatch-lineage", "receive", "--port", "0")

    assert result.returncode == 2, result.stderr
    assert "truewatch-lineage[receiver]" in result.stderr
    assert "Traceback" not in result.stderr
