"""The settings as options of every command, made from the one table of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from truewatch_lineage.cli import in_airflow
from truewatch_lineage.config import KEYS, Key, Settings, load
from truewatch_lineage.errors import ConfigError

SOURCE = "the command line"
"""What messages call the settings that were given as options."""

_META = "truewatch_lineage.settings"
_ABOUT = (
    "Settings are options too, such as --url and --spool-dir; or variables, TRUEWATCH_LINEAGE_<NAME>; or in the file "
    "that TRUEWATCH_LINEAGE_CONFIG names. --help-settings lists them."
)
_METAVARS = {
    "seconds": "TIME",
    "days": "DAYS",
    "bytes": "BYTES",
    "integer": "N",
    "path": "PATH",
    "existing_file": "FILE",
    "names": "NAMES",
    "patterns": "REGEX",
    "headers": "JSON",
    "tree": "JSON",
    "command": "JSON",
}


class SettingOption(click.Option):
    """A setting; its value is not checked here but where those of variables and files are, so that messages agree."""

    def __init__(self, key: Key) -> None:
        name = key.option or ""
        flag = key.kind == "flag"
        super().__init__(
            [f"{name}/--no-{name[2:]}" if flag else name],
            expose_value=False,
            callback=lambda context, _, value: _keep(context, key.name, value),
            help=f"{key.help} [default: {key.default}]",
            default=None,
            metavar=None if flag else "|".join(key.choices) or _METAVARS.get(key.kind, "TEXT"),
        )


class SettingsHelpOption(click.Option):
    """``--help-settings``: the settings' own help, which is long."""

    def __init__(self) -> None:
        super().__init__(
            ["--help-settings"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_settings,
            help="Show the settings and exit.",
        )


class SettingsCommand(click.Command):
    """A command that takes the settings as options; its help shows its own, and how to see the others.

    Args:
        without: Settings that have no option here, since the command's own option has that name or decides it.
    """

    def __init__(self, *args: Any, without: Collection[str] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.params += [SettingOption(key) for key in KEYS.values() if key.option and key.name not in without]
        self.params.append(SettingsHelpOption())

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with Airflow's settings where it is run beside an Airflow.

        Raises:
            ConfigError: A connection of Airflow's is named, and Airflow can't be loaded.
        """
        in_airflow.enter(ctx.meta.get(_META, {}))
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options; its arguments stand in the usage."""
        with formatter.section("Options"):
            formatter.write_dl(_records(ctx, are_settings=False))
        formatter.write_paragraph()
        formatter.write_text(_ABOUT)


def _records(ctx: click.Context, *, are_settings: bool) -> list[tuple[str, str]]:
    """Return what the help says of the options that are settings, or of the others."""
    options = [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Option)]
    records = [one.get_help_record(ctx) for one in options if isinstance(one, SettingOption) is are_settings]
    return [record for record in records if record]


def given(**forced: Any) -> dict[str, Any]:
    """Return the settings that were given as options, with ``forced`` ones over them."""
    return {**click.get_current_context().meta.get(_META, {}), **forced}


def load_settings(*, need_destination: bool = True, **forced: Any) -> Settings:
    """Merge the options with variables, file and defaults.

    Args:
        need_destination: As of `config.load`.
        forced: Settings that the command decides.

    Raises:
        ConfigError: A setting is unknown, malformed, contradictory or missing.
    """
    return load(given(**forced), need_destination=need_destination, params_name=SOURCE)


def load_to_deliver() -> Settings:
    """As `load_settings`, for a command that delivers, whatever ``delivery`` says of the processes that emit.

    Raises:
        ConfigError: As `load_settings`; or lineage is disabled.
    """
    return refuse_disabled(load_settings(delivery="background"))


def refuse_disabled(settings: Settings) -> Settings:
    """Return the settings, unless they say that nothing is to happen.

    Raises:
        ConfigError: Lineage is disabled.
    """
    if settings.disabled:
        raise ConfigError(
            "Lineage is disabled, by the setting disabled or by OPENLINEAGE_DISABLED.",
            key="disabled",
            fix="Set it to false, or unset it.",
        )
    return settings


def _show_settings(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    formatter = ctx.make_formatter()
    with formatter.section("Settings (also TRUEWATCH_LINEAGE_<NAME>, or in the file TRUEWATCH_LINEAGE_CONFIG)"):
        formatter.write_dl(_records(ctx, are_settings=True))
    click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
    ctx.exit()


def _keep(context: click.Context, name: str, value: object) -> None:
    if value is not None:
        context.meta.setdefault(_META, {})[name] = value
