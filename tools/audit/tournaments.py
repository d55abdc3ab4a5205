"""The audit of tournaments: the rules, each tournament entry and round, and each game replayed from its draws.

While the machine is in a tournament, no meter of games for money may change.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from egm.errors import LocalError, OperatorError
from egm.features.tournament import entries
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import InstalledRules
from egm.features.tournament.rules import Tournament, find_listed_machine, list_violations, parse_rules
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.play.records.game_record import GameChoice, GameRecord, LastGame
from egm.play.records.tournament_round import TournamentRound
from egm.play.stepped_game import SteppedGame
from egm.record_codec import RecordError, from_json
from meters import StoredEntry
from paytables import Choice, PaytableError, ReplayDrawSource
from tools.audit.plain_games import GameSource
from tools.audit.records import read_record
from tools.audit.rules.facts import read_position
from tools.audit.rules.pattern import format_storage_key

#: Prefix of the kinds of entries about tournaments.
_TOURNAMENT_KIND_PREFIX: Final = "tournament."
#: The meters of games played for money, which must have the same values before and after a tournament.
_MONEY_GAME_METERS: Final = (
    "coin_in",
    "coin_out",
    "push",
    "double_up_bet",
    "double_up_won",
    "mach_progressive",
    "att_jackpot",
    "att_progressive",
    "games_played",
    "games_won",
    "games_lost",
    "games_pushed",
)


@dataclass(slots=True)
class _Play:
    """An open game that is played with tournament points, as recorded so far."""

    game_record: GameRecord
    can_be_replayed: bool = True
    """Whether every step so far could be replayed."""


@dataclass(slots=True)
class _Tournament:
    """The data of one tournament that the journal has recorded so far."""

    digest: str
    text: str
    """The text of the rules file."""
    number: str = ""
    """The operator's number of the machine; "" if the journal does not state it, as after a memory clear."""
    participant_by_entry_number: dict[int, str] = field(default_factory=dict)
    """The participant's number for each tournament entry sold, played or paid here, by entry number."""
    sold_entry_numbers: set[int] = field(default_factory=set)
    """The numbers of the tournament entries sold on this machine."""
    void_entry_numbers: set[int] = field(default_factory=set)
    """The numbers of the tournament entries that were declared void."""
    paid_entry_numbers: set[int] = field(default_factory=set)
    """The numbers of the tournament entries for which a prize was paid on this machine."""
    ending_by_entry_and_round: dict[tuple[int, int], str] = field(default_factory=dict)
    """How each round ended, by (number of the tournament entry, round number)."""

    @property
    def rules(self) -> Tournament:
        """Return the tournament's rules, parsed from the text of the rules file."""
        return parse_rules(self.text)

    @property
    def game_ids(self) -> frozenset[str]:
        """Return the ids of the tournament's games that this machine may play.

        If the machine's number is unknown, these are the games of all listed machines.
        """
        rules = self.rules
        own_machines = [
            machine for machine in rules.machines if machine.number == self.number
        ] or rules.machines
        return frozenset(machine.game or rules.game for machine in own_machines)


