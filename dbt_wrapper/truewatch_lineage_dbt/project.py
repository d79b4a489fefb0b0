"""What dbt's own files say where dbt itself did not tell: ``dbt_project.yml``, ``profiles.yml``, the target folder.

In-process dbt tells all this as it resolved it. These readers serve what comes before that, the START of a run and a
run whose profile is bad, and where dbt runs as another program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from truewatch_lineage_dbt.invocation import option

_FILE: Final = "dbt_project.yml"
_PROFILES: Final = "profiles.yml"


@dataclass(frozen=True, slots=True)
class Project:
    """A dbt project as its file describes it.

    Attributes:
        folder: Where ``dbt_project.yml`` is, or would be.
        values: The file's content, unrendered; empty where it can't be read.
    """

    folder: Path
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The project's name; the folder's where the file has none."""
        return self.text("name") or self.folder.name or "unknown"

    def text(self, key: str) -> str | None:
        """Return a value as text, or None."""
        value = self.values.get(key)
        return str(value) if isinstance(value, (str, int, float)) and str(value) else None


def project_folder(arguments: Sequence[str], environ: Mapping[str, str]) -> Path:
    """Return the project's folder, as dbt resolves it (``dbt.cli.resolvers.default_project_dir``).

    Args:
        arguments: dbt's.
        environ: The environment.
    """
    named = option(arguments, "--project-dir") or _variable(environ, "PROJECT_DIR")
    if named:
        return Path(named).expanduser().absolute()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / _FILE).exists()), here)


def read_project(folder: Path) -> Project:
    """Read a project's file; one that can't be read is a project without values, since dbt says what is wrong."""
    values = _yaml(folder / _FILE)
    return Project(folder, values if isinstance(values, Mapping) else {})


def target_folder(project: Project, arguments: Sequence[str], environ: Mapping[str, str]) -> Path:
    """Return where dbt writes its artefacts: option, variable, project, default, in this order."""
    named = option(arguments, "--target-path") or _variable(environ, "TARGET_PATH") or project.text("target-path")
    return project.folder / (named or "target")


def read_target(
    project: Project, arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[str | None, str | None, dict[str, Any]]:
    """Return the profile's name, the target's and its fields, as far as the files say.

    Args:
        project: Whose profile it is.
        arguments: dbt's.
        environ: The environment, which ``env_var`` in the profile asks too.
    """
    profile = (
        option(arguments, "--profile") or _variable(environ, "PROFILE") or _render(project.text("profile"), environ)
    )
    profiles = _yaml(_profiles_folder(arguments, environ) / _PROFILES)
    outputs = _mapping(_mapping(profiles).get(profile))
    default = _render(outputs.get("target"), environ) or "default"
    target = option(arguments, "--target", "-t") or _variable(environ, "TARGET") or default
    fields = _mapping(_mapping(outputs.get("outputs")).get(target))
    return profile, target, {key: _render(value, environ) for key, value in fields.items()}


def _profiles_folder(arguments: Sequence[str], environ: Mapping[str, str]) -> Path:
    named = option(arguments, "--profiles-dir") or _variable(environ, "PROFILES_DIR")
    if named:
        return Path(named).expanduser()
    return Path.cwd() if Path(_PROFILES).exists() else Path.home() / ".dbt"


def _variable(environ: Mapping[str, str], name: str) -> str | None:
    return environ.get(f"DBT_ENGINE_{name}") or environ.get(f"DBT_{name}")


def _yaml(path: Path) -> Any:
    import yaml  # noqa: PLC0415 - few runs need it, and openlineage-python brings it

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _render(value: Any, environ: Mapping[str, str]) -> Any:
    """Render what a profile may hold: ``env_var`` and the filters of dbt's that change only the type."""
    if not isinstance(value, str) or "{" not in value:
        return value
    from jinja2 import Environment, TemplateError  # noqa: PLC0415 - as `_yaml`; openlineage-dbt brings it

    jinja = Environment(autoescape=False)  # noqa: S701 - no page is made, and the file is the user's own
    jinja.filters |= dict.fromkeys(("as_number", "as_bool", "as_native", "as_text"), lambda one: one)
    try:
        return jinja.from_string(value).render(env_var=lambda name, default="": environ.get(name, default))
    except TemplateError:
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
