"""A tournament at a machine: sale and voiding of entries, payment of prizes, start and end of rounds.

With forms, staff put the machine into the tournament, sell entries, and give a position the points for a round of an
entry. A round ends by itself after its last game, when its time is over, or when the points do not cover another wager;
an open game is played to its end first. Staff may end a round earlier, as interrupted or failed. What this means for
the entry is decided when the tournament is settled (:mod:`egm.features.tournament.standings`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias

from egm.errors import InvariantError
from egm.features.tournament.entries import (
    ENTRY_SOLD,
    ENTRY_VOIDED,
    MACHINE_ASSIGNED,
    MACHINE_RELEASED,
    PRIZE_PAID,
    ROUND_ENDED,
    ROUND_STARTED,
    RULES_INSTALLED,
    EntrySold,
    EntryVoided,
    MachineAssigned,
    MachineReleased,
    PrizePaid,
    RoundEnded,
    RoundStarted,
)
from egm.features.tournament.events import (
    EntrySaleForm,
    EntryVoidForm,
    PrizePaymentForm,
    RoundEndForm,
    RoundStartForm,
)
from egm.features.tournament.games import are_points_used_up, purse_game_is_closed
from egm.features.tournament.installed import (
    build_tournament_mode,
    convert_venue_time_to_utc,
    find_machine_in_rules,
    find_reason_machine_is_unsuitable,
    has_tournament_ended,
    is_in_tournament,
    read_installed_digest,
    read_installed_rules,
    read_local_time,
    require_installed_rules,
)
from egm.features.tournament.keys import TournamentKey
from egm.kernel.events import Event
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.kernel.running_positions import RunningPositions
from egm.money.host_money import HostMoney
from egm.money.value_in import no_ticket_query_waits
from egm.play.keys import PlayKey
from egm.play.records.tournament_round import (
    RoundEnding,
    TournamentRound,
    find_last_round,
    find_open_round,
    name_points_account,
    name_won_points_account,
    read_playable_points,
)
from egm.record_codec import from_json
from egm.staff.events import are_texts_filled_in
from egm.staff.form import build_ruling_details, list_event_persons
from meters import Transfer
from meters.recall import read_details

#: The record of any journal entry about tournament entries, prizes or rounds.
_TournamentRecord: TypeAlias = EntrySold | EntryVoided | PrizePaid | RoundStarted | RoundEnded
#: Entry kind -> class of its record.
_RECORD_CLASS_BY_KIND: Final[Mapping[str, type[_TournamentRecord]]] = {
    ENTRY_SOLD.kind: EntrySold,
    ENTRY_VOIDED.kind: EntryVoided,
    PRIZE_PAID.kind: PrizePaid,
    ROUND_STARTED.kind: RoundStarted,
    ROUND_ENDED.kind: RoundEnded,
}


# ---------------------------------------------------------------------------------------------- reading the journal
@dataclass(slots=True)
class FirstInstallations:
    """Cache: for each rules file (SHA-256), the sequence number of the journal entry that first installed it.

    The number is 0 if the rules were first installed before a memory clear.
    """

    sequence_by_digest: dict[str, int] = field(default_factory=dict)


def iter_tournament_records(machine: PositionMachine) -> Iterator[_TournamentRecord]:
    """Yield the records of this machine's journal about entries and rounds of the tournament, in order.

    The search begins at the first installation of the rules, even if they were removed and installed again since.
    """
    digest = read_installed_digest(machine)
    sequence_by_digest = machine.component(FirstInstallations).sequence_by_digest
    if digest not in sequence_by_digest:  # the whole archive is searched
        installations = machine.journal.entries(RULES_INSTALLED.kind)
        sequence_by_digest[digest] = next(
            (
                installation.sequence
                for installation in installations
                if read_details(installation)["digest"] == digest
            ),
            0,
        )
    first_sequence = sequence_by_digest[digest]
    for entry in machine.journal.entries(tuple(_RECORD_CLASS_BY_KIND), after_sequence=first_sequence):
        record = from_json(
            _RECORD_CLASS_BY_KIND[entry.kind], entry.record, f"entry {entry.sequence}, {entry.kind}"
        )
        if record.digest == digest:
            yield record


def read_sold_entries(machine: PositionMachine) -> dict[int, EntrySold]:
    """Return the tournament entries that this machine has sold and that are not void, by entry number."""
    sale_by_entry_number: dict[int, EntrySold] = {}
    for record in iter_tournament_records(machine):
        if isinstance(record, EntrySold):
            sale_by_entry_number[record.entry_number] = record
        elif isinstance(record, EntryVoided):
            sale_by_entry_number.pop(record.entry_number, None)
    return sale_by_entry_number


def _read_round_endings(machine: PositionMachine, entry_number: int) -> dict[int, str]:
    """Return how each round of a tournament entry ended here (complete, interrupted, failed), by round number."""
    return {
        record.round_number: record.status
        for record in iter_tournament_records(machine)
        if isinstance(record, RoundEnded) and record.entry_number == entry_number
    }


def list_open_rounds(machine: PositionMachine) -> tuple[TournamentRound, ...]:
    """Return the record of each tournament round that is being played at a position."""
    positions = (
        replace(machine.position, number=number) for number in range(1, machine.position.position_count + 1)
    )
    names = (
        machine.storage_keys.build_stored_name(PlayKey.TOURNAMENT_ROUND, position) for position in positions
    )
    stored_rounds = (machine.journal.state(name) for name in names)
    rounds = [
        from_json(TournamentRound, data, PlayKey.TOURNAMENT_ROUND)
        for data in stored_rounds
        if data is not None
    ]
    return tuple(tournament_round for tournament_round in rounds if not tournament_round.ending)


# ---------------------------------------------------------------------------------------------- guards
def no_transfer_waits(machine: PositionMachine, event: Event) -> bool:
    """Return whether no position of the machine waits for a money transfer of a host or a reply about a ticket."""
    positions = [
        running_position.engine.machine
        for running_position in machine.component(RunningPositions).position_by_number.values()
    ]
    return all(_has_no_transfer(each, event) for each in (machine, *positions))


def _has_no_transfer(machine: PositionMachine, event: Event) -> bool:
    """Return whether this position does not wait for a money transfer of a host or a reply about a ticket."""
    money = machine.component(HostMoney)
    return (
        money.transfer_order is None and money.transfer_lock is None and no_ticket_query_waits(machine, event)
    )


def tournament_is_today(machine: PositionMachine, _: Event) -> bool:
    """Return whether the day of the tournament has started, and its stated end has not passed."""
    rules = read_installed_rules(machine)
    if rules is None:
        return False
    return read_local_time(machine).date() >= rules.starts_at.date() and not has_tournament_ended(
        machine, rules
    )


@refusal_code("tournament_is_over_or_unsold")
def rules_can_be_removed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the installed rules may be removed.

    They may be removed if the tournament is over, or if no valid entry was sold at this machine. Until the tournament
    ends, its rules are public (s. 125), and participants play by them, so they must stay installed. Rules that this
    version of the software does not accept may always be removed: no round can be played by them.
    """
    rules = read_installed_rules(machine)
    return rules is None or has_tournament_ended(machine, rules) or not read_sold_entries(machine)


