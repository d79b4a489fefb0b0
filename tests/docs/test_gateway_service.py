"""examples/gateway: the systemd unit, the container file and the settings, each by a parser of its kind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess

import pytest
from dockerfile_parse import DockerfileParser
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.cli import run
from support.options import parsed
from support.repository import ROOT, code_blocks, pyproject

from truewatch_lineage.cli import EXIT_USAGE
from truewatch_lineage.cli.courier import command as courier
from truewatch_lineage.cli.gateway import command
from truewatch_lineage.config import load

FOLDER = ROOT / "examples" / "gateway"
UNIT = "truewatch-lineage-gateway.service"
COURIER = "truewatch-lineage-courier.service"
PAGE = (ROOT / "docs" / "gateway-deployment.md").read_text(encoding="utf-8")
EXTRAS = ["gateway", "kafka", "speed"]
PROGRAM = "/opt/truewatch-lineage/bin/truewatch-lineage"


def _unit(name, folder=FOLDER / "systemd"):
    """Read a unit as systemd does: sections of assignments that may be repeated, with continued lines."""
    text = (folder / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found, section = {}, None
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = found.setdefault(heading[1], {})
            continue
        key, equals, value = line.partition("=")
        assert equals, f"no assignment: {line}"
        section.setdefault(key, []).append(value)
    return found


def _seconds(text):
    return float(text.removesuffix("s"))


def _settings():
    return load(environ={"TRUEWATCH_LINEAGE_CONFIG": str(FOLDER / "gateway.toml")})


def _options(line, of=command):
    program, name, *args = shlex.split(line)
    assert (program, name) == (PROGRAM, of.name)
    return parsed(of, args)


def _make_courier(folder):
    """Make the second unit as the page says, but in ``folder``, of the first one that is there."""
    (line,) = re.findall(r"^sed -e .*?\\\n.*? > \S+", "\n".join(code_blocks(PAGE, "sh")), re.MULTILINE)
    assert line.endswith(f" > /etc/systemd/system/{COURIER}")
    subprocess.run(["sh", "-ec", line.replace("/etc/systemd/system/", "")], cwd=folder, timeout=30, check=True)


def test_the_unit_runs_a_gateway_that_may_drain() -> None:
    """Its command parses, its settings are the example's, and systemd waits for longer than a drain takes."""
    service = _unit(UNIT)["Service"]
    (line,) = service["ExecStart"]
    settings = _settings()

    assert _options(line)["host"] == "127.0.0.1"
    assert service["Environment"] == ["TRUEWATCH_LINEAGE_CONFIG=/etc/truewatch-lineage/gateway.toml"]
    assert _seconds(service["TimeoutStopSec"][0]) > settings.exit_budget
    assert service["SuccessExitStatus"] == ["75"]
    assert str(settings.spool_dir).startswith(f"/var/lib/{service['StateDirectory'][0]}/")


def test_the_unit_starts_again_but_where_a_start_mends_nothing(tmp_path) -> None:
    """After a gateway that refuses its settings, or its spool, it stays down instead of starting for ever."""
    service = _unit(UNIT)["Service"]
    file = tmp_path / "spool"
    file.touch()
    right = {"destination": "openlineage", "url": "http://127.0.0.1:9", "spool_dir": file}
    refused = [run("gateway", "--port", "0", env=right | wrong) for wrong in ({}, {"concurrency": "many"})]

    assert service["Restart"] == ["always"]
    assert service["RestartPreventExitStatus"] == [str(EXIT_USAGE)]
    for one, about in zip(refused, (str(file), "concurrency"), strict=True):
        assert one.code == EXIT_USAGE
        assert about.lower() in one.err.lower()


def test_the_drop_in_opens_the_gateway_by_tls_and_a_token_of_its_own() -> None:
    """It replaces the command, and names only options that exist."""
    cleared, line = _unit("network.conf")["Service"]["ExecStart"]
    options = _options(line)

    assert not cleared
    assert options["host"] == "0.0.0.0"
    assert options["token_files"]
    assert options["tls_cert"]
    assert options["tls_key"]


