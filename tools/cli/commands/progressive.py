"""``egm progressive``: the controller of linked levels, its certificates, its register, and its sign."""

import asyncio
import json
import signal
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from egm.clock import SystemClock
from egm.config.levels import ProgressiveLinkTable
from egm.config.serials import check_serial
from egm.errors import OperatorError
from egm.links.metrics import MetricsExporter
from egm.progressive.definition import (
    LevelDefinition,
    create_level_source,
    list_level_and_game_files,
    read_levels,
)
from egm.progressive.enrolment_data import EnrolmentError, EnrolmentStick
from egm.record_codec import to_json
from egm.screen.text import Texts
from egm.verify.examine import VerificationFindings, verify_software_files
from tools.cli.commands.progressive_status import forget_sign, held, prizes, rule, status
from tools.cli.tables import (
    Column,
    Columns,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    format_figure,
    show,
)
from tools.cli.terminal import echo
from tools.floor.progressive.certificates import (
    AUTHORITY_CERTIFICATE_NAME,
    CONTROLLER_CERTIFICATE_NAME,
    answer_request,
    format_sign_name,
    make_link_certificates,
    revoke_certificate,
    write_broker_configuration,
)
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.controller_metrics import ControllerMetrics
from tools.floor.progressive.heartbeat import check_sign_name
from tools.floor.progressive.mystery_secrets import MYSTERY_KEY_FILE_NAME, MysterySecrets, make_key, read_key
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.signs import SignBook
from tools.floor.progressive.store import Store, StoreBusyError, StoreLostError
from tools.floor.progressive.store_option import (
    ERRORS_REPORTED_IN_ONE_LINE,
    STORE_OPTION,
    open_controller,
    open_store,
)

#: Seconds between two attempts to take over the store.
_STAND_BY_RETRY_SECONDS = 1.0

#: The option that names the broker's host.
_HOST_OPTION = click.option(
    "--host", default="127.0.0.1", show_default=True, help="The broker's host name or address."
)
#: The option that states the broker's port.
_PORT_OPTION = click.option(
    "--port", default=8883, show_default=True, type=click.IntRange(1, 65535), help="The broker's port."
)
#: The option that names the folder of the link's certificates.
CERTIFICATES_OPTION = click.option(
    "--certificates",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder `egm progressive certificates` wrote.",
)


