"""``truewatch-lineage gateway``: a durable relay."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli import logs
from truewatch_lineage.cli.guard import EXIT_WAITS
from truewatch_lineage.cli.serving import (
    FILE,
    check_guarded,
    host_option,
    missing_extra,
    no_token_option,
    refuse_itself,
    token_option,
)
from truewatch_lineage.cli.settings import SettingsCommand, load_settings, refuse_disabled
from truewatch_lineage.cli.stopping import stopped_by_signal
from truewatch_lineage.config import KEYS
from truewatch_lineage.errors import ConfigError, SpoolError, TokenError, TruewatchLineageError
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truewatch_lineage.config import Settings
    from truewatch_lineage.gateway.http.tokens import Accepted
    from truewatch_lineage.gateway.kafka.options import KafkaOptions
    from truewatch_lineage.gateway.service import Gateway, Options
    from truewatch_lineage.serving.tls import Tls

EPILOG: Final = """\b
Examples:
  truewatch-lineage gateway --url https://openway.truewatch.com
  truewatch-lineage gateway --host 0.0.0.0 --token-file clients --tls-cert chain.pem --tls-key key.pem
  truewatch-lineage gateway --kafka-bootstrap kafka:9092 --topic openlineage.events --group truewatch-lineage
  truewatch-lineage gateway --delivery spool & truewatch-lineage courier
  OPENLINEAGE_URL=http://127.0.0.1:8766 python job.py

\b
Its own token is what clients show. That of a destination comes from a variable or the file of settings.
Exit codes: 0 all delivered, 75 something is kept in the spool, 1 it failed, 2 usage or settings.
"""
_LOOK_SECONDS: Final = 1.0
_TOKEN_SECONDS: Final = 5.0
_WITHOUT: Final = ("token_file", "kafka_config", "delivery_budget", "enabled", "spark_inject")
"""Settings that are no options: the first two are the gateway's own, the others change nothing here."""


