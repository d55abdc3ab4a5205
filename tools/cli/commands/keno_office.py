"""``egm keno-office``: sell Keno tickets, hold their draws, and pay what they win."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

import click

from egm.clock import SystemClock
from egm.errors import LocalError, OperatorError
from egm.screen.text import Texts
from meters import Journal, JournalError
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.storage import DiskStorage
from paytables import PaytableError, load_game
from paytables.contract import Json
from paytables.keno.claims import KenoTicketRecord, PresentedTicket, TicketCondition
from paytables.keno.printed_ticket import PRINTED_TYPE_BY_KEY, SLIP_TEXTS, list_ticket_lines
from paytables.wording import format_count
from rng import Personalization, RandomService, RngError
from tools.cli.keno_selection import build_ticket_request
from tools.cli.printed_text import REASON_TYPE, PrintedText
from tools.cli.tables import (
    OutputFormat,
    Table,
    add_format_options,
    build_facts_table,
    build_number_column,
    show,
)
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.floor.keno.office import (
    KenoOffice,
    check_journal_is_empty_or_own,
    open_journal,
    read_opened_office,
)
from tools.floor.keno.verification import iter_findings
from tools.lab.argument_names import parse_path_or_id

FOLDER_ARGUMENT = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
NUMBER_ARGUMENT = click.argument("number", type=WholeNumber(min=1))
LANGUAGE_OPTION = click.option(
    "--language",
    type=click.Choice(sorted(SLIP_TEXTS)),
    default="en",
    show_default=True,
    help="The language of the ticket.",
)


def read_local_time() -> datetime:
    """Return the current time in this computer's time zone."""
    return SystemClock().now().astimezone()


def start_generator(office: KenoOffice) -> RandomService:
    """Return a seeded and tested random number generator for an office.

    The boot counter, which makes each start different, is the number of entries in the office's journal.
    """
    personalization = Personalization(
        product="open-egm keno office",
        version=version("open-egm"),
        machine_serial=office.journal.fingerprint,
        instance=1,
        boot_counter=office.journal.sequence,
    )
    return RandomService.start(personalization=personalization)


@contextmanager
def open_office_journal(folder: Path) -> Iterator[Journal]:
    """Yield the open journal of a Keno office in ``folder``.

    Any error of the office in the ``with`` block is raised as ClickException; so is a damaged journal, or one
    that is in use.
    """
    try:
        with open_journal(folder, read_local_time) as journal:
            yield journal
    except (OperatorError, LocalError, PaytableError, JournalError, RngError) as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def open_office(folder: Path) -> Iterator[KenoOffice]:
    """Yield the Keno office in ``folder``; create nothing if it does not exist.

    Raises ClickException as :func:`open_office_journal` does.
    """
    if not JournalLocation(DiskStorage(), folder, folder / SECOND_FOLDER).has_journal:
        raise click.ClickException(
            f"{folder}: no Keno office was opened here: open one with `egm keno-office open`"
        )
    with open_office_journal(folder) as journal:
        yield KenoOffice(journal, load_game(read_opened_office(journal).source), read_local_time)


@click.group()
def command() -> None:
    """Run the Keno office of a venue: record tickets, hold draws for all of them, and pay claims.

    FOLDER has the office's journal, in two copies. One command works on it at a time.
    """


@command.command("open")
@FOLDER_ARGUMENT
@click.argument("game")
@click.option(
    "--casino", type=PrintedText(), required=True, help="The name of the venue, as printed on each ticket."
)
@click.option("--claim-place", type=PrintedText(), required=True, help="Where tickets are claimed.")
@click.option(
    "--credit",
    "unit_cents",
    type=WholeNumber(min=1),
    required=True,
    help="The value of one credit, in minor units.",
)
@click.option("--currency", default="CAD", show_default=True, help="The currency, in three letters.")
def open_(folder: Path, game: str, **terms: Json) -> None:
    """Create a new Keno office in FOLDER for GAME."""
    source = parse_path_or_id(game)
    with open_office_journal(folder) as journal:
        check_journal_is_empty_or_own(journal)
        office = KenoOffice.create(journal, load_game(source), read_local_time, source=str(source), **terms)
        echo(
            f"{folder}: the Keno office of {office.opening_record.casino} is open for {office.opening_record.game_id}"
        )


