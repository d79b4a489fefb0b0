"""The pins that ``make`` installs are those that pyproject.toml allows."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.repository import ROOT, pyproject

LOCK = ROOT / "requirements" / "dev.txt"
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    """Each dependency, of the servers, of Kafka and of the tools too, has a pin that its bounds contain."""
    pins = _pins()
    wrong = [
        str(requirement)
        for requirement in _requirements()
        if not any(pin in requirement.specifier for pin in pins.get(canonicalize_name(requirement.name), []))
    ]

    assert not wrong, "run `make lock`"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_pin_has_hashes_and_no_host(lock) -> None:
    """The lock holds hashes, so that a registry can't swap a file, and names no registry."""
    text = lock.read_text(encoding="utf-8")

    assert "://" not in text
    assert text.count("==") <= text.count("--hash=sha256:")


def test_dbt_is_pinned_with_what_the_package_needs_beside_it() -> None:
    """The tests' environment of dbt holds the core's dependencies and those of the extra, within their bounds."""
    project, pins = pyproject()["project"], _pins(ROOT / "requirements" / "dbt.txt")
    needed = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["dbt"]])
    wrong = [
        str(requirement)
        for requirement in needed
        if requirement.marker is None
        and not any(pin in requirement.specifier for pin in pins.get(canonicalize_name(requirement.name), []))
    ]

    assert not wrong, "name it in requirements/dbt.in and run `make lock`"


def test_the_metadata_promises_what_pyproject_says() -> None:
    """The installed distribution has its extras, its script and its Python bound."""
    meta = metadata.metadata("truewatch-lineage")

    assert set(pyproject()["project"]["optional-dependencies"]) == set(meta.get_all("Provides-Extra"))
    assert meta["Requires-Python"] == ">=3.10"
    assert meta["License-Expression"] == "Apache-2.0"


def _requirements() -> list[Requirement]:
    project, groups = pyproject()["project"], pyproject()["dependency-groups"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *extras["receiver"], *extras["gateway"], *extras["kafka"]]
    texts += [text for group in groups.values() for text in group if isinstance(text, str)]
    return [Requirement(text) for text in texts]


def _pins(lock: Path = LOCK) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found