@click.command("gateway", cls=SettingsCommand, without=_WITHOUT, epilog=EPILOG)
@click.option("--port", default=8766, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free port.")
@host_option
@token_option
@click.option(
    "--token-file",
    "token_files",
    multiple=True,
    type=FILE,
    help="A file that holds a token to accept, read again when it changes; can be repeated.",
)
@no_token_option
@click.option(
    "--tls-cert", type=FILE, help="Serve https with this certificate and chain (PEM), read again as it changes."
)
@click.option("--tls-key", type=FILE, help="The certificate's key (PEM, no passphrase).")
@click.option("--kafka-bootstrap", metavar="HOST:PORT", help="Also take events from Kafka, by these brokers.")
@click.option("--topic", metavar="TOPIC", help="The topic that OpenLineage's Kafka transports write.")
@click.option("--group", metavar="GROUP", help="The consumer group; gateways of one group share the partitions.")
@click.option("--kafka-config", type=FILE, help="Properties of librdkafka, key=value a line: SASL, TLS.")
@click.option(
    "--dead-letter-topic", metavar="TOPIC", help="Where dead letters go. [default: the topic's name with .dead-letters]"
)
def command(
    port: int,
    host: str,
    tokens: tuple[str, ...],
    token_files: tuple[Path, ...],
    no_token: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    kafka_bootstrap: str | None,
    topic: str | None,
    group: str | None,
    kafka_config: Path | None,
    dead_letter_topic: str | None,
) -> None:
    """Take events from any OpenLineage client, keep them, and deliver them to the destinations of the settings.

    Prints its url on stdout once it accepts connections. SIGTERM, SIGHUP or Ctrl-C: it takes no more events, delivers
    what is due for at most exit_budget, and ends; a second one ends it at once.
    """
    try:
        from truewatch_lineage.gateway.service import Gateway, Options  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        raise missing_extra(error, "gateway", "gateway,kafka" if kafka_bootstrap else "gateway") from error

    accepted = _accepted(tokens, token_files)
    check_guarded(host, asks=bool(accepted), no_token=no_token, could="send events")
    settings = _settings(has_own_token=bool(accepted))
    refuse_itself(settings, port, "The gateway would send every event back to itself.")
    tls = _tls(tls_cert, tls_key)
    kafka = _kafka(kafka_bootstrap, topic, group, kafka_config, dead_letter_topic)
    options = Options(host, port, accepted, tls, kafka)
    logs.show_progress()
    left = _run(Gateway(settings, options), settings, options)
    if left and settings.delivery != "spool":
        click.get_current_context().exit(EXIT_WAITS)


def _settings(*, has_own_token: bool) -> Settings:
    """Load the settings; who gave the gateway's own token is told that it is not the destination's."""
    try:
        return refuse_disabled(load_settings())
    except ConfigError as error:
        if has_own_token and error.key == "token_file" and error.source is None:
            hint = "--token-file of `gateway` is what clients show; the destination's comes from"
            error.fix = f"{hint} {KEYS['token_file'].variable}, or the file of settings."
        raise


def _run(gateway: Gateway, settings: Settings, options: Options) -> int:
    """Serve until a signal; returns how many events are left in the spool.

    Raises:
        TruewatchLineageError: It could not go on.
    """
    from truewatch_lineage.cli.opening import existing_store_of, tell_destinations  # noqa: PLC0415 - not for the help
    from truewatch_lineage.gateway.service import log  # noqa: PLC0415 - needs the extra

    with stopped_by_signal() as stopped:
        gateway.start()
        _tell_start(gateway.url, options)
        if settings.delivery == "spool":
            how = "run `truewatch-lineage courier` with the same settings and the destinations' tokens"
            log.info("Events stay in %s for a courier: %s.", settings.spool_dir, how)
            click.echo(gateway.url)
        else:
            with existing_store_of(settings) as store:
                tell_destinations(store, settings)
            click.echo(gateway.url)
            _try_tokens(settings)
        fault = None
        while fault is None and not stopped.wait(_LOOK_SECONDS):
            gateway.renew()
            fault = gateway.fault()
        return _stop(gateway, fault)


def _stop(gateway: Gateway, fault: str | None) -> int:
    """Stop a gateway that has run, because of a fault unless that is None; returns how many events are left.

    Raises:
        TruewatchLineageError: It could not go on, or not look at what is left; never a `SpoolError`, some of which end
            the process as wrong settings do, so that nobody starts it again.
    """
    from truewatch_lineage.gateway.service import log  # noqa: PLC0415 - needs the extra

    log.info("Stopping.")
    try:
        left = gateway.stop()
    except SpoolError as error:
        if fault is None:
            raise TruewatchLineageError(f"The gateway has stopped and can't tell what waits: {error}") from error
        log.warning("The gateway can't tell what waits: %s", error)
    else:
        log.info("Stopped; %s %s.", counted(left, "event"), "waits" if left == 1 else "wait")
        if fault is None:
            return left
    raise TruewatchLineageError(f"The gateway could not go on: {fault}.", fix="Start it again; see its log.")


def _tell_start(url: str, options: Options) -> None:
    from truewatch_lineage.gateway.service import log  # noqa: PLC0415 - needs the extra

    number, kafka = len(options.tokens), options.kafka
    shown = "no token" if number == 0 else "its token" if number == 1 else f"one of {number} tokens"
    log.info("Gateway %s on %s; clients show %s.", version("truewatch-lineage"), url, shown)
    if kafka is not None:
        log.info("Reading topic %s as group %s; dead letters go to %s.", kafka.topic, kafka.group, kafka.dead_letters)


def _try_tokens(settings: Settings) -> None:
    """Read each destination's token once: that one is missing is told before the first event waits for it."""
    from truewatch_lineage.gateway.service import log  # noqa: PLC0415 - needs the extra

    for destination in settings.destinations:
        source = destination.token_source if destination.profile.sends_token else None
        try:
            if source is not None:
                source.get(within=_TOKEN_SECONDS)
        except TokenError as error:
            log.warning("Events wait, since %s can't be sent a token: %s", destination.name, error)


def _accepted(tokens: Sequence[str], files: Sequence[Path]) -> Accepted:
    from truewatch_lineage.destinations.token_file import FileToken  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.destinations.token_value import Token  # noqa: PLC0415
    from truewatch_lineage.destinations.tokens import StaticToken  # noqa: PLC0415
    from truewatch_lineage.gateway.http.tokens import Accepted  # noqa: PLC0415

    static = [StaticToken(Token.parse(token, source="--token"), "--token") for token in tokens]
    return Accepted([*static, *(FileToken(file.absolute()) for file in files)])


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    from truewatch_lineage.serving.tls import Tls  # noqa: PLC0415 - the help needs none of it

    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigError("--tls-cert and --tls-key belong together.", fix="Give both, or none.")
    return Tls(certificate, key)


def _kafka(
    bootstrap: str | None, topic: str | None, group: str | None, config: Path | None, dead_letters: str | None
) -> KafkaOptions | None:
    if bootstrap is None and topic is None and group is None and config is None and dead_letters is None:
        return None
    if bootstrap is None or topic is None or group is None:
        raise ConfigError(
            "Taking events from Kafka needs --kafka-bootstrap, --topic and --group.", fix="Give all three, or none."
        )
    from truewatch_lineage.gateway.kafka.options import KafkaOptions  # noqa: PLC0415 - only where it is asked for

    return KafkaOptions(bootstrap, topic, group, config, dead_letters or "")
