"""The results of a tournament, derived from the journals of its machines.

:mod:`egm.features.tournament.settlement` computes the prizes from them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from egm.features.tournament.entries import ENTRY_SOLD, ENTRY_VOIDED, PRIZE_PAID, RULES_INSTALLED, PrizePaid
from egm.features.tournament.rules import Tournament
from egm.features.tournament.standings import EntryResult, Results, ResultsError, RoundResult
from egm.play.keys import PlayKey
from egm.play.records.tournament_round import TournamentRound
from egm.record_codec import from_json
from meters import StoredEntry
from meters.recall import read_details

#: Endings that a round played at one machine may have before it is played again at another.
_REPEATABLE_ROUND_ENDINGS: Final = frozenset({"", "interrupted"})


class _EntrySale(NamedTuple):
    """The sale of a tournament entry: the participant's number, and the name of the journal that records the sale."""

    participant: str
    journal_name: str


@dataclass(frozen=True, slots=True)
class _RoundAttempt:
    """The last attempt at a round of a tournament entry at one machine: journal, record, time of the last change."""

    journal_name: str
    tournament_round: TournamentRound
    end_time: datetime


@dataclass(slots=True)
class _CollectedRecords:
    """The sales and rounds of one tournament, collected from the journals of its machines."""

    sale_by_entry: dict[int, _EntrySale] = field(default_factory=dict)
    """The sale of each entry that is not void, by the number of the entry."""
    void_entries: set[tuple[int, str]] = field(default_factory=set)
    """The entries that were declared void: pairs of the entry's number and its participant."""
    attempt_by_round_and_journal: dict[tuple[int, int, str, str], _RoundAttempt] = field(default_factory=dict)
    """The last attempt at each round at each machine, by entry, round, participant and journal's name."""
    serial_and_journal_by_machine: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The machines on which the rules were installed: serial number and journal's name, by operator's number."""


def derive_results(
    rules: Tournament,
    digest: str,
    journals: Mapping[str, Iterable[StoredEntry]],
    *,
    absent_machines: Collection[str] = (),
    renamed_entries: Collection[int] = (),
    ignored_rounds: Collection[tuple[int, int, str]] = (),
    absent_rounds: Collection[tuple[int, int]] = (),
    unused_entries: Collection[int] = (),
) -> Results:
    """Return a tournament's results, derived from the journals of its machines.

    Args:
        rules: The tournament's rules.
        digest: The SHA-256 of the rules file.
        journals: The entries of each machine's journal, by the journal's name in error messages.
        absent_machines: Operator's numbers of the machines in the rules that have no journal here.
        renamed_entries: Numbers of entries that were played under another participant's number than sold to.
        ignored_rounds: Rounds (entry, round, journal) that were started by mistake and do not count.
        absent_rounds: Rounds (entry, round) that were not played and count as failed.
        unused_entries: Entry numbers that were skipped at the sale.

    A round without a recorded end counts as interrupted. An entry that never played has failed its first round.
    Raises :class:`ResultsError` if a journal is missing, if two machines have the same number, if two machines recorded
    the same entry or round, if an entry was not sold, or was played under another participant's number or without its
    round before, if an entry number is missing, or if a correction changes nothing.
    """
    collected_records = _CollectedRecords()
    for journal_name, entries in journals.items():
        _collect_records(collected_records, digest, journal_name, entries)
    _require_all_machines(rules, collected_records, absent_machines)
    attempt_by_round: dict[tuple[int, int], _RoundAttempt] = {}
    entries_under_other_participant: set[int] = set()
    _drop_ignored_rounds(collected_records, ignored_rounds)
    for (number, round_number, participant, _), attempt in sorted(
        collected_records.attempt_by_round_and_journal.items()
    ):
        sale = collected_records.sale_by_entry.get(number)
        if (number, participant) in collected_records.void_entries and (
            sale is None or sale.participant != participant
        ):
            continue
        if sale is None:
            raise ResultsError(f"entry {number}: it was played, but no journal records its sale")
        if participant != sale.participant and number not in renamed_entries:
            raise ResultsError(
                f"entry {number}: it was sold to {sale.participant} at {sale.journal_name}, and"
                f" {attempt.journal_name} recorded round"
                f" {round_number} for {participant}; if that is the same participant, give --renamed {number}"
            )
        if participant != sale.participant:
            entries_under_other_participant.add(number)
        earlier_attempt = attempt_by_round.get((number, round_number))
        attempt_by_round[number, round_number] = (
            attempt if earlier_attempt is None else _choose_attempt(earlier_attempt, attempt)
        )
    if unneeded_numbers := sorted({*renamed_entries} - entries_under_other_participant):
        raise ResultsError(
            f"entry {unneeded_numbers[0]}: no machine recorded a participant other than its buyer: omit --renamed"
        )
    _check_rounds(collected_records, attempt_by_round, absent_rounds)
    _check_entry_numbers(collected_records, unused_entries)
    return Results(
        rules_sha256=digest,
        entries=tuple(
            _build_entry_result(attempt_by_round, number, sale.participant, absent_rounds)
            for number, sale in sorted(collected_records.sale_by_entry.items())
        ),
    )


def iter_paid_prizes(
    digest: str, journals: Mapping[str, Iterable[StoredEntry]]
) -> Iterator[tuple[str, PrizePaid]]:
    """Yield each prize that was paid in the tournament with the rules file ``digest`` (its SHA-256).

    Each item is the name of the journal that records the payment, and the record of the payment.
    """
    for journal_name, entries in journals.items():
        for entry in entries:
            if entry.kind == PRIZE_PAID.kind:
                record = from_json(PrizePaid, entry.record, f"{journal_name}: entry {entry.sequence}")
                if record.digest == digest:
                    yield journal_name, record


def _check_rounds(
    collected_records: _CollectedRecords,
    attempt_by_round: Mapping[tuple[int, int], _RoundAttempt],
    absent_rounds: Collection[tuple[int, int]],
) -> None:
    """Raise ResultsError if a tournament entry has a round without the round before it.

    Also raise it if a round in ``absent_rounds`` was played after all, or its entry was not sold.
    """
    for number, round_number in sorted(absent_rounds):
        if number not in collected_records.sale_by_entry:
            raise ResultsError(f"entry {number}: its sale is in none of the journals, or it is void")
        if (attempt := attempt_by_round.get((number, round_number))) is not None:
            raise ResultsError(
                f"entry {number}: {attempt.journal_name} recorded its round {round_number}: it is not absent"
            )
    known_rounds = {
        *attempt_by_round,
        *absent_rounds,
        *((number, 1) for number in collected_records.sale_by_entry if (number, 2) not in attempt_by_round),
    }
    for number, round_number in sorted(known_rounds):
        if round_number > 1 and (number, round_number - 1) not in known_rounds:
            missing_round = (
                f"entry {number}: round {round_number - 1} is in none of the journals,"
                f" but round {round_number} is"
            )
            if (attempt := attempt_by_round.get((number, round_number))) is None:
                raise ResultsError(f"{missing_round} absent; give --absent {number}:{round_number - 1} too")
            raise ResultsError(
                f"{missing_round}; if it did not play round {round_number - 1}, give --absent"
                f" {number}:{round_number - 1}; if round {round_number} was begun by mistake, give --ignore"
                f" {number}:{round_number}:{attempt.journal_name}"
            )


def _check_entry_numbers(collected_records: _CollectedRecords, unused_entries: Collection[int]) -> None:
    """Raise ResultsError if an entry number is missing.

    Every number below the highest one sold must be sold, void, or in ``unused_entries``.
    """
    last_number = max(collected_records.sale_by_entry, default=0)
    used_entries = {
        *collected_records.sale_by_entry,
        *(number for number, _ in collected_records.void_entries),
    }
    if unneeded_numbers := sorted(
        number for number in unused_entries if number in used_entries or number > last_number
    ):
        number = unneeded_numbers[0]
        reason = (
            f"entry {last_number} is the last one sold"
            if number > last_number
            else "a journal records its sale"
        )
        raise ResultsError(f"entry {number}: {reason}: it is not unused")
    missing_entry = next(
        (
            number
            for number in range(1, last_number)
            if number not in used_entries and number not in unused_entries
        ),
        None,
    )
    if missing_entry is not None:
        raise ResultsError(
            f"entry {missing_entry}: no journal records its sale, but entry {last_number} was sold; if its number "
            "was left"
            f" out and nobody paid a fee for it, give --unused {missing_entry}"
        )


def _require_all_machines(
    rules: Tournament, collected_records: _CollectedRecords, absent_machines: Collection[str]
) -> None:
    """Raise ResultsError if a machine in the rules has no journal and is not in ``absent_machines``."""
    listed_numbers = [machine.number for machine in rules.machines]
    if unlisted_machines := sorted({*absent_machines} - {*listed_numbers}):
        raise ResultsError(f"machine {unlisted_machines[0]}: it is not in the rules")
    if present_machines := sorted({*absent_machines} & {*collected_records.serial_and_journal_by_machine}):
        _, journal = collected_records.serial_and_journal_by_machine[present_machines[0]]
        raise ResultsError(f"machine {present_machines[0]}: it took part, because {journal} is its journal")
    missing_machines = [
        number
        for number in listed_numbers
        if number not in collected_records.serial_and_journal_by_machine and number not in absent_machines
    ]
    if missing_machines:
        raise ResultsError(
            f"no export of {', '.join(missing_machines)} with these rules was given, so their entries would be missing."
            f" For each machine that took no part, give --without: --without {' --without '.join(missing_machines)}"
        )


def _collect_records(
    collected_records: _CollectedRecords, digest: str, journal_name: str, entries: Iterable[StoredEntry]
) -> None:
    """Add the tournament's sales and rounds in one machine's journal to ``collected_records``."""
    is_this_tournament = False
    participant_by_sold_entry: dict[int, str] = {}
    for entry in entries:
        if not entry.kind.startswith("tournament."):
            continue
        record = read_details(entry)
        is_this_tournament = record.get("digest", digest if is_this_tournament else "") == digest
        if not is_this_tournament:
            continue
        if entry.kind == RULES_INSTALLED.kind:
            _store_machine(collected_records, record.get("number", ""), str(record["machine"]), journal_name)
        elif entry.kind == ENTRY_SOLD.kind:
            participant_by_sold_entry[record["entry"]] = record["participant"]
        elif entry.kind == ENTRY_VOIDED.kind:
            collected_records.void_entries.add(
                (record["entry"], participant_by_sold_entry.pop(record["entry"]))
            )
        for tournament_round in _iter_tournament_rounds(entry):
            attempt_key = (
                tournament_round.entry_number,
                tournament_round.round_number,
                tournament_round.participant_number,
                journal_name,
            )
            collected_records.attempt_by_round_and_journal[attempt_key] = _RoundAttempt(
                journal_name, tournament_round, entry.time_utc
            )
    for number, participant in participant_by_sold_entry.items():
        if number in collected_records.sale_by_entry:
            raise ResultsError(
                f"entry {number}: sold at {collected_records.sale_by_entry[number].journal_name} and at"
                f" {journal_name}; of one machine, give the last export only; of two machines, void one of the sales"
                " at its machine, and export that again"
            )
        collected_records.sale_by_entry[number] = _EntrySale(participant, journal_name)


def _store_machine(
    collected_records: _CollectedRecords, machine_number: str, serial: str, journal_name: str
) -> None:
    """Store which machine has an operator's number.

    Raises ResultsError if a machine with another serial number has the same operator's number.
    """
    other_serial, other_journal = collected_records.serial_and_journal_by_machine.setdefault(
        machine_number, (serial, journal_name)
    )
    if other_serial != serial:
        raise ResultsError(
            f"machine {machine_number}: {other_journal} is of the machine with the serial number {other_serial}, and"
            f" {journal_name} of the one with {serial}; give only the export of the machine that bears the number"
        )


def _drop_ignored_rounds(
    collected_records: _CollectedRecords, ignored_rounds: Collection[tuple[int, int, str]]
) -> None:
    """Remove the rounds (entry, round, journal) that were started by mistake.

    Raises ResultsError if no journal records such a round.
    """
    for number, round_number, journal_name in ignored_rounds:
        keys = [
            (entry_number, attempt_round, participant, journal)
            for entry_number, attempt_round, participant, journal in collected_records.attempt_by_round_and_journal
            if (entry_number, attempt_round, journal) == (number, round_number, journal_name)
        ]
        if not keys:
            raise ResultsError(f"entry {number}: {journal_name} has no round {round_number} of it to ignore")
        for key in keys:
            del collected_records.attempt_by_round_and_journal[key]


def _iter_tournament_rounds(entry: StoredEntry) -> Iterable[TournamentRound]:
    """Yield the record of a tournament round that a journal entry stores, if any."""
    for key, value in entry.state.items():
        if key.rpartition("/")[2] == PlayKey.TOURNAMENT_ROUND and value is not None:
            yield from_json(TournamentRound, value, f"entry {entry.sequence}, state.{key}")


def _choose_attempt(first_attempt: _RoundAttempt, second_attempt: _RoundAttempt) -> _RoundAttempt:
    """Return the attempt at a round that counts, of two: the one that was not interrupted.

    If both were interrupted, it is the later one. Raises ResultsError if neither was interrupted.
    """
    endings = {first_attempt.tournament_round.ending, second_attempt.tournament_round.ending}
    if endings <= _REPEATABLE_ROUND_ENDINGS:
        return max(first_attempt, second_attempt, key=lambda attempt: attempt.end_time)
    if _REPEATABLE_ROUND_ENDINGS.isdisjoint(endings):
        tournament_round = first_attempt.tournament_round
        raise ResultsError(
            f"entry {tournament_round.entry_number}: round {tournament_round.round_number}: it ended at"
            f" {first_attempt.journal_name} and at {second_attempt.journal_name}; if one was started by mistake, give"
            f" --ignore {tournament_round.entry_number}:{tournament_round.round_number}:EXPORT"
        )
    return (
        first_attempt
        if first_attempt.tournament_round.ending not in _REPEATABLE_ROUND_ENDINGS
        else second_attempt
    )


def _build_entry_result(
    attempt_by_round: Mapping[tuple[int, int], _RoundAttempt],
    entry_number: int,
    participant: str,
    absent_rounds: Collection[tuple[int, int]],
) -> EntryResult:
    """Return the result of one tournament entry: the results of its rounds, in order.

    A round without an attempt counts as failed, up to the last of ``absent_rounds``. The first round always counts.
    """
    failed_round = RoundResult(points=0, best_game=0, status="failed")
    rounds: list[RoundResult] = []
    while (
        (attempt := attempt_by_round.get((entry_number, len(rounds) + 1)))
        or (entry_number, len(rounds) + 1) in absent_rounds
        or not rounds
    ):
        rounds.append(failed_round if attempt is None else _build_round_result(attempt.tournament_round))
    return EntryResult(entry=entry_number, participant=participant, rounds=tuple(rounds))


def _build_round_result(tournament_round: TournamentRound) -> RoundResult:
    """Return the result of a round from the record that was stored at its end."""
    return RoundResult(
        points=tournament_round.won_points,
        best_game=tournament_round.best_points,
        status=tournament_round.ending or "interrupted",
    )