class TournamentAudit:
    """The check of the tournaments in a journal, entry by entry.

    ``report_finding`` is called for each journal entry that the tournament's rules do not allow.
    """

    def __init__(
        self,
        games: GameSource,
        report_finding: Callable[[StoredEntry, str], None],
        read_meters: Callable[[], Mapping[str, int]],
        read_memory: Callable[[str], object],
        add_notice: Callable[[StoredEntry, str], None] = lambda *_: None,
    ) -> None:
        """Create the audit.

        Args:
            games: The available game definitions.
            report_finding: Is called with a journal entry and the text of a finding about it.
            read_meters: Returns the meters after the entries checked so far.
            read_memory: Returns the value that the machine has stored under a key.
            add_notice: Is called with a journal entry and the text of a notice about it.
        """
        self._read_memory = read_memory
        self._add_notice = add_notice
        self._games = games
        self._report_finding = report_finding
        self._read_meters = read_meters
        self._tournament: _Tournament | None = None
        """The tournament whose rules are installed, or None."""
        self._tournament_by_digest: dict[str, _Tournament] = {}
        """Every tournament whose rules were installed so far, by the SHA-256 of the rules file.

        Rules may be installed again later.
        """
        self._meters_at_assignment: dict[str, int] | None = None
        """The meters of games for money when the machine entered the tournament; None outside a tournament."""
        self._round_by_position: dict[int, TournamentRound] = {}
        self._points_left: dict[int, int] = {}
        """The points left to play with at each position, by position number."""
        self._open_plays: dict[int, _Play] = {}
        self.replayed_game_count = 0

    def check_entry(self, entry: StoredEntry) -> None:
        """Check one journal entry about a tournament; other entries are ignored."""
        if not entry.kind.startswith(_TOURNAMENT_KIND_PREFIX):
            return
        try:
            self._check_by_kind(entry)
        except RecordError as error:
            self._report_finding(entry, f"the record of the tournament cannot be read: {error}")

    def _check_by_kind(self, entry: StoredEntry) -> None:
        """Check a journal entry about a tournament with the check for its kind."""
        if self._tournament is None:
            self._tournament = self._read_carried_rules()
        if entry.kind == entries.RULES_REMOVED.kind:
            self._tournament = None
        elif entry.kind == entries.MACHINE_ASSIGNED.kind:
            meters = self._read_meters()
            self._meters_at_assignment = {name: meters.get(name, 0) for name in _MONEY_GAME_METERS}
        elif entry.kind == entries.MACHINE_RELEASED.kind:
            self._compare_meters(entry)
        elif (check := self._record_class_and_check_by_kind.get(entry.kind)) is not None:
            record_class, check_record = check
            check_record(entry, read_record(entry, record_class))

    @property
    def _record_class_and_check_by_kind(
        self,
    ) -> Mapping[str, tuple[type[Any], Callable[[StoredEntry, Any], None]]]:
        """Return the record class and the check function for each kind of tournament entry."""
        return {
            entries.RULES_INSTALLED.kind: (entries.RulesInstalled, self._store_installed_tournament),
            entries.ENTRY_SOLD.kind: (entries.EntrySold, self._check_sale),
            entries.ENTRY_VOIDED.kind: (entries.EntryVoided, self._check_void_entry),
            entries.PRIZE_PAID.kind: (entries.PrizePaid, self._check_prize),
            entries.ROUND_STARTED.kind: (entries.RoundStarted, self._check_round_start),
            entries.ROUND_ENDED.kind: (entries.RoundEnded, self._check_round_end),
            entries.TOURNAMENT_GAME_START.kind: (GameRecord, self._check_game_start),
            entries.TOURNAMENT_GAME_CHOICE.kind: (GameChoice, self._check_game_choice),
            entries.TOURNAMENT_GAME_END.kind: (entries.PurseGameEnd, self._check_game_end),
            entries.TOURNAMENT_GAME_VOID.kind: (entries.PurseGameVoid, self._check_void_game),
        }

    # ------------------------------------------------------------------ rules and entries
    def _read_carried_rules(self) -> _Tournament | None:
        """Return the tournament whose rules a memory clear has carried over, or None."""
        stored_rules = self._read_memory(TournamentKey.INSTALLED_RULES)
        if stored_rules is None:
            return None
        installed_rules = from_json(InstalledRules, stored_rules, TournamentKey.INSTALLED_RULES)
        try:
            parse_rules(installed_rules.text)
        except OperatorError:  # already reported for the journal entry that installed them
            return None
        return self._tournament_by_digest.setdefault(
            installed_rules.digest, _Tournament(installed_rules.digest, installed_rules.text)
        )

    def _store_installed_tournament(self, entry: StoredEntry, record: entries.RulesInstalled) -> None:
        """Check newly installed tournament rules and store them.

        The digest must match the rules, and the by-law must allow the rules.
        """
        if hashlib.sha256(record.text.encode()).hexdigest() != record.digest:
            digest = hashlib.sha256(record.text.encode()).hexdigest()
            self._report_finding(
                entry,
                f"record.digest is not the SHA-256 of record.text: expected {digest}, found {record.digest}",
            )
        try:
            rules = parse_rules(record.text)
        except OperatorError as error:
            self._report_finding(entry, f"the rules are not valid: {error}")
            return
        if record.number and find_listed_machine(rules, record.number) is None:
            self._report_finding(entry, f"record.number: the rules do not list machine {record.number}")
        for violation in list_violations(rules, entry.time_utc.date()):
            self._report_finding(entry, f"the rules break the by-law: {violation}")
        self._tournament = self._tournament_by_digest.setdefault(
            record.digest, _Tournament(record.digest, record.text)
        )
        self._tournament.number = record.number

    def _compare_meters(self, entry: StoredEntry) -> None:
        """Check that no meter of games for money has changed since the machine entered the tournament."""
        meters_before, meters_now = self._meters_at_assignment, self._read_meters()
        self._meters_at_assignment = None
        for name, value in () if meters_before is None else meters_before.items():
            if meters_now.get(name, 0) != value:
                self._report_finding(
                    entry,
                    f"meter {name} changed from {value} to {meters_now.get(name, 0)} during the tournament; "
                    "play for points moves none",
                )

    def _check_sale(self, entry: StoredEntry, record: entries.EntrySold) -> None:
        """Check the sale of a tournament entry: once, for the fee in the rules, and within their participant limits."""
        tournament = self._tournament
        if tournament is None:
            return
        entry_terms = tournament.rules.entries
        if record.fee_cents != entry_terms.fee_cents:
            self._report_finding(
                entry,
                f"record.fee_cents: expected {entry_terms.fee_cents} by the rules, found {record.fee_cents}",
            )
        if record.entry_number in tournament.participant_by_entry_number:
            self._report_finding(
                entry,
                f"record.entry: tournament entry {record.entry_number} was already sold or played before this "
                "journal entry",
            )
        self._note_irregular_entry_number(entry, tournament, record.entry_number)
        tournament.participant_by_entry_number[record.entry_number] = record.participant_number
        tournament.sold_entry_numbers.add(record.entry_number)
        participants = [
            tournament.participant_by_entry_number[number]
            for number in tournament.sold_entry_numbers - tournament.void_entry_numbers
        ]
        if participants.count(record.participant_number) > entry_terms.per_participant:
            self._report_finding(
                entry,
                f"record.participant: {record.participant_number} has "
                f"{participants.count(record.participant_number)} entries, "
                f"but the rules allow {entry_terms.per_participant}",
            )
        if len({*participants}) > entry_terms.participants_max:
            self._report_finding(
                entry,
                f"{len({*participants})} participants have entries, but the rules allow {entry_terms.participants_max}",
            )

    def _note_irregular_entry_number(
        self, entry: StoredEntry, tournament: _Tournament, entry_number: int
    ) -> None:
        """Add a notice if a tournament entry was sold out of order, or numbers of tournament entries were skipped.

        All machines of a tournament number its entries in one series, in the order of sale; staff type the numbers.
        Skipped numbers are only noted if the tournament has one machine. Gaps between several machines are
        found when their journals are put together (:mod:`egm.features.tournament.results`).
        """
        last_number = max(tournament.sold_entry_numbers, default=0)
        if entry_number < last_number:
            self._add_notice(
                entry,
                f"record.entry: entry {entry_number} was sold after entry {last_number}: not in the order of sale",
            )
        elif entry_number > last_number + 1 and len(tournament.rules.machines) == 1:
            numbers_text = (
                f"entry {last_number + 1}"
                if entry_number == last_number + 2
                else f"entries {last_number + 1} to {entry_number - 1}"
            )
            self._add_notice(
                entry,
                f"record.entry: this journal records no sale of {numbers_text} before entry {entry_number}: "
                "ask where the fees of these entries are",
            )

    def _check_void_entry(self, entry: StoredEntry, record: entries.EntryVoided) -> None:
        """Check the tournament entry that staff declared void.

        This machine must have sold it to this participant, and the refund must be its fee.
        """
        tournament = self._tournament
        if tournament is None:
            return
        if record.entry_number not in tournament.sold_entry_numbers - tournament.void_entry_numbers:
            self._report_finding(
                entry,
                f"record.entry: entry {record.entry_number} was not sold on this machine, or was already void",
            )
        elif record.participant_number != tournament.participant_by_entry_number[record.entry_number]:
            self._report_finding(
                entry,
                f"record.participant: entry {record.entry_number} was sold to "
                f"{tournament.participant_by_entry_number[record.entry_number]}, found {record.participant_number}",
            )
        if record.fee_cents != tournament.rules.entries.fee_cents:
            self._report_finding(
                entry,
                f"record.fee_cents: expected the fee of the rules, {tournament.rules.entries.fee_cents}; "
                f"found {record.fee_cents}",
            )
        tournament.void_entry_numbers.add(record.entry_number)

    def _check_prize(self, entry: StoredEntry, record: entries.PrizePaid) -> None:
        """Check that the prize of a tournament entry is paid once, to its participant, and not to a void entry."""
        tournament = self._tournament
        if tournament is None:
            return
        if (
            record.entry_number in tournament.void_entry_numbers
            or record.entry_number in tournament.paid_entry_numbers
        ):
            reason = (
                "was void"
                if record.entry_number in tournament.void_entry_numbers
                else "had already received its prize"
            )
            self._report_finding(
                entry, f"record.entry: entry {record.entry_number} {reason} before this entry"
            )
        known_participant = tournament.participant_by_entry_number.setdefault(
            record.entry_number, record.participant_number
        )
        if known_participant != record.participant_number:
            self._report_finding(
                entry,
                f"record.participant: expected {known_participant}, who has the entry; found "
                f"{record.participant_number}",
            )
        tournament.paid_entry_numbers.add(record.entry_number)

    def _check_round_start(self, entry: StoredEntry, record: entries.RoundStarted) -> None:
        """Check that the rules allow this round of the tournament entry with these points.

        Also derive the record of the round that the journal entry must store.
        """
        tournament, position = self._tournament, read_position(entry)
        if tournament is None:
            return
        rules = tournament.rules
        if record.round_number > len(rules.rounds):
            self._report_finding(
                entry,
                f"record.round: expected 1 to {len(rules.rounds)} by the rules, found {record.round_number}",
            )
            return
        round_terms = rules.rounds[record.round_number - 1]
        if record.starting_points != round_terms.points:
            self._report_finding(
                entry,
                f"record.points: expected {round_terms.points} by the rules, found {record.starting_points}",
            )
        known_participant = tournament.participant_by_entry_number.setdefault(
            record.entry_number, record.participant_number
        )
        if (
            known_participant != record.participant_number
            or record.entry_number in tournament.void_entry_numbers
        ):
            validity_text = "void" if record.entry_number in tournament.void_entry_numbers else "valid"
            self._report_finding(
                entry,
                f"record.entry: expected a valid entry of {record.participant_number}; found entry "
                f"{record.entry_number}, which is {validity_text} and belongs to {known_participant}",
            )
        if any(
            tournament_round.entry_number == record.entry_number and not tournament_round.ending
            for tournament_round in self._round_by_position.values()
        ):
            self._report_finding(
                entry, f"record.entry: a position still plays a round of entry {record.entry_number}"
            )
        earlier_ending = tournament.ending_by_entry_and_round.get((record.entry_number, record.round_number))
        may_repeat = earlier_ending == "interrupted" and rules.interrupted_round_rule == "replay"
        if earlier_ending is not None and not may_repeat:
            self._report_finding(
                entry,
                f"record.round: round {record.round_number} of entry {record.entry_number} has already ended as "
                f"{earlier_ending}",
            )
        tournament_round = TournamentRound(
            entry_number=record.entry_number,
            participant_number=record.participant_number,
            round_number=record.round_number,
            bet_points=rules.machines[0].bet,
            games_max=round_terms.games or 0,
            round_minutes=round_terms.minutes or 0,
        )
        self._compare_round(entry, tournament_round)
        self._check_selection(entry, tournament)
        self._round_by_position[position], self._points_left[position] = (
            tournament_round,
            record.starting_points,
        )

    def _check_selection(self, entry: StoredEntry, tournament: _Tournament) -> None:
        """Check that at the start of a round the tournament's game, denomination and wager are selected."""
        listed_machine = tournament.rules.machines[0]
        selection = from_json(
            Selection,
            entry.state.get(format_storage_key(KernelKey.SELECTION, read_position(entry))),
            "state.selection",
        )
        if (
            selection.game_id not in tournament.game_ids
            or selection.denomination_cents != listed_machine.denomination_cents
            or selection.bet_credits not in {0, listed_machine.bet}
            or selection.options
        ):
            self._report_finding(
                entry,
                f"state.selection: expected a game of {sorted(tournament.game_ids)} with a credit of "
                f"{listed_machine.denomination_cents} and the wager {listed_machine.bet}; found {selection}",
            )

    def _check_game_terms(self, entry: StoredEntry, game_record: GameRecord) -> None:
        """Check that a game belongs to the tournament, has its denomination, and starts with the points left."""
        tournament, position = self._tournament, read_position(entry)
        if tournament is None:
            return
        cents_left = self._points_left.get(position, 0) * game_record.denomination_cents
        if position in self._points_left and game_record.credit_before_cents != cents_left:
            self._report_finding(
                entry,
                f"record.credit_before_cents: expected {cents_left}, the points left, "
                f"found {game_record.credit_before_cents}",
            )
        cents = tournament.rules.machines[0].denomination_cents
        if (
            game_record.game_reference.id not in tournament.game_ids
            or game_record.denomination_cents != cents
        ):
            self._report_finding(
                entry,
                f"record.game and record.denomination_cents: expected a game of {sorted(tournament.game_ids)} with a "
                f"credit of {cents}, found {game_record.game_reference.id} with {game_record.denomination_cents}",
            )

    def _check_round_end(self, entry: StoredEntry, record: entries.RoundEnded) -> None:
        """Check that the recorded result of a round equals the sums of its games.

        Persons and a reason must be recorded if and only if the round was not completed.
        """
        tournament, position = self._tournament, read_position(entry)
        tournament_round = self._round_by_position.get(position)
        if tournament_round is None:
            return
        derived_result = (
            tournament_round.entry_number,
            tournament_round.participant_number,
            tournament_round.round_number,
            tournament_round.won_points,
            tournament_round.best_points,
            tournament_round.games_played,
        )
        recorded_result = (
            record.entry_number,
            record.participant_number,
            record.round_number,
            record.won_points,
            record.best_game_points,
            record.games_played,
        )
        if recorded_result != derived_result:
            self._report_finding(
                entry,
                f"record: entry, participant, round, points, best_game and games: expected {derived_result}, found "
                f"{recorded_result}",
            )
        is_complete = record.status == "complete"
        if (is_complete and (record.persons or record.reason)) or (
            not is_complete and not (record.persons and record.reason)
        ):
            self._report_finding(
                entry,
                f"record: a round with status {record.status!r} has "
                f"{'no persons and no reason' if is_complete else 'persons and a reason'}; found "
                f"{list(record.persons)} and {record.reason!r}",
            )
        round_after = replace(tournament_round, ending=record.status, table_state=None)
        self._compare_round(entry, round_after)
        self._round_by_position[position] = round_after
        if tournament is not None:
            tournament.ending_by_entry_and_round[record.entry_number, record.round_number] = record.status

    # ------------------------------------------------------------------ games
    def _check_game_start(self, entry: StoredEntry, game_record: GameRecord) -> None:
        """Check a game's wager against the points and rules of the round, and replay its first step."""
        position = read_position(entry)
        tournament_round = self._round_by_position.get(position)
        self._check_game_terms(entry, game_record)
        self._add_points(position, -game_record.bet_credits)
        if tournament_round is not None:
            if (game_record.bet_credits, game_record.wager.credits, game_record.table_state) != (
                tournament_round.bet_points,
                tournament_round.bet_points,
                tournament_round.table_state,
            ):
                self._report_finding(
                    entry,
                    f"record: expected bet_credits and the wager's credits {tournament_round.bet_points}, and the "
                    f"table state {tournament_round.table_state}; found {game_record.bet_credits}, "
                    f"{game_record.wager.credits} and {game_record.table_state}",
                )
            if tournament_round.games_max and tournament_round.games_played >= tournament_round.games_max:
                self._report_finding(
                    entry,
                    f"the game is number {tournament_round.games_played + 1} of a round of "
                    f"{tournament_round.games_max} games",
                )
            self._round_by_position[position] = self._check_round_after_game_start(entry, tournament_round)
        self._open_plays[position] = play = _Play(game_record)
        self._replay(entry, play)

    def _add_points(self, position: int, points: int) -> None:
        """Add ``points`` to the points left at a position; a stake is negative.

        If the points left are unknown, do nothing.
        """
        if position in self._points_left:
            self._points_left[position] += points

    def _check_round_after_game_start(
        self, entry: StoredEntry, tournament_round: TournamentRound
    ) -> TournamentRound:
        """Check what a game start changes in the stored record of its round; return that record.

        The first game of a round with a time limit must set the time at which the round ends, and change nothing else.
        The start of any other game must not store the round.
        """
        stored_round = entry.state.get(format_storage_key("purse", read_position(entry)))
        if not tournament_round.round_minutes or tournament_round.round_end:
            if stored_round is not None:
                self._report_finding(
                    entry,
                    "state.purse: expected no change, because the time of the round already runs or is not limited",
                )
            return tournament_round
        recorded_round = (
            None if stored_round is None else from_json(TournamentRound, stored_round, "state.purse")
        )
        if (
            recorded_round is None
            or not recorded_round.round_end
            or replace(recorded_round, round_end="") != tournament_round
        ):
            self._report_finding(
                entry,
                f"state.purse: the first game of a round of {tournament_round.round_minutes} minutes must set only "
                f"`until`, found {recorded_round}",
            )
            return tournament_round
        return recorded_round

    def _check_game_choice(self, entry: StoredEntry, choice: GameChoice) -> None:
        """Replay a game with one more choice of the player, and check that it stakes exactly what the choice costs."""
        play = self._open_plays.get(read_position(entry))
        if play is None:
            return
        play.game_record = play.game_record.with_step(choice)
        self._add_points(read_position(entry), -choice.staked_credits)
        self._replay(entry, play, choice)

    def _replay(self, entry: StoredEntry, play: _Play, choice: GameChoice | None = None) -> None:
        """Replay a game up to its last recorded step, and compare the result with the record of that step.

        ``choice`` is the step's record, or None for the step that starts the game.
        """
        game_record = play.game_record
        game = (
            self._games.find(game_record.game_reference.id, game_record.game_reference.digest)
            if play.can_be_replayed
            else None
        )
        if game is None:
            if play.can_be_replayed:
                self._report_finding(
                    entry,
                    f"no definition available of game {game_record.game_reference.id} "
                    f"with digest {game_record.game_reference.digest[:12]}",
                )
            play.can_be_replayed = False
            return
        if choice is None and game_record.game_reference.version != game.version:
            self._report_finding(
                entry,
                f"record.game.version: expected {game.version!r}, found {game_record.game_reference.version!r}",
            )
        try:
            if (
                choice is None
                and game.with_table_state(game_record.table_state).build_wager(
                    game_record.wager.credits, **game_record.wager.options
                )
                != game_record.wager
            ):
                self._report_finding(
                    entry, f"the game does not accept the wager {game_record.wager.to_json()}"
                )
            stepped_game = SteppedGame(
                game, game_record.wager, game_record.table_state, completes_prompts=False
            )
            decision = None
            for step in game_record.steps:
                decision, draw = stepped_game.decision, ReplayDrawSource(step.draws)
                stepped_game.advance(draw, None if step.choice is None else Choice(step.choice))
                draw.check_all_numbers_used()
        except (PaytableError, LocalError, StopIteration, ValueError, TypeError) as error:
            self._report_finding(entry, f"the game cannot be replayed from its recorded draws: {error}")
            play.can_be_replayed = False
            return
        expected_points = (
            0 if decision is None or choice is None else decision.get_added_credits(choice.choice)
        )
        if choice is not None and choice.staked_credits != expected_points:
            self._report_finding(
                entry,
                f"record.staked_credits: the choice costs {expected_points} points, found {choice.staked_credits}",
            )
        if stepped_game.outcome != game_record.outcome:
            self._report_finding(entry, "record.outcome differs from the one its recorded draws give")

    def _check_game_end(self, entry: StoredEntry, record: entries.PurseGameEnd) -> None:
        """Check that the end of a game pays the points that its outcome wins, and derive the round to be stored."""
        position = read_position(entry)
        play, tournament_round = self._open_plays.pop(position, None), self._round_by_position.get(position)
        if play is None or tournament_round is None:
            return
        self.replayed_game_count += 1
        self._add_points(position, record.push_points)
        outcome = play.game_record.outcome
        if outcome is None:
            self._report_finding(
                entry, f"the entry ends play {record.play_id}, which still waits for a decision"
            )
            return
        won_points = outcome.returned_credits - outcome.push_credits
        if (record.won_points, record.push_points) != (won_points, outcome.push_credits):
            self._report_finding(
                entry,
                f"record.won_points and record.push_points: expected {won_points, outcome.push_credits}, "
                f"found {record.won_points, record.push_points}",
            )
        round_after = replace(
            tournament_round,
            games_played=tournament_round.games_played + 1,
            won_points=tournament_round.won_points + won_points,
            best_points=max(tournament_round.best_points, won_points),
            table_state=outcome.table_state,
            last_game=LastGame(
                play_id=record.play_id,
                paid_cents=outcome.returned_credits * play.game_record.denomination_cents,
            ),
        )
        self._compare_round(entry, round_after)
        self._round_by_position[position] = round_after

    def _check_void_game(self, entry: StoredEntry, record: entries.PurseGameVoid) -> None:
        """Check that a void game returns all its stakes, or none of them, and was not decided."""
        play = self._open_plays.pop(read_position(entry), None)
        if play is None:
            return
        self._add_points(read_position(entry), record.refund_points)
        staked_points = play.game_record.bet_credits + play.game_record.raised_credits
        if record.refund_points not in {0, staked_points}:
            self._report_finding(
                entry,
                f"record.refund_points: expected 0 or the stake, {staked_points}; found {record.refund_points}",
            )
        if play.game_record.outcome is not None and play.can_be_replayed:
            self._report_finding(entry, f"play {record.play_id} is decided and may not be void")

    def _compare_round(self, entry: StoredEntry, expected: TournamentRound) -> None:
        """Report a finding unless the journal entry stores exactly ``expected`` as the round of its position."""
        stored_round = entry.state.get(format_storage_key("purse", read_position(entry)))
        recorded_round = (
            None if stored_round is None else from_json(TournamentRound, stored_round, "state.purse")
        )
        if recorded_round != expected:
            self._report_finding(entry, f"state.purse: expected {expected}, found {recorded_round}")