@refusal_code("machine_fits_the_rules")
def installed_rules_describe_machine(machine: PositionMachine, _: Event) -> bool:
    """Return whether this machine still offers the game, the denomination and the wager in the installed rules."""
    rules = read_installed_rules(machine)
    return rules is not None and find_reason_machine_is_unsuitable(machine, rules) is None


def no_round_is_played(machine: PositionMachine, _: Event) -> bool:
    """Return whether no tournament round is being played at any position of the machine."""
    return not list_open_rounds(machine)


@refusal_code("position_is_free")
def position_plays_no_round(machine: PositionMachine, _: Event) -> bool:
    """Return whether no tournament round is being played at this position."""
    return find_open_round(machine) is None


def first_round_may_start(machine: PositionMachine, event: Event) -> bool:
    """Return whether the first round of a tournament entry may start at the time that the sale's form states.

    A later start is always possible. For a start now, the machine must be in the tournament and fit its rules, and
    this position must be free.
    """
    match event.read_payload(EntrySaleForm).first_round_start:
        case "later":
            return True
        case "here":
            is_ready = is_in_tournament(machine) and installed_rules_describe_machine(machine, event)
            return is_ready and position_plays_no_round(machine, event)
    return False


@refusal_code("entries_are_open")
def registration_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether participants can still register, by the rules."""
    rules = read_installed_rules(machine)
    return rules is not None and machine.timekeeper.now() <= convert_venue_time_to_utc(
        machine, rules.entries.closes_at
    )


@refusal_code("fee_is_the_published")
def fee_matches_rules(machine: PositionMachine, event: Event) -> bool:
    """Return whether the fee that the attendant states as received equals the fee in the rules."""
    rules = read_installed_rules(machine)
    return rules is not None and event.read_payload(EntrySaleForm).fee_cents == rules.entries.fee_cents


def entry_is_new(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form states a participant, and a number of a tournament entry that no record here has yet."""
    form = event.read_payload(EntrySaleForm)
    used_entries = {record.entry_number for record in iter_tournament_records(machine)}
    return (
        form.entry_number > 0
        and are_texts_filled_in(form.participant_number)
        and form.entry_number not in used_entries
    )


