"""Build our wheel and make environments that hold it with its dependencies but no extra, without any network."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.repository import ROOT


@dataclass(frozen=True)
class Environment:
    """A virtual environment: ``python`` and ``scripts`` are paths inside it."""

    folder: Path

    @property
    def scripts(self) -> Path:
        """Give the folder of its commands."""
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    @property
    def python(self) -> Path:
        """Give its interpreter."""
        return self.scripts / "python"

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command outside of the repository and give its output; a failure shows in the result."""
        return subprocess.run(
            [str(part) for part in command], cwd=self.folder, capture_output=True, text=True, timeout=50, check=False
        )


def build_wheel(folder: Path) -> Path:
    """Build the wheel from the work tree into ``folder``."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=50)
    return next(folder.glob("*.whl"))


def wheel_files(wheel: Path) -> list[str]:
    """List the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def install(wheel: Path, folder: Path) -> Environment:
    """Make an environment with the wheel; its dependencies are links to this environment's own, extras left out."""
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    environment = Environment(folder)
    site = Path(
        environment.run(environment.python, "-c", "import site; print(site.getsitepackages()[0])").stdout.strip()
    )
    for distribution in core_distributions():
        for entry in _top_level(distribution):
            (site / entry.name).symlink_to(entry)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    subprocess.run([*uv, "--python", environment.python, wheel], check=True, capture_output=True, timeout=50)
    return environment


def core_distributions() -> list[metadata.Distribution]:
    """Give the installed distributions that ours needs, through all levels, without extras."""
    found: dict[str, metadata.Distribution] = {}
    todo = ["truewatch-lineage"]
    while todo:
        for requirement in map(Requirement, metadata.requires(todo.pop()) or []):
            name = canonicalize_name(requirement.name)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and name not in found:
                found[name] = metadata.distribution(name)
                todo.append(name)
    return list(found.values())


def _top_level(distribution: metadata.Distribution) -> list[Path]:
    """Give what a distribution has directly in site-packages: packages, modules, its metadata."""
    site = Path(str(distribution.locate_file("")))
    names = {Path(str(file)).parts[0] for file in distribution.files or []}
    return [site / name for name in sorted(names - {"..", "__pycache__"}) if not name.endswith(".pth")]