@command.command()
@FOLDER_ARGUMENT
@click.argument("selections", nargs=-1, required=True)
@click.option("--draws", type=WholeNumber(min=1), default=1, show_default=True, help="The number of draws.")
@click.option("--bonus", "bonuses", multiple=True, help="The id of a bonus to buy; repeat for more.")
@click.option(
    "--station", type=PrintedText(40), default="1", show_default=True, help="The desk that sells the ticket."
)
@LANGUAGE_OPTION
@click.option("--unpaid", is_flag=True, help="The player has not paid the price yet; `pay` records it later.")
@click.option("--json", "as_json", is_flag=True, help="Print the central record as JSON.")
def sell(
    folder: Path,
    selections: Sequence[str],
    draws: int,
    bonuses: Sequence[str],
    station: str,
    language: str,
    *,
    unpaid: bool,
    as_json: bool,
) -> None:
    """Record a ticket for the next draws in FOLDER and print it.

    A selection is a list of numbers, "3,11,27", or groups of numbers with the stake on their combinations by
    count of spots: "3,11,27/42,80@3:1,5:2" stakes 1 on each combination of 3 spots and 2 on each of 5. "?8"
    is a quick pick of eight.
    """
    with open_office(folder) as office:
        request = build_ticket_request(
            selections, office.rules.definition.ticket_limits.stake_options, draws, bonuses
        )
        with start_generator(office).step() as random_source:
            ticket = office.sell(request, random_source, station=station, is_paid=not unpaid)
        _show_ticket(office, ticket, language, as_json=as_json)


@command.command("ticket")
@FOLDER_ARGUMENT
@NUMBER_ARGUMENT
@LANGUAGE_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print the central record as JSON.")
def ticket_(folder: Path, number: int, language: str, *, as_json: bool) -> None:
    """Print ticket NUMBER as recorded, with the results of its draws."""
    with open_office(folder) as office:
        _show_ticket(office, office.find_ticket(number), language, as_json=as_json)


def _show_ticket(office: KenoOffice, ticket: KenoTicketRecord, language: str, *, as_json: bool) -> None:
    """Print a ticket's lines, its state and the results of its draws; or its whole record as JSON."""
    if as_json:
        echo(json.dumps(ticket.to_json(), ensure_ascii=False))
        return
    format_money = partial(_format_money, office, language=language)
    lines = list_ticket_lines(office.rules.definition, ticket.printed_ticket, language, format_money)
    for _, label, text in lines:
        echo(f"{label}{SLIP_TEXTS[language]['colon']}{text}")
    for draw, decided_draw in sorted(ticket.decided_draws.items()):
        payment_text = "paid" if decided_draw.is_paid else "not paid"
        kind = "stake back" if decided_draw.is_refund else "prize"
        echo(
            f"draw {draw}: {kind} {format_money(decided_draw.credits)}"
            + (f", {payment_text}" if decided_draw.credits else "")
        )
    echo(f"state: {ticket.state.value.replace('_', ' ')}")


@command.command()
@FOLDER_ARGUMENT
@NUMBER_ARGUMENT
def pay(folder: Path, number: int) -> None:
    """Record that the player has paid the price of ticket NUMBER."""
    with open_office(folder) as office:
        office.pay(number)
        echo(f"ticket {number}: the price is paid")


@command.command()
@FOLDER_ARGUMENT
@NUMBER_ARGUMENT
def cancel(folder: Path, number: int) -> None:
    """Cancel ticket NUMBER before its first draw."""
    with open_office(folder) as office:
        echo(f"ticket {number}: cancelled; give back {_format_money(office, office.cancel(number))}")


@command.command()
@FOLDER_ARGUMENT
def close(folder: Path) -> None:
    """Close the sales of the next draw; tickets for it whose price is not paid become void."""
    with open_office(folder) as office:
        echo(f"draw {office.close_sales()}: sales are closed")


@command.command()
@FOLDER_ARGUMENT
@add_format_options
def draw(folder: Path, *, output_format: OutputFormat) -> None:
    """Hold the draw whose sales are closed: print its numbers in order, and what each winning ticket won."""
    with open_office(folder) as office:
        with start_generator(office).step() as random_source:
            result = office.conduct_draw(random_source)
        factors = (
            {"factors": dict(result.drawn_balls.factor_by_bonus_id)}
            if result.drawn_balls.factor_by_bonus_id
            else {}
        )
        draw_data: Mapping[str, Json] = {
            "draw": result.number,
            "numbers": list(result.drawn_balls.balls),
            **factors,
            "prizes": {str(number): credits_ for number, credits_ in result.prize_credits_by_ticket.items()},
        }
        rows = [
            (ticket_number, credits_, credits_ * office.opening_record.unit_cents)
            for ticket_number, credits_ in result.prize_credits_by_ticket.items()
        ]
        balls_text = " ".join(f"{ball:02d}" for ball in result.drawn_balls.balls)
        heading = f"draw {result.number}: {balls_text}" + "".join(
            f"; {name} x {factor}" for name, factor in result.drawn_balls.factor_by_bonus_id.items()
        )
        columns = (
            build_number_column("ticket"),
            build_number_column("credits"),
            build_number_column("cents"),
        )
        show(
            output_format,
            Table(columns, rows, empty_text="No ticket won."),
            document=draw_data,
            text_before=heading,
        )