@refusal_code("participant_may_enter")
def participant_may_buy_entry(machine: PositionMachine, event: Event) -> bool:
    """Return whether the rules permit the participant another entry.

    Entries that other machines have sold are unknown here.
    """
    rules, participant_number = (
        read_installed_rules(machine),
        event.read_payload(EntrySaleForm).participant_number.strip(),
    )
    if rules is None:
        return False
    sold_participant_numbers = [sale.participant_number for sale in read_sold_entries(machine).values()]
    has_place_left = (
        participant_number in sold_participant_numbers
        or len({*sold_participant_numbers}) < rules.entries.participants_max
    )
    return (
        has_place_left and sold_participant_numbers.count(participant_number) < rules.entries.per_participant
    )


@refusal_code("round_may_begin")
def round_may_start(machine: PositionMachine, event: Event) -> bool:
    """Return whether the round of the entry in the form may be played at this machine now.

    Every record of the entry at this machine must state the same participant, and the entry must not be void. It must
    not be in play at another position, and no later round of it may have ended here. An interrupted round may be
    repeated if the rules say so. Entries and rounds of other machines are unknown here, so it is not checked that the
    round is the entry's next one.
    """
    rules, form = read_installed_rules(machine), event.read_payload(RoundStartForm)
    if (
        rules is None
        or not are_texts_filled_in(form.participant_number)
        or not 1 <= form.round_number <= len(rules.rounds)
    ):
        return False
    if form.entry_number <= 0 or any(
        tournament_round.entry_number == form.entry_number for tournament_round in list_open_rounds(machine)
    ):
        return False
    participants = {
        record.participant_number
        for record in iter_tournament_records(machine)
        if record.entry_number == form.entry_number
    }
    if participants - {form.participant_number.strip()} or form.entry_number in _list_void_entries(machine):
        return False
    endings = _read_round_endings(machine, form.entry_number)
    if endings and form.round_number < max(endings):
        return False
    ending = endings.get(form.round_number)
    return ending is None or (ending == "interrupted" and rules.interrupted_round_rule == "replay")


def _list_void_entries(machine: PositionMachine) -> set[int]:
    """Return the numbers of the tournament entries that were declared void at this machine."""
    return {
        record.entry_number for record in iter_tournament_records(machine) if isinstance(record, EntryVoided)
    }


@refusal_code("ending_is_stated")
def ending_and_reason_are_stated(_: PositionMachine, event: Event) -> bool:
    """Return whether the form states how the round ends (interrupted or failed), and the reason."""
    form = event.read_payload(RoundEndForm)
    return form.status is not None and are_texts_filled_in(form.reason)


