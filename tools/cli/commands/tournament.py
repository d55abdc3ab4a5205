"""``egm tournament``: the rules of a tournament, its results and its settlement (Québec by-law, ss. 123 to 127)."""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Final, TypedDict, Unpack

import click

from egm.clock import SystemClock
from egm.errors import OperatorError
from egm.features.tournament.entries import PrizePaid
from egm.features.tournament.example import format_example
from egm.features.tournament.notice import NOTICE_LANGUAGES, build_notice
from egm.features.tournament.prizes import compute_prizes, find_prize_inversion
from egm.features.tournament.results import derive_results, iter_paid_prizes
from egm.features.tournament.rules import Tournament, list_violations, read_rules
from egm.features.tournament.settlement import TournamentSettlement, compute_tournament_settlement
from egm.features.tournament.standings import Results, rank_participants_of_round, read_results
from egm.screen.text import apply_typography
from meters import JournalError, StoredEntry
from meters.export import ExportReader
from paytables.source import open_regular_file
from paytables.wording import format_count, format_percent
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli.day import DayParameter
from tools.cli.result_file import write_result
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, build_number_column, show
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber

#: An entry's or a round's number, as a person writes it.
_ENTRY_NUMBER_PATTERN: Final = re.compile(r"[1-9][0-9]{0,6}")
#: How many characters of a wrong argument an error message quotes.
_QUOTED_CHARACTERS_MAX: Final = 60
#: The type of an argument that names a file.
_FILE_TYPE = click.Path(dir_okay=False, path_type=Path)


def _read_rules(path: Path) -> Tournament:
    """Return the tournament rules in a file. Raises ClickException if the file is not valid."""
    try:
        return read_rules(path)
    except OperatorError as error:
        raise click.ClickException(str(error)) from None


def _read_lawful_rules(path: Path, today: datetime | None) -> Tournament:
    """Return the tournament rules in a file.

    Raises ClickException if they violate the by-law, naming all violations.
    """
    rules = _read_rules(path)
    if violations := list_violations(rules, _choose_day(today)):
        raise click.ClickException(
            "\n".join(f"tournament rules {path}: {violation}" for violation in violations)
        )
    return rules


def _choose_day(today: datetime | None) -> date:
    """Return the date given with ``--today``, or else today's."""
    return SystemClock().now().astimezone().date() if today is None else today.date()


#: The option for the date on which the rules are judged.
_today_option = click.option(
    "--today",
    metavar="YYYY-MM-DD",
    type=DayParameter(),
    help="The day of the check, YYYY-MM-DD; default: today, by this computer's clock.",
)


@click.group()
def command() -> None:
    """Write and check the rules of a tournament, print its public notice, derive its results and settle its prizes."""


@command.command()
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
def new(rules_file: Path) -> None:
    """Write an example rules file to RULES for editing, with the meaning of each key."""
    if rules_file.exists():
        raise click.ClickException(f"{rules_file} exists and was not changed")
    write_result(
        rules_file,
        format_example(),
        f"an example of tournament rules; try: egm tournament check {rules_file}",
    )


@command.command()
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@_today_option
def check(rules_file: Path, today: datetime | None) -> None:
    """Check the rules file RULES against the by-law, and print what the rules allow.

    Refused are missing or unknown keys, rules published less than a week before the start, prizes that may
    return less than 30 % of the fees, and machines that are not equal.
    """
    rules = _read_lawful_rules(rules_file, today)
    entry_terms = rules.entries
    echo(f"{rules.name.en}: the rules are complete.")
    entry_count_min = entry_terms.participants_min
    entry_count_max = entry_terms.participants_max * entry_terms.per_participant
    echo(
        f"At every number of entries from {entry_count_min} to {entry_count_max}, "
        "at least 30 % of the fees are returned."
    )
    for remark in _iter_prize_remarks(rules, entry_count_min, entry_count_max):
        echo(remark)
    publication_text = "not stated yet" if rules.publication_date is None else str(rules.publication_date)
    echo(f"Start: {rules.starts_at:%Y-%m-%d %H:%M}. Publication: {publication_text}.")
    if rules.starts_at.date() < _choose_day(today):
        echo("The start date has passed: machines can no longer enter this tournament.")