@command.command()
@FOLDER_ARGUMENT
@click.option("--reason", type=REASON_TYPE, required=True, help="Why the draw cannot be held.")
def fail(folder: Path, reason: str) -> None:
    """Record that the draw whose sales are closed cannot be held; its stakes are returned."""
    with open_office(folder) as office:
        echo(f"draw {office.fail_draw(reason)}: not held; its stakes are owed to the holders")


@command.command()
@FOLDER_ARGUMENT
@click.argument("control_number")
@click.option("--place", type=PrintedText(), required=True, help="Where the ticket is presented.")
@click.option(
    "--condition",
    type=click.Choice([condition.value for condition in TicketCondition]),
    default=TicketCondition.INTACT.value,
    show_default=True,
    help="The condition of the paper.",
)
@click.option(
    "--says",
    "printed_values",
    multiple=True,
    metavar="KEY=VALUE",
    help="A value printed on the paper, to compare with the record; repeat for more.",
)
def claim(
    folder: Path, control_number: str, place: str, condition: str, printed_values: Sequence[str]
) -> None:
    """Pay the holder of the ticket with CONTROL_NUMBER every prize and refund that is not paid yet."""
    presented = PresentedTicket(
        TicketCondition(condition),
        control_number.replace(" ", ""),
        dict(map(_parse_statement, printed_values)),
    )
    with open_office(folder) as office:
        payment = office.claim(presented, claim_place=place)
        draws_text = ("draw " if len(payment.draws) == 1 else "draws ") + ", ".join(map(str, payment.draws))
        echo(f"pay {_format_money(office, payment.credits)} for {draws_text}")
        for name in payment.differing_values:
            echo(f"the paper differs from the record in {name}: the record decides")


def _parse_statement(text: str) -> tuple[str, Json]:
    """Return key and value of ``key=value``.

    The value stays text if tickets print a text or a time under this key. Any other value is parsed as JSON, or
    left as text if it is not valid JSON.
    """
    key, equals_sign, value = text.partition("=")
    if not equals_sign:
        raise click.BadParameter(f"{text!r}: write it as KEY=VALUE", param_hint="--says")
    if key not in PRINTED_TYPE_BY_KEY:
        raise click.BadParameter(
            f"{key!r}: expected one of {', '.join(PRINTED_TYPE_BY_KEY)}", param_hint="--says"
        )
    if PRINTED_TYPE_BY_KEY[key] in {str, datetime}:
        return key, value
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


def _format_money(office: KenoOffice, credits_: int, language: str = "en") -> str:
    """Return an amount of credits in the office's currency."""
    return Texts(language).format_money(
        credits_ * office.opening_record.unit_cents, office.opening_record.currency
    )


@command.command()
@FOLDER_ARGUMENT
def expire(folder: Path) -> None:
    """End every claim whose period is over; remove its ticket and all void or cancelled ones from the ticket list."""
    with open_office(folder) as office:
        unclaimed_credits_by_ticket = office.expire()
        amount_text = _format_money(office, sum(unclaimed_credits_by_ticket.values()))
        echo(f"tickets removed from the list: {len(unclaimed_credits_by_ticket)}; not claimed: {amount_text}")


@command.command()
@FOLDER_ARGUMENT
def verify(folder: Path) -> None:
    """Recompute every entry of the journal: draws, prizes, payments and accounts."""
    with open_office(folder) as office:
        findings = [*iter_findings(office.journal, office.game)]
        for finding in findings:
            echo(finding)
        office.compute_totals()
    if findings:
        raise click.ClickException(f"{folder}: {format_count(len(findings), 'difference')}")
    echo(f"{folder}: every entry is as recomputed")


@command.command()
@FOLDER_ARGUMENT
@add_format_options
def totals(folder: Path, *, output_format: OutputFormat) -> None:
    """Print the totals of tickets, draws and amounts; the accounts are compared with all tickets."""
    with open_office(folder) as office:
        office_totals = office.compute_totals()
        rows = [(name, getattr(office_totals, name)) for name in type(office_totals).__slots__]
        show(output_format, build_facts_table(rows), document=dict(rows))
