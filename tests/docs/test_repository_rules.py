"""Rules that hold for every file of the repository."""

from __future__ import annotations

import ast
import re

import pytest
from support.repository import ROOT, code_blocks, pyproject, tracked_files

TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
# Written so that no pattern finds itself.
FORBIDDEN = {
    "a path of somebody's machine": r"(?<![\w.~-])/(?:r[o]ot|w[o]rk|U[s]ers)/[A-Za-z]",
    "a package registry's host": r"p[y]pi\.org|python[h]osted|index-url[ =]+[\"']?http",
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE [K]EY",
}


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_test_says_what_it_shows(path) -> None:
    """Every test function has a docstring of one line."""
    silent = [
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]

    assert not silent


def test_test_files_have_unique_names() -> None:
    """Without packages in tests, two files of one name can't both be imported."""
    names = [path.name for path in TESTS]

    assert sorted(names) == sorted(set(names))


def test_no_file_names_this_machine() -> None:
    """No committed file holds a path of a machine, a registry's host or a private key."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {what}"
        for path in tracked_files()
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if re.search(pattern, line)
    ]

    assert not found


def test_the_readmes_set_up_commands_are_make_targets() -> None:
    """The README's set-up block is ``make demo`` and ``make test``, and both are targets."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^make ([a-z-]+)", code_blocks(readme, "sh")[0], re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert commands == ["demo", "test"]
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in commands)


def test_every_make_target_named_in_the_documentation_exists() -> None:
    """CONTRIBUTING.md names no target that the Makefile lacks."""
    named = set(re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert named <= targets


def test_the_changelog_speaks_of_this_version() -> None:
    """The version of pyproject.toml is released in the changelog, or the changelog has an Unreleased part."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## (?:Unreleased|\[?{re.escape(pyproject()['project']['version'])})", changelog, re.MULTILINE)