@refusal_code("entry_may_be_void")
def entry_can_be_voided(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form states a reason, and its entry was sold here, is not void, and is not being played."""
    form = event.read_payload(EntryVoidForm)
    is_being_played = any(
        tournament_round.entry_number == form.entry_number for tournament_round in list_open_rounds(machine)
    )
    return (
        are_texts_filled_in(form.reason)
        and form.entry_number in read_sold_entries(machine)
        and not is_being_played
    )


def prize_may_be_paid(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form states a tournament entry, its participant and an amount.

    False if this machine has recorded the prize of that entry as paid, the entry as void, or another participant.
    """
    form = event.read_payload(PrizePaymentForm)
    if form.entry_number <= 0 or form.amount_cents <= 0 or not are_texts_filled_in(form.participant_number):
        return False
    records = [
        record for record in iter_tournament_records(machine) if record.entry_number == form.entry_number
    ]
    is_void_or_paid = any(isinstance(record, EntryVoided | PrizePaid) for record in records)
    return not is_void_or_paid and {record.participant_number for record in records} <= {
        form.participant_number.strip()
    }


def round_is_over(machine: PositionMachine, event: Event) -> bool:
    """Return whether the round at this position has ended by itself.

    A round ends after its last game, when its time is over, or when the points do not cover another game. A round with
    an open game has not ended.
    """
    tournament_round = find_open_round(machine)
    if tournament_round is None or not purse_game_is_closed(machine, event):
        return False
    return (
        bool(tournament_round.games_max and tournament_round.games_played >= tournament_round.games_max)
        or is_round_time_over(machine, tournament_round)
        or are_points_used_up(machine, tournament_round)
    )


def is_round_time_over(machine: PositionMachine, tournament_round: TournamentRound) -> bool:
    """Return whether the time limit of the round has passed; False for a round without a time limit."""
    return bool(
        tournament_round.round_end
    ) and machine.timekeeper.read_steady_time() >= datetime.fromisoformat(tournament_round.round_end)


@refusal_code("time_is_left")
def round_time_is_left(machine: PositionMachine, _: Event) -> bool:
    """Return whether the round at this position has no time limit, or its time limit has not passed.

    False if no round is being played.
    """
    tournament_round = find_open_round(machine)
    return tournament_round is not None and not is_round_time_over(machine, tournament_round)


# ---------------------------------------------------------------------------------------------- effects
def assign_machine(machine: PositionMachine, event: Event) -> None:
    """Assign the machine to the tournament, and record this in the journal."""
    mode = build_tournament_mode(machine)
    record = MachineAssigned(digest=mode.digest, persons=tuple(list_event_persons(machine, event)))
    machine.post(MACHINE_ASSIGNED, record, state={TournamentKey.TOURNAMENT_MODE: mode})


def release_machine(machine: PositionMachine, event: Event) -> None:
    """Release the machine from the tournament, and record this in the journal."""
    digest = read_installed_digest(machine)
    record = MachineReleased(digest=digest, persons=tuple(list_event_persons(machine, event)))
    machine.post(MACHINE_RELEASED, record, state={TournamentKey.TOURNAMENT_MODE: None})


def sell_entry(machine: PositionMachine, event: Event) -> None:
    """Record the sale of a tournament entry and its fee in the journal.

    If the first round of the entry starts at this machine at once, also give the position the points of that round.
    """
    form, (digest, rules) = event.read_payload(EntrySaleForm), require_installed_rules(machine)
    persons, participant_number = tuple(list_event_persons(machine, event)), form.participant_number.strip()
    machine.post(
        ENTRY_SOLD,
        EntrySold(
            digest=digest,
            entry_number=form.entry_number,
            participant_number=participant_number,
            fee_cents=rules.entries.fee_cents,
            persons=persons,
        ),
        transfers=(Transfer("fees:participants", "fees:sold", rules.entries.fee_cents),),
    )
    if form.first_round_start == "here":
        _post_round_start(machine, form.entry_number, participant_number, 1, persons)


def start_round(machine: PositionMachine, event: Event) -> None:
    """Give the position the points for the round of an entry that the form states."""
    form, persons = event.read_payload(RoundStartForm), tuple(list_event_persons(machine, event))
    _post_round_start(machine, form.entry_number, form.participant_number.strip(), form.round_number, persons)


def _post_round_start(
    machine: PositionMachine,
    entry_number: int,
    participant_number: str,
    round_number: int,
    persons: tuple[str, ...],
) -> None:
    """Record in the journal that a round starts: give the position its points, and select the tournament's game.

    ``round_number`` is the number of the round; ``persons`` are the people who started it.
    """
    digest, rules = require_installed_rules(machine)
    round_terms, machine_and_game = rules.rounds[round_number - 1], find_machine_in_rules(machine, rules)
    if machine_and_game is None:
        raise InvariantError("this machine is not in the rules of the tournament")
    listed_machine, game = machine_and_game
    selection = Selection(
        game_id=game.id,
        denomination_cents=listed_machine.denomination_cents,
        bet_credits=0 if game.rules.list_spots() else listed_machine.bet,
        language=machine.selection.language,
    )
    machine.post(
        ROUND_STARTED,
        RoundStarted(
            digest=digest,
            entry_number=entry_number,
            participant_number=participant_number,
            round_number=round_number,
            starting_points=round_terms.points,
            persons=persons,
        ),
        transfers=(
            Transfer("tournament:entry", name_points_account(machine.position.number), round_terms.points),
        ),
        state={
            PlayKey.TOURNAMENT_ROUND: TournamentRound(
                entry_number=entry_number,
                participant_number=participant_number,
                round_number=round_number,
                bet_points=listed_machine.bet,
                games_max=round_terms.games or 0,
                round_minutes=round_terms.minutes or 0,
            ),
            KernelKey.SELECTION: selection,
        },
    )


def end_finished_round(machine: PositionMachine, _: Event) -> None:
    """Record in the journal the result of a round that has ended by itself."""
    _post_round_end(machine, "complete", "", ())


def end_round(machine: PositionMachine, event: Event) -> None:
    """End the round early, as interrupted or failed, and record its result in the journal."""
    form = event.read_payload(RoundEndForm)
    persons = tuple(list_event_persons(machine, event))
    _post_round_end(machine, form.status or "interrupted", form.reason, persons)


def _post_round_end(
    machine: PositionMachine, status: RoundEnding, reason: str, persons: tuple[str, ...]
) -> None:
    """Record in the journal that a round ends: remove its unplayed points, and store its result."""
    tournament_round, digest = find_last_round(machine), read_installed_digest(machine)
    if tournament_round is None:
        raise InvariantError("a tournament round ended, but no record of it is stored")
    position_number = machine.position.number
    balances = (
        (name_points_account(position_number), read_playable_points(machine)),
        (
            name_won_points_account(position_number),
            machine.journal.available_cents(name_won_points_account(position_number)),
        ),
    )
    machine.post(
        ROUND_ENDED,
        RoundEnded(
            digest=digest,
            entry_number=tournament_round.entry_number,
            participant_number=tournament_round.participant_number,
            round_number=tournament_round.round_number,
            won_points=tournament_round.won_points,
            best_game_points=tournament_round.best_points,
            games_played=tournament_round.games_played,
            status=status,
            reason=reason,
            persons=persons,
        ),
        transfers=tuple(
            Transfer(account, "tournament:closed", points) for account, points in balances if points
        ),
        state={PlayKey.TOURNAMENT_ROUND: replace(tournament_round, ending=status, table_state=None)},
    )


def void_entry(machine: PositionMachine, event: Event) -> None:
    """Record in the journal that a tournament entry is void. Its fee is refunded at the desk."""
    form = event.read_payload(EntryVoidForm)
    sale = read_sold_entries(machine)[form.entry_number]
    machine.post(
        ENTRY_VOIDED,
        EntryVoided(
            digest=sale.digest,
            entry_number=sale.entry_number,
            participant_number=sale.participant_number,
            fee_cents=sale.fee_cents,
            **build_ruling_details(machine, event),
        ),
        transfers=(Transfer("fees:sold", "fees:participants", sale.fee_cents),),
    )


def record_prize_payment(machine: PositionMachine, event: Event) -> None:
    """Record in the journal that staff have handed over the prize of a tournament entry."""
    form = event.read_payload(PrizePaymentForm)
    machine.post(
        PRIZE_PAID,
        PrizePaid(
            digest=read_installed_digest(machine),
            entry_number=form.entry_number,
            participant_number=form.participant_number.strip(),
            amount_cents=form.amount_cents,
            persons=tuple(list_event_persons(machine, event)),
        ),
        transfers=(Transfer("fees:prizes", "fees:participants", form.amount_cents),),
    )