def _iter_prize_remarks(rules: Tournament, entries_min: int, entries_max: int) -> Iterator[str]:
    """Yield a sentence for each term of the prizes that is lawful but may be a mistake."""
    prize_plan, fee_cents = rules.prize_plan, rules.entries.fee_cents
    inversion = find_prize_inversion(prize_plan, fee_cents, entries_min=entries_min, entries_max=entries_max)
    if inversion is not None:
        yield (
            f"Remark: with {format_count(inversion.entry_count, 'entry', 'entries')}, rank {inversion.rank} wins"
            f" {format_count(inversion.prize_cents, 'cent')}, more than the {inversion.better_rank_prize_cents:,} of"
            f" rank {inversion.rank - 1}."
        )
    prizes_cents = sum(compute_prizes(prize_plan, entries_min * fee_cents, entries_min))
    if prizes_cents > entries_min * fee_cents:
        yield (
            f"Remark: with {format_count(entries_min, 'entry', 'entries')}, the prizes are"
            f" {format_count(prizes_cents, 'cent')}, more than the {entries_min * fee_cents:,} of the fees:"
            " the venue pays the difference."
        )


@command.command()
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@click.option(
    "--language",
    type=click.Choice(NOTICE_LANGUAGES),
    default="en",
    show_default=True,
    help="The language of the notice.",
)
@_today_option
def notice(rules_file: Path, language: str, today: datetime | None) -> None:
    """Print the public notice for the rules file RULES; unlawful rules are refused as by `check`."""
    echo(apply_typography(build_notice(_read_lawful_rules(rules_file, today), language), language), nl=False)


def _parse_round(text: str, pattern: str) -> tuple[int, int, str]:
    """Return the numbers of the entry and the round, and the export, in a text such as ``4:2:machine-a.jsonl``.

    ``pattern`` is ENTRY:ROUND or ENTRY:ROUND:EXPORT; for the first, the export is "". Raises ClickException if
    the text does not have this form.
    """
    parts = text.split(":", pattern.count(":"))
    if len(parts) != pattern.count(":") + 1 or not all(
        _ENTRY_NUMBER_PATTERN.fullmatch(part) for part in parts[:2]
    ):
        raise click.ClickException(f"{text[:_QUOTED_CHARACTERS_MAX]!r} is not {pattern}")
    entry_text, round_text, *export_texts = parts
    return int(entry_text), int(round_text), "".join(export_texts)


class _Corrections(TypedDict):
    """The corrections that staff make to the recorded data of a tournament, as the options state them."""

    absent_machines: tuple[str, ...]
    """The operator's numbers of the machines that took no part, so that no journal is given for them."""
    renamed_entries: tuple[int, ...]
    """The entries that were played under another participant's number than the buyer's."""
    ignored_rounds: tuple[str, ...]
    """The rounds that were started by mistake."""
    absent_rounds: tuple[str, ...]
    """The rounds that were not played and count as failed."""
    unused_entries: tuple[int, ...]
    """The entry numbers that were skipped when entries were sold."""


#: The options by which staff correct what the journals say of a tournament.
_CORRECTION_OPTIONS: Final = [
    click.option(
        "--without",
        "absent_machines",
        metavar="NUMBER",
        multiple=True,
        help="A machine of the rules that took no part, by its operator's number; repeat for more.",
    ),
    click.option(
        "--renamed",
        "renamed_entries",
        metavar="ENTRY",
        type=WholeNumber(min=1),
        multiple=True,
        help="An entry that was played under another participant than its buyer; repeat for more.",
    ),
    click.option(
        "--ignore",
        "ignored_rounds",
        metavar="ENTRY:ROUND:EXPORT",
        multiple=True,
        help="A round that was started by mistake; it counts for nothing; repeat for more.",
    ),
    click.option(
        "--absent",
        "absent_rounds",
        metavar="ENTRY:ROUND",
        multiple=True,
        help="A round that the entry did not play; it counts as failed; repeat for more.",
    ),
    click.option(
        "--unused",
        "unused_entries",
        metavar="ENTRY",
        type=WholeNumber(min=1),
        multiple=True,
        help="An entry number that was skipped when entries were sold; repeat for more.",
    ),
]