def test_the_couriers_unit_is_the_gateways_with_another_command(tmp_path) -> None:
    """By the command that the page shows; the settings take ``delivery``, which the drop-in's command obeys as well."""
    shutil.copy(FOLDER / "systemd" / UNIT, tmp_path)
    _make_courier(tmp_path)
    first, second = _unit(UNIT), _unit(COURIER, tmp_path)
    path = tmp_path / "gateway.toml"
    path.write_text('delivery = "spool"\n' + (FOLDER / "gateway.toml").read_text(encoding="utf-8"))
    settings = load(environ={"TRUEWATCH_LINEAGE_CONFIG": str(path)})

    assert _options(*second["Service"].pop("ExecStart"), courier)["metrics_port"]
    assert first["Service"].pop("ExecStart")
    assert second["Unit"].pop("Description") != first["Unit"].pop("Description")
    assert second == first
    assert (settings.delivery, settings.notices) == ("spool", ())


def test_systemd_takes_units_and_drop_in(tmp_path) -> None:
    """Without a word, where there is a systemd to ask; its own parser knows every key."""
    systemd = shutil.which("systemd-analyze")
    if not systemd and os.environ.get("NO_SKIPS"):
        return  # a machine for CI has none, and the tests above read the files
    if not systemd:
        pytest.skip("there is no systemd-analyze")
    program = tmp_path / "truewatch-lineage"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    folder = tmp_path / f"{UNIT}.d"
    folder.mkdir()
    for name, target in ((UNIT, tmp_path / UNIT), ("network.conf", folder / "network.conf")):
        target.write_text((FOLDER / "systemd" / name).read_text(encoding="utf-8").replace(PROGRAM, str(program)))
    _make_courier(tmp_path)

    words = [systemd, "verify", "--man=no", str(tmp_path / UNIT), str(tmp_path / COURIER)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)

    assert (result.returncode, result.stderr) == (0, "")


def test_the_example_settings_name_two_destinations() -> None:
    """They load without a notice, and tokens are files beside the settings."""
    settings = _settings()

    assert settings.notices == ()
    assert {one.name: one.profile.kind for one in settings.destinations} == {"truewatch": "dataway", "portal": "portal"}
    assert all(one.token_source.path.parent == FOLDER for one in settings.destinations)


@pytest.fixture(scope="module")
def container_file(tmp_path_factory):
    """Parse a copy, since the parser would write into what it reads."""
    copy = shutil.copy(FOLDER / "Containerfile", tmp_path_factory.mktemp("container") / "Dockerfile")
    return DockerfileParser(str(copy))


def test_the_container_file_installs_what_exists(container_file) -> None:
    """Every file that is copied is there, and all that the wheel needs is copied; the rest is the lock's."""
    steps = [(one["instruction"], one["value"]) for one in container_file.structure if one["instruction"] != "COMMENT"]
    copied = [word for name, value in steps if name == "COPY" and "--from" not in value for word in value.split()[:-1]]
    installed = next(value for name, value in steps if name == "RUN" and "pip install" in value)
    packages = {path.split("/")[0] for path in pyproject()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}

    assert all((ROOT / name).exists() for name in copied)
    assert packages <= set(copied)
    assert "examples/gateway/requirements.txt" in copied
    assert re.findall(r"pip install --no-cache-dir (.+?)\s*(?:&&|$)", installed) == [
        "--require-hashes -r requirements.txt",
        "--no-deps .",
    ]


def test_the_lock_pins_what_a_gateway_needs() -> None:
    """Each dependency and the extras', within bounds and with hashes; its head has the command that renews it."""
    text = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:", text, re.MULTILINE)
    versions = {canonicalize_name(name): version for name, version in pins}
    project = pyproject()["project"]
    needed = [*project["dependencies"], *(row for name in EXTRAS for row in project["optional-dependencies"][name])]

    assert len(pins) == text.count("==")
    assert "://" not in text
    for one in map(Requirement, needed):
        if one.marker is None:
            assert versions[canonicalize_name(one.name)] in one.specifier, "run the command at the lock's head"
    assert re.findall(r"--extra (\w+)", text) == EXTRAS


def test_the_container_runs_the_gateway_as_a_user_of_its_own(container_file) -> None:
    """By number, with the spool inside the volume that is the user's, and the program as process 1."""
    last = {one["instruction"]: one["value"] for one in container_file.structure}

    assert last["USER"] == "10001:10001"
    assert last["ENTRYPOINT"] == '["truewatch-lineage"]'
    assert last["CMD"] == f'["{command.name}"]'
    assert container_file.envs["TRUEWATCH_LINEAGE_SPOOL_DIR"] == f"{last['VOLUME']}/spool"
    assert f"EXPOSE {last['EXPOSE']}" == "EXPOSE 8766"