@click.group()
def command() -> None:
    """Manage progressive levels to which several machines contribute (Québec by-law, ss. 91-92)."""


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("machines", nargs=-1)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The broker's host name or address, for its certificate.",
)
@_PORT_OPTION
@click.option(
    "--sign",
    "signs",
    multiple=True,
    default=("1",),
    show_default=True,
    help="A sign's name; repeat for more.",
)
def certificates(
    folder: Path, machines: tuple[str, ...], host: str, port: int, signs: tuple[str, ...]
) -> None:
    """Create in FOLDER the link's certificate authority, and certificates for broker, controller, signs and MACHINES.

    The folder also gets the key that encrypts the secrets of mystery levels: every controller of the store
    needs it. A machine is named by its serial number. Running this command again
    creates only what is missing.
    """
    now = datetime.now(UTC)
    try:
        for machine in machines:
            check_serial(machine)
        for sign_name in signs:
            check_sign_name(format_sign_name(sign_name))
        certified_names = make_link_certificates(folder, machines, host, now, signs)
        make_key(folder)
        configuration_path = write_broker_configuration(folder.resolve(), port, host)
    except (*ERRORS_REPORTED_IN_ONE_LINE, OSError) as error:
        raise click.ClickException(str(error)) from error
    for machine in dict.fromkeys(machines):
        if machine not in certified_names:
            echo(f"machine {machine} already has its certificate")
    echo(f"mosquitto -c {configuration_path}")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("stick", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--prepare", is_flag=True, help="Prepare STICK for a machine's request. This erases it.")
@click.option("--key", default="", help="The key's digest, as shown on the machine's screen.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The broker's host name or address, as the machine reaches it.",
)
@_PORT_OPTION
def enrol(folder: Path, stick: Path, key: str, host: str, port: int, *, prepare: bool) -> None:
    """Answer a machine's request on STICK (a device path; it has no file system) with a certificate signed in FOLDER.

    The machine has created its key and keeps it. Enter the digest of that key as the machine's screen shows
    it. This command prints the digest of its answer; compare it with the one that the machine's screen shows
    after reading the stick.
    """
    enrolment_stick = EnrolmentStick(stick)
    try:
        if prepare:
            enrolment_stick.write()
            echo(f"{stick}: ready for a machine's request")
            return
        request = str(enrolment_stick.read().get("request") or "")
        answer = answer_request(folder, request, key, datetime.now(UTC), (host, port))
        enrolment_stick.write(request, answer)
        certificate_facts = answer.read_certificate_details()
    except EnrolmentError as error:
        refusal_text = Texts("en").translate(f"notice.refused.{error.code}", **error.values)
        raise click.ClickException(f"{stick}: {refusal_text}") from error
    except (*ERRORS_REPORTED_IN_ONE_LINE, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(
        f"machine {certificate_facts.serial}, key {certificate_facts.key_digest}, "
        f"until {certificate_facts.valid_until:%Y-%m-%d}"
    )
    echo(f"authority {certificate_facts.authority_digest}: the machine's screen must show the same")


@command.command("revoke")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("name")
def revoke_(folder: Path, name: str) -> None:
    """Revoke in FOLDER the certificate of NAME: a machine's serial, the controller, or a sign (`sign-1`).

    The broker reads the list of revoked certificates only when it starts, so restart it. `egm progressive
    certificates` then creates a new certificate for NAME.
    """
    try:
        revoke_certificate(folder, name, datetime.now(UTC))
    except (*ERRORS_REPORTED_IN_ONE_LINE, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(f"{name} is revoked; restart the broker")


@command.command()
@click.argument("levels", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@CERTIFICATES_OPTION
@STORE_OPTION
@_HOST_OPTION
@_PORT_OPTION
@click.option(
    "--admit",
    "admitted_machines",
    multiple=True,
    metavar="SERIAL",
    help="A machine that may enrol; repeat for more.",
)
@click.option("--stand-by", is_flag=True, help="Wait until no other controller uses the store.")
@click.option(
    "--manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A signed manifest to verify the software against (`egm manifest`).",
)
@click.option("--key", metavar="HEX", help="The manufacturer's public key for --manifest.")
@click.option(
    "--metrics",
    "metrics_port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="A Prometheus port on 127.0.0.1.",
)
def serve(
    *,
    levels: Path,
    folder: Path,
    store: str | None,
    host: str,
    port: int,
    admitted_machines: tuple[str, ...],
    stand_by: bool,
    metrics_port: int | None,
    manifest: Path | None,
    key: str | None,
) -> None:
    """Serve the levels of the file LEVELS until stopped; after a loss of the store, resume when it is back.

    Before any level is served, every level is compared with the ledger, the register and the prizes. If a signed
    manifest is given, the software, the file LEVELS and the games that it names are compared with the manifest. If
    there is any difference, it is recorded, and nothing is served (I-08).
    """
    link_table = ProgressiveLinkTable(
        host=host,
        port=port,
        authority=folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt",
        certificate=folder / f"{CONTROLLER_CERTIFICATE_NAME}.crt",
        key=folder / f"{CONTROLLER_CERTIFICATE_NAME}.key",
    )
    if (manifest is None) != (key is None):
        raise click.UsageError("--manifest and --key are only valid together")
    try:
        source = create_level_source(levels)
        definitions = read_levels(source)
        has_mystery_level = any(definition.terms.is_mystery for definition in definitions)
        mystery_secrets = (
            MysterySecrets(read_key(folder))
            if has_mystery_level or (folder / MYSTERY_KEY_FILE_NAME).exists()
            else None
        )
        controller_metrics = ControllerMetrics()
        with ExitStack() as exit_stack:
            if metrics_port is not None:
                exit_stack.enter_context(closing(_create_exporter(controller_metrics, metrics_port)))
            software_findings = (
                None
                if manifest is None
                else verify_software_files(manifest, key or "", list_level_and_game_files(source), (source,))
            )
            asyncio.run(
                _serve(
                    store,
                    definitions,
                    link_table,
                    admitted_machines,
                    mystery_secrets,
                    controller_metrics,
                    software_findings,
                    stand_by=stand_by,
                )
            )
    except (*ERRORS_REPORTED_IN_ONE_LINE, OSError) as error:
        raise click.ClickException(str(error)) from error


def _create_exporter(controller_metrics: ControllerMetrics, port: int) -> MetricsExporter:
    """Return the exporter of the controller's metrics on this port.

    Raises OperatorError if the port is in use.
    """
    try:
        return MetricsExporter(controller_metrics, port)
    except OSError as error:
        reason = (
            f"{error.filename}: {error.strerror}; end the program that uses this port, or give another port "
            "(0: any free one)"
        )
        raise OperatorError(f"--metrics: {reason}") from None


async def _serve(
    store: str | None,
    definitions: tuple[LevelDefinition, ...],
    link_table: ProgressiveLinkTable,
    admitted_machines: tuple[str, ...],
    mystery_secrets: MysterySecrets | None,
    controller_metrics: ControllerMetrics,
    software_findings: VerificationFindings | None,
    *,
    stand_by: bool,
) -> None:
    """Run the progressive controller until a signal ends it.

    With ``stand_by``, wait while another controller uses the store.
    """
    stop_event = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop_event.set)
    was_store_lost = False
    while (
        level_store := await _open_store(store, stop_event, stand_by=stand_by, was_lost=was_store_lost)
    ) is not None:
        try:
            controller = Controller(level_store, SystemClock().now, mystery_secrets)
            controller.record_software_check(software_findings)
            controller.verify_levels()
            for line in controller.open_levels(definitions):
                echo(line)
            for machine in admitted_machines:
                controller.admit_machine(machine)
            signs = SignBook(level_store, SystemClock().now, time.monotonic_ns, print_with_time)
            service = ControllerService(
                controller, link_table, echo, signs=signs, observe=controller_metrics.replace_metrics
            )
            await _run_until(service, stop_event)
        except StoreLostError as error:
            was_store_lost = True
            echo(f"{error}; the levels are not served until the store can be opened again")
        else:
            return
        finally:
            level_store.close()


async def _run_until(service: ControllerService, stop_event: asyncio.Event) -> None:
    """Run ``service`` until ``stop_event`` is set or the service ends with an error, which is raised."""
    service_task = asyncio.create_task(service.run())
    stop_task = asyncio.create_task(stop_event.wait())
    done_tasks, _ = await asyncio.wait({service_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
    stop_task.cancel()
    service_task.cancel()
    await asyncio.gather(service_task, stop_task, return_exceptions=True)
    if service_task in done_tasks:
        service_task.result()


async def _open_store(
    store_name: str | None, stop_event: asyncio.Event, *, stand_by: bool, was_lost: bool
) -> Store | None:
    """Open and return the controller's store; return None if ``stop_event`` is set first.

    With ``stand_by``, wait while another controller uses the store. With ``was_lost``, also wait until the
    store's server is available again; by then another controller may use the store.
    """
    last_message = ""
    while not stop_event.is_set():
        try:
            return open_store(store_name)
        except (OperatorError, StoreLostError) as error:
            if not was_lost and not (stand_by and isinstance(error, StoreBusyError)):
                raise
            if str(error) != last_message:
                last_message = str(error)
                echo(f"on standby, levels are not served from here: {error}")
            await asyncio.sleep(_STAND_BY_RETRY_SECONDS)
    return None


@command.command("show")
@STORE_OPTION
@add_format_options
def show_(*, store: str | None, output_format: OutputFormat) -> None:
    """Show the amount of every level and its sources, after checking that they balance exactly (I-05, I-14)."""
    with open_controller(store, read_only=True) as controller:
        controller.verify_levels()
        records = controller.list_level_records()
    amounts = ("shows", "base", "limit", "hidden", "overflow", "contributed", "hits", "paid", "stake")
    rows = (
        (
            record.id + (f" -> {record.successor_id}" if record.successor_id else ""),
            record.level.shown_cents,
            record.level.terms.base_cents,
            record.level.terms.ceiling_cents,
            record.level.hidden_amount,
            record.level.overflow_amount,
            record.level.contributed_amount,
            record.level.hit_count,
            record.level.paid_cents,
            record.stake_cents,
            record.level.terms.increment,
            record.level.terms.hidden_increment,
        )
        for record in records
    )
    figures = (Column(title, is_right_aligned=True, format_value=_format_amount) for title in amounts)
    rates = (Column(title, is_right_aligned=True) for title in ("increment", "to hidden"))
    show(
        output_format,
        Table(("level", *figures, *rates), rows, empty_text="no level", identifying_column_count=1),
        document={record.id: json.loads(record.to_text()) for record in records},
        text_after="minor units; the amounts of every level balance exactly and agree with its ledger and register",
    )


def _format_amount(value: Any) -> str:
    """Return minor units with thousands separators; fractions have three decimals."""
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{float(value):,.3f}"
    return format_figure(None if value is None else int(value))


@command.command()
@STORE_OPTION
@add_format_options
def register(*, store: str | None, output_format: OutputFormat) -> None:
    """List every hit: machine, combination, time, amount, payment method (I-17)."""
    with open_controller(store, read_only=True) as controller:
        hits = controller.read_win_register()
    columns: Columns = (
        "level",
        build_number_column("hit no.", "place"),
        "machine",
        "combination",
        Column("awarded", "awarded_at"),
        build_number_column("amount", "amount_cents"),
        build_number_column("paid", "paid_cents"),
        Column("paid by", "way"),
    )
    rows = (
        (
            hit.level_id,
            hit.hit_number,
            hit.machine,
            hit.combination,
            hit.awarded_at[:19],
            hit.amount_cents,
            hit.paid_cents,
            hit.payment_method,
        )
        for hit in hits
    )
    show(
        output_format, Table(columns, rows, empty_text="no hit yet"), document=[to_json(hit) for hit in hits]
    )


@command.command()
@STORE_OPTION
@add_format_options
def daily(*, store: str | None, output_format: OutputFormat) -> None:
    """List the last amount that each progressive level displayed on each day (I-16)."""
    with open_controller(store, read_only=True) as controller:
        daily_amounts = controller.list_daily_amounts()
    rows = ((day, level_id, shown_time[11:19], cents) for day, level_id, shown_time, cents in daily_amounts)
    columns: Columns = ("day", "level", "last shown", build_number_column("minor units", "cents"))
    show(output_format, Table(columns, rows, empty_text="nothing shown yet"), document=daily_amounts)


@command.command("admit")
@click.argument("machine")
@STORE_OPTION
def admit_(machine: str, store: str | None) -> None:
    """Allow MACHINE (its serial number) to enrol in progressive levels."""
    with open_controller(store) as controller:
        controller.admit_machine(machine)
    echo(f"{machine} may enrol in progressive levels")


@command.command()
@click.argument("machine")
@STORE_OPTION
def dismiss(machine: str, store: str | None) -> None:
    """Withdraw MACHINE's permission to enrol in progressive levels (`admit`); its contributions stay in them."""
    with open_controller(store) as controller:
        controller.dismiss_machine(machine)
    echo(f"{machine} may no longer enrol; its contributions stay in the levels")


@command.command("give-up")
@click.argument("level")
@click.argument("successor")
@STORE_OPTION
def close_level(level: str, successor: str, store: str | None) -> None:
    """Close the progressive LEVEL and move its exact amount to the level SUCCESSOR."""
    with open_controller(store) as controller:
        amount = controller.close_level(level, successor)
    echo(f"{level}: {amount} minor units were moved to {successor}, and the level is closed")


@command.command()
@CERTIFICATES_OPTION
@_HOST_OPTION
@_PORT_OPTION
@click.option("--level", "levels", multiple=True, help="A level to show; repeat for more (default: all).")
@click.option("--currency", default="CAD", show_default=True, help="The currency of the amounts (ISO 4217).")
@click.option("--name", default="1", show_default=True, help="This sign's name, as in its certificate.")
@click.option("--fullscreen", is_flag=True, help="Cover the whole display.")
@click.option(
    "--display", default=0, show_default=True, type=click.IntRange(0), help="The number of the display."
)
@click.option("--portrait", is_flag=True, help="With --png: an upright picture.")
@click.option(
    "--png",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one picture to this file, then exit.",
)
def sign(
    *,
    folder: Path,
    host: str,
    port: int,
    levels: tuple[str, ...],
    currency: str,
    name: str,
    fullscreen: bool,
    display: int,
    portrait: bool,
    png: Path | None,
) -> None:
    """Show the current amounts of progressive levels on an overhead sign, until its window is closed.

    Amounts alternate between the formats of both languages. A level without an update for 5 s shows no
    amount.
    """
    from egm.screen.window import WindowError  # noqa: PLC0415 (pygame is slow to load)
    from tools.floor.progressive.sign_window import SignFile, SignWindow, show_sign  # noqa: PLC0415

    link_table = ProgressiveLinkTable(
        host=host,
        port=port,
        authority=folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt",
        certificate=folder / f"{format_sign_name(name)}.crt",
        key=folder / f"{format_sign_name(name)}.key",
    )
    try:
        sign_output: SignFile | SignWindow
        if png is None:
            sign_output = SignWindow(currency, fullscreen=fullscreen, display=display)
        else:
            sign_output = SignFile(currency, png, portrait=portrait)
        asyncio.run(
            show_sign(
                link_table, sign_output, levels=levels, name=format_sign_name(name), report=print_with_time
            )
        )
    except (*ERRORS_REPORTED_IN_ONE_LINE, WindowError, OSError) as error:
        raise click.ClickException(str(error)) from error


def print_with_time(text: str) -> None:
    """Print a line that begins with the current time (UTC)."""
    echo(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}")


for subcommand in (status, forget_sign, prizes, held, rule):
    command.add_command(subcommand)