def _add_correction_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add to a command the options that correct the recorded data of a tournament."""
    for option in reversed(_CORRECTION_OPTIONS):
        function = option(function)
    return function


@command.command()
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@click.argument("results_file", metavar="RESULTS", type=_FILE_TYPE)
@click.argument("exports", metavar="EXPORT...", nargs=-1, required=True, type=_FILE_TYPE)
@_add_correction_options
def results(
    rules_file: Path, results_file: Path, exports: tuple[Path, ...], **corrections: Unpack[_Corrections]
) -> None:
    """Write RESULTS for `settle`, from the exported journals of every machine named in RULES.

    Each EXPORT (`egm audit export`) is verified first, as by `egm audit verify`; one with anything wrong is
    refused. The machines must have played with exactly this RULES file.
    """
    derived_results = _derive_results(_read_rules(rules_file), rules_file, exports, corrections)
    text = derived_results.model_dump_json(indent=2) + "\n"
    sold_text = format_count(len(derived_results.entries), "entry", "entries")
    write_result(results_file, text, f"{sold_text}; try: egm tournament settle {rules_file} {results_file}")


@command.command("standings")
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@click.argument("exports", metavar="EXPORT...", nargs=-1, required=True, type=_FILE_TYPE)
@click.option(
    "--round", "round_number", type=WholeNumber(min=1), default=1, show_default=True, help="The round."
)
@_add_correction_options
@add_format_options
def standings_(
    rules_file: Path,
    exports: tuple[Path, ...],
    round_number: int,
    *,
    output_format: OutputFormat,
    **corrections: Unpack[_Corrections],
) -> None:
    """Print the standings of a round and who goes on to the next one, from the exported journals of all machines.

    Participants with equal results go on together, so more may go on than the rules state.
    """
    rules = _read_rules(rules_file)
    derived_results = _derive_results(rules, rules_file, exports, corrections)
    try:
        ranked_standings, qualified_standings = rank_participants_of_round(
            rules, derived_results, round_number
        )
    except OperatorError as error:
        raise click.ClickException(str(error)) from None
    qualified_participants = {standing.participant for standing in qualified_standings}
    table = Table(
        (
            build_number_column("rank"),
            Column("participant"),
            build_number_column("entry"),
            build_number_column("points"),
            Column("goes on", "goes_on"),
        ),
        [
            (
                standing.rank,
                standing.participant,
                standing.entry_number,
                standing.points,
                "yes" if standing.participant in qualified_participants else "no",
            )
            for standing in ranked_standings
        ],
        empty_text="nobody has a rank",
    )
    is_last_round = round_number == len(rules.rounds)
    footer_text = (
        "This is the last round."
        if is_last_round
        else f"Round {round_number + 1}: {format_count(len(qualified_participants), 'participant')}."
    )
    show(
        output_format,
        table,
        document={"round": round_number, "standings": table.to_json_rows()},
        text_before=rules.name.en,
        text_after=footer_text,
    )


def _derive_results(
    rules: Tournament, rules_file: Path, exports: tuple[Path, ...], corrections: _Corrections
) -> Results:
    """Return the results of a tournament, computed from the verified journal exports of its machines.

    Raises ClickException if an export is invalid or does not fit the rules.
    """
    ignored_rounds = [_parse_round(text, "ENTRY:ROUND:EXPORT") for text in corrections["ignored_rounds"]]
    absent_rounds = [_parse_round(text, "ENTRY:ROUND")[:2] for text in corrections["absent_rounds"]]
    try:
        for path in exports:
            _verify_export(path)
        derived_results = derive_results(
            rules,
            rules.digest,
            {str(path): _iter_journal_entries(path) for path in exports},
            absent_machines=corrections["absent_machines"],
            renamed_entries=corrections["renamed_entries"],
            ignored_rounds=ignored_rounds,
            absent_rounds=absent_rounds,
            unused_entries=corrections["unused_entries"],
        )
    except (JournalError, OperatorError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if not derived_results.entries:
        raise click.ClickException(f"no entry of {rules_file} was sold in these journals")
    return derived_results


def _verify_export(path: Path) -> None:
    """Raise ClickException if the audit finds anything wrong in an exported journal."""
    with open_regular_file(path) as source:
        reader = ExportReader(source, str(path))
        header = reader.header
        auditor = Auditor(GameFiles())
        report = auditor.audit_entries(
            reader.iter_bodies(), expected_head=(header.sequence, header.head_hash)
        )
    findings = [f"entry {finding.sequence}: {finding.text}" for finding in report.findings]
    if reader.footer_error:
        findings.append(reader.footer_error)
    if auditor.public_key != header.public_key:
        findings.append("the key that signed the file is not the one the journal begins with")
    if findings:
        raise click.ClickException(f"{path}: {findings[0]}; see: egm audit verify {path}")


def _iter_journal_entries(path: Path) -> Iterator[StoredEntry]:
    """Yield the entries of an exported journal."""
    with open_regular_file(path) as source:
        yield from ExportReader(source, str(path)).iter_entries()


#: The option for the amount that the venue adds to the prizes.
_added_amount_option: Final = click.option(
    "--add",
    "added_cents",
    type=WholeNumber(min=0),
    default=0,
    help="Minor units that the venue adds to the prizes, shared equally by all ranks.",
)


def _compute_settlement(rules: Tournament, results_file: Path, added_cents: int) -> TournamentSettlement:
    """Return the settlement of a tournament: standings, prizes and refunds.

    ``added_cents`` is the money that the venue adds to the prizes. Raises ClickException if the results do
    not fit the rules, or if the prizes return too little of the fees.
    """
    try:
        settlement = compute_tournament_settlement(rules, read_results(results_file), added_cents)
    except OperatorError as error:
        raise click.ClickException(f"{error}") from None
    if settlement.shortfall_cents:
        raise click.ClickException(
            f"the prizes are {settlement.total_cents:,} of "
            f"{format_count(settlement.retained_fees_cents, 'cent')} of fees retained,"
            f" less than 30 % (s. 127): add at least {format_count(settlement.shortfall_cents, 'cent')}"
            f" (--add {settlement.added_cents + settlement.shortfall_cents})"
        )
    return settlement


@command.command("settle")
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@click.argument("results_file", metavar="RESULTS", type=_FILE_TYPE)
@_added_amount_option
@add_format_options
def settle_(rules_file: Path, results_file: Path, added_cents: int, *, output_format: OutputFormat) -> None:
    """Print standings and prizes of a tournament from its RULES and its RESULTS, a JSON file.

    RESULTS is {"entries": [{"entry": 1, "participant": "P-07", "rounds": [{"points": 120}]}]}, the entries
    numbered in the order of their sale, each with the rounds it played. A round also has "best_game", the most
    points won in one game, if it breaks ties, and "status" if it was "interrupted" or "failed".

    If the prizes return less than 30 % of the retained fees, nothing is settled, and the amount to add is stated.
    """
    rules = _read_rules(rules_file)
    settlement = _compute_settlement(rules, results_file, added_cents)
    table = Table(
        (
            build_number_column("rank"),
            Column("participant"),
            build_number_column("entry"),
            build_number_column("round"),
            build_number_column("points"),
            build_number_column("prize, cents", "prize_cents"),
        ),
        [
            (
                standing.rank,
                standing.participant,
                standing.entry_number,
                standing.round_number,
                standing.points,
                prize,
            )
            for standing, prize in settlement.list_standings_with_prizes()
        ],
        empty_text="nobody has a rank",
    )
    document = {**_list_totals(rules, settlement), "standings": table.to_json_rows()}
    show(
        output_format,
        table,
        document=document,
        text_before=rules.name.en,
        text_after="\n".join(_list_sentences(rules, settlement)),
    )


@command.command()
@click.argument("rules_file", metavar="RULES", type=_FILE_TYPE)
@click.argument("results_file", metavar="RESULTS", type=_FILE_TYPE)
@click.argument("exports", metavar="EXPORT...", nargs=-1, required=True, type=_FILE_TYPE)
@_added_amount_option
@add_format_options
def paid(
    rules_file: Path,
    results_file: Path,
    exports: tuple[Path, ...],
    added_cents: int,
    *,
    output_format: OutputFormat,
) -> None:
    """Compare the prizes that the machines recorded as paid with the prizes that `settle` states.

    Each EXPORT is verified first. The exit status is 1 if a prize was paid twice, in another amount, or to an
    entry that won none. A prize that is still owed is listed.
    """
    rules = _read_rules(rules_file)
    settlement = _compute_settlement(rules, results_file, added_cents)
    try:
        for path in exports:
            _verify_export(path)
        journals = {str(path): _iter_journal_entries(path) for path in exports}
        payments = list(iter_paid_prizes(rules.digest, journals))
    except (JournalError, OperatorError, OSError) as error:
        raise click.ClickException(str(error)) from None
    prize_by_entry = {
        (standing.entry_number, standing.participant): prize
        for standing, prize in settlement.list_standings_with_prizes()
        if prize
    }
    payments_by_entry: dict[tuple[int, str], list[tuple[str, PrizePaid]]] = {
        key: [] for key in prize_by_entry
    }
    for journal, prize_paid in payments:
        payments_by_entry.setdefault((prize_paid.entry_number, prize_paid.participant_number), []).append(
            (journal, prize_paid)
        )
    rows = []
    for (entry, participant), entry_payments in payments_by_entry.items():
        prize = prize_by_entry.get((entry, participant), 0)
        paid_cents = sum(payment.amount_cents for _, payment in entry_payments)
        status = (
            "paid"
            if paid_cents == prize and len(entry_payments) == 1
            else "wrong"
            if entry_payments
            else "owed"
        )
        journal_names = ", ".join(journal for journal, _ in entry_payments)
        rows.append((entry, participant, prize, paid_cents, status, journal_names))
    table = Table(
        (
            build_number_column("entry"),
            Column("participant"),
            build_number_column("prize, cents", "prize_cents"),
            build_number_column("paid, cents", "paid_cents"),
            Column("status"),
            Column("journal"),
        ),
        rows,
        empty_text="nobody has won a prize",
    )
    owed_cents = sum(prize_cents for _, _, prize_cents, _, status, _ in rows if status == "owed")
    show(
        output_format,
        table,
        document={"prizes": table.to_json_rows(), "owed_cents": owed_cents},
        text_before=rules.name.en,
        text_after=f"Still owed: {format_count(owed_cents, 'cent')} {rules.currency}.",
    )
    if wrong_entries := [str(entry) for entry, _, _, _, status, _ in rows if status == "wrong"]:
        raise click.ClickException(
            f"entry {', '.join(wrong_entries)}: paid twice, in another amount, or without having won a prize"
        )


def _list_totals(rules: Tournament, settlement: TournamentSettlement) -> dict[str, object]:
    """Return the amounts of a settlement as JSON data, in minor units."""
    returned_share = settlement.returned_share
    return {
        "tournament": rules.name.en,
        "currency": rules.currency,
        "cancelled": settlement.standings.is_cancelled,
        "entries": settlement.entry_count,
        "sold_cents": settlement.retained_fees_cents,
        "refunded_cents": settlement.refunded_cents,
        "refunded_entries": [*settlement.standings.refunded_entries],
        "excluded_entries": [*settlement.standings.excluded_entries],
        "added_cents": settlement.added_cents,
        "prizes_cents": settlement.total_cents,
        "returned_share": None if returned_share is None else str(returned_share),
    }


def _list_sentences(rules: Tournament, settlement: TournamentSettlement) -> list[str]:
    """Return sentences about the fees, the refunds and the share of the fees that the prizes return."""
    standings, currency = settlement.standings, rules.currency
    sentences = []
    if standings.is_cancelled:
        sentences.append(
            f"Cancelled: fewer than {rules.entries.participants_min} participants. Every fee is refunded."
        )
    elif not standings.participants:
        sentences.append("No entry has a rank. Every fee is refunded.")
    sentences.append(
        f"{format_count(settlement.entry_count, 'entry', 'entries')}; fees in minor units of {currency}:"
        f" {settlement.retained_fees_cents:,} retained, {settlement.refunded_cents:,} refunded."
    )
    for title, entry_numbers in (
        ("Refunded", standings.refunded_entries),
        ("Excluded", standings.excluded_entries),
    ):
        if entry_numbers:
            sentences.append(f"{title}: entry {', '.join(map(str, entry_numbers))}.")
    if settlement.added_cents:
        sentences.append(f"Added by the venue: {format_count(settlement.added_cents, 'cent')}.")
    if (returned_share := settlement.returned_share) is not None:
        sentences.append(
            f"Returned: {format_count(settlement.total_cents, 'cent')}, "
            f"{format_percent(returned_share)}% of the retained fees."
        )
    return sentences
