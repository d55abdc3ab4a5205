"""The replay of every game of a journal, also void ones, from its recorded draws, and the check of its money."""

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Final, TypeVar

from egm.errors import LocalError
from egm.features.memory_clear.records import CARRIED_STATE_KIND
from egm.integrity.entries import POWER_UP
from egm.integrity.keys import IntegrityKey
from egm.money.records.money import PrizeRecord
from egm.play.entries import (
    GAME_DOUBLE_UP,
    GAME_VOID,
    PRIZES_WON,
    DoubleUpStakes,
    GameEndWithHandpay,
    GameVoid,
    PrizesWon,
)
from egm.play.keys import PlayKey, WheelKey
from egm.play.records.game_record import DrawRecord, GameChoice, GameRecord, RecordedStep
from egm.play.records.wheel import WheelSpin
from egm.play.stepped_game import REPLAY_ERRORS, SteppedGame, can_win_without_draw, replay_game
from egm.play.void_rule import OpenGameState, find_reason_void_is_refused
from egm.progressive.pools import meets_prescribed_amounts
from egm.record_codec import RecordError, from_json
from egm.seats.entries import BETTING_CLOSED, WHEEL_NUMBER_RECEIVED
from meters import StoredEntry
from meters.entry import encode_canonical_json
from meters.recall import CARRIED_GAME_KIND, PLAY_END_KINDS, PLAY_PUSH_KIND, PLAY_START_KIND, PLAY_STEP_KINDS
from paytables import (
    WHEEL_DECISION_KIND,
    Choice,
    DefinitionError,
    Game,
    Outcome,
    PaytableError,
    ReplayDrawSource,
    Wager,
    list_shipped_games,
    load_game,
    play_through,
)
from tools.audit import prizes
from tools.audit.plain_games import GameSource, PlainRun
from tools.audit.records import read_record
from tools.audit.rounds import RoundAudit
from tools.audit.stakes import EndedGame, StakeAudit, list_stakes

RecordT = TypeVar("RecordT")

#: The beginning of a finding about an outcome that differs from the replayed one.
_OUTCOME_DIFFERS_FINDING: Final = "record.outcome differs from the one its recorded draws give"
#: Accounts that pay a game's win, without progressives and bonuses.
_WIN_SOURCE_ACCOUNTS: Final = ("house:win", "house:double_up_win", "house:attendant_jackpot")
#: The largest size of a definition's text that the journal may store, in bytes.
_DEFINITION_BYTES_MAX: Final = 4_000_000
_POWER_UP_KIND: Final = POWER_UP.kind
#: Kinds of a play's entries after its first one.
_GAME_ENTRY_KINDS_AFTER_START: Final = frozenset(
    {*PLAY_STEP_KINDS, *PLAY_END_KINDS, GAME_DOUBLE_UP.kind, PLAY_PUSH_KIND}
)
#: Kinds of entries whose dimensions must equal those of the play's first entry. The entry that declares a game void is
#: not one of them, because meters count a void game as no game.
_KINDS_WITH_DIMENSIONS_OF_START: Final = _GAME_ENTRY_KINDS_AFTER_START - {GAME_VOID.kind}


class GameFiles:
    """The files with the game definitions that an audit may use: the library's, and TOML files in other folders.

    The journal selects a definition by its digest. A game id in the journal that is not in the library, such as
    a file path, loads nothing.
    """

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._library_game_ids = frozenset(list_shipped_games())
        self._unread_paths = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
        self._game_by_digest: dict[str, Game] = {}
        self._unavailable_games: set[tuple[str, str]] = set()

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the game definition with the digest ``digest``, or None if no file has it.

        A file is loaded when it is first needed. A file that is not a valid game definition is skipped; the
        check that needs the definition reports it as missing.
        """
        game = self._game_by_digest.get(digest)
        if game is not None or (game_id, digest) in self._unavailable_games:
            return game
        if game_id in self._library_game_ids:
            self._load(game_id)
        while digest not in self._game_by_digest and self._unread_paths:
            self._load(self._unread_paths.pop(0))
        if digest not in self._game_by_digest:
            self._unavailable_games.add((game_id, digest))
        return self._game_by_digest.get(digest)

    def _load(self, game_id_or_path: str | Path) -> None:
        """Load a game definition of the library, or from a file; ignore one that is not valid."""
        with suppress(DefinitionError):
            game = load_game(game_id_or_path)
            self._game_by_digest[game.digest] = game


@dataclass(slots=True)
class _Play:
    """A game in the journal that has not ended yet, as far as the audit has read it."""

    start_entry: StoredEntry
    """The entry that starts the game."""
    start_record: GameRecord | None
    """The record of the start entry; None if it cannot be read."""
    steps: list[tuple[StoredEntry, GameChoice]] = field(default_factory=list)
    """Each later step of the game, such as a player's choice: its entry and decoded record."""

    @property
    def entries(self) -> tuple[StoredEntry, ...]:
        """Return the entries of the game's start and of its later steps read so far, in order."""
        return (self.start_entry, *(entry for entry, _ in self.steps))


class GameAudit:
    """The replay of the games of a journal, entry by entry.

    ``report_finding`` is called for each entry that differs from the replay.
    """

    def __init__(
        self,
        games: GameSource,
        report_finding: Callable[[StoredEntry, str], None],
        can_start_game: Callable[[int, str, Mapping[str, int]], bool] = lambda *_: True,
        read_memory: Callable[[str], object] = lambda _: None,
        add_notice: Callable[[StoredEntry, str], None] = lambda *_: None,
    ) -> None:
        """Create the audit.

        Args:
            games: The available game definitions.
            report_finding: Is called with an entry and the text of a finding about it.
            can_start_game: Returns whether a player position may start the game with this digest, with these bets
                (credits by spot).
            read_memory: Returns the value that the machine has stored under a key.
            add_notice: Is called with an entry and the text of a notice about it.
        """
        self._games = games
        self._report_finding = report_finding
        self._read_memory = read_memory
        self._add_notice = add_notice
        self._open_play_by_id: dict[str, _Play] = {}
        self._prize_lines_by_play_id: dict[str, list[tuple[StoredEntry, PrizesWon]]] = {}
        """The lines of the register of wins about prizes in kind, as entry and record, by play id."""
        self._latest_play_id_by_position: dict[int, str] = {}
        """The id of the most recently started game of each position, by position number."""
        self._double_up_stakes_by_play_id: dict[str, tuple[int, ...]] = {}
        """The double-up stakes of each open game in minor units, by play id."""
        self._rounds = RoundAudit(report_finding, can_start_game, add_notice)
        self._carried_spin: WheelSpin | None = None
        """The last spin of a physical wheel before a memory clear.

        A game after the clear may use the number of this spin.
        """
        self._stakes = StakeAudit(games, report_finding)
        self.replayed_game_count = 0
        self.void_game_count = 0

    @property
    def open_play_count(self) -> int:
        """Return the number of games that have not ended."""
        return len(self._open_play_by_id)

    def close(self) -> None:
        """At the end of the journal, check the games that are still open, and the last shared round.

        The steps of each open game are replayed. Each seat that has a bet in the last shared round but has
        started no game is reported.
        """
        self._rounds.close()
        for play in self._open_play_by_id.values():
            if play.start_record is not None:
                self._replay(play, play.start_record)

    def is_plain_run_allowed(self, run: PlainRun) -> bool:
        """Return whether a run of plain games may follow the entries checked so far.

        Plain games are ordinary games whose entries are checked together. No game may be open, no shared round may be
        starting, and the tables must be in the state from which the run starts.
        """
        return (
            not (self._open_play_by_id or self._double_up_stakes_by_play_id)
            and not self._rounds.is_round_starting
            and self._stakes.is_plain_run_allowed(run)
        )

    def add_plain_run(self, run: PlainRun) -> None:
        """Update the audit with a run of plain games (ordinary games), as if their entries had been checked singly."""
        self._latest_play_id_by_position[1] = run.last_play_id
        self.replayed_game_count += run.game_count
        self._stakes.add_plain_run(run)

    def check_entry(self, entry: StoredEntry) -> GameRecord | None:
        """Check one journal entry; return the record of the game that it starts, or None."""
        kind = entry.transaction.kind
        if kind in _GAME_ENTRY_KINDS_AFTER_START:
            self._rounds.report_seats_not_started()
        start_record = self._check_entry(entry, kind)
        self._stakes.check_entry(entry)
        if kind == BETTING_CLOSED.kind and (spin := self._read_record(entry, WheelSpin)) is not None:
            self._rounds.record_betting_closed(spin.round_id)
        elif kind == WHEEL_NUMBER_RECEIVED.kind and (spin := self._read_record(entry, WheelSpin)) is not None:
            self._rounds.record_winning_number(spin.round_id, spin.winning_number)
        elif kind == _POWER_UP_KIND:
            self._rounds.drop_starting_round()
        elif kind == CARRIED_STATE_KIND and (spin_data := entry.transaction.state.get(WheelKey.LAST_SPIN)):
            self._carried_spin = from_json(
                WheelSpin, spin_data, f"entry {entry.sequence}, {entry.transaction.kind}"
            )
        self._rounds.process_entry_after_start(entry)
        return start_record

    def _check_entry(self, entry: StoredEntry, kind: str) -> GameRecord | None:
        """Check one entry of a game against the replay; return the record of the game that it starts, or None."""
        if kind == PLAY_START_KIND:
            return self._start_play(entry)
        if kind in _KINDS_WITH_DIMENSIONS_OF_START:
            self._check_dimensions(entry)
        if kind in PLAY_STEP_KINDS:
            self._check_step(entry)
        elif kind in PLAY_END_KINDS:
            self._end_play(entry, kind)
        elif kind == CARRIED_GAME_KIND:
            return self._start_play(entry)
        elif kind == GAME_DOUBLE_UP.kind:
            if (double_up := self._read_record(entry, DoubleUpStakes)) is not None:
                self._double_up_stakes_by_play_id[double_up.play_id] = double_up.stakes_cents
        elif kind == PRIZES_WON.kind and (register_line := self._read_record(entry, PrizesWon)) is not None:
            self._prize_lines_by_play_id.setdefault(register_line.play_id, []).append((entry, register_line))
        return None

    def _check_dimensions(self, entry: StoredEntry) -> None:
        """Check that an entry of a game has the same dimensions as the game's first entry.

        The dimensions (game, paytable, denomination, wager level, position) say under which meters the entry's
        transfers and counts are added up.
        """
        play, dims = self._open_play_by_id.get(entry.id.rpartition(".")[0]), entry.transaction.dims
        is_metered = bool(entry.transfers or entry.counts)
        if play is None or not (is_metered or dims.keys() - {"position"}):
            return
        # If the machine has only one position, perhaps since a restart during the game, its entries name none.
        if {"position": 1, **dims} != {"position": 1, **play.start_entry.transaction.dims}:
            self._report_finding(
                entry,
                "dims differ from those of the play's first entry: expected "
                f"{dict(play.start_entry.transaction.dims)}, found {dict(dims)}",
            )

    def _read_record(self, entry: StoredEntry, record_class: type[RecordT]) -> RecordT | None:
        """Return the entry's record decoded as the class ``record_class``.

        If the record is not valid, report a finding and return None.
        """
        try:
            return read_record(entry, record_class)
        except RecordError as error:
            self._report_finding(entry, f"the record of the game cannot be read: {error}")
            return None

    def _start_play(self, entry: StoredEntry) -> GameRecord | None:
        """Check the entry that starts a game, and store the game as open.

        Return the entry's record, or None if the record is not valid. A carried-over game that has ended is not stored.
        """
        game_record = self._read_record(entry, GameRecord)
        # Carried over because a controller may still report on it.
        if game_record is not None and game_record.end_entry_kind:
            return game_record
        play_id = entry.id.rpartition(".")[0] if game_record is None else game_record.play_id
        if play_id in self._open_play_by_id:
            self._report_finding(entry, f"play {play_id} was already started and is still open")
        position = int(entry.transaction.dims.get("position", 1))
        previous_play_id = self._latest_play_id_by_position.get(position)
        if previous_play_id in self._open_play_by_id and previous_play_id != play_id:
            self._report_finding(
                entry, f"play {play_id} starts although play {previous_play_id} was never ended"
            )
        self._latest_play_id_by_position[position] = play_id
        self._open_play_by_id[play_id] = _Play(entry, game_record)
        if game_record is not None:
            self._stakes.check_game_start(entry, game_record)
        if game_record is None or not self._rounds.is_in_starting_round(game_record):
            self._rounds.report_seats_not_started()
        if game_record is not None and game_record.round_id:
            self._rounds.check_game_start(entry, game_record, position)
        elif game_record is not None and game_record.wager.seat is not None:
            self._report_finding(
                entry,
                f"record.wager names seat {game_record.wager.seat}, but record.round_id names no shared round",
            )
        return game_record

    def _check_wheel(
        self, entry: StoredEntry, start_record: GameRecord, step: RecordedStep | GameChoice
    ) -> None:
        """Check that a game records the number that the reader of the physical wheel reported for the game's round."""
        winning_number = self._find_winning_number(start_record)
        # the number of a carried-over game was reported in the previous journal
        if winning_number is None and entry.transaction.kind == CARRIED_GAME_KIND:
            return
        if winning_number is None or step.choice != str(winning_number):
            reported_text = "no number" if winning_number is None else f"{winning_number}"
            self._report_finding(
                entry,
                f"the recorded number is {step.choice}, but the wheel reported {reported_text} for this spin",
            )

    def _find_winning_number(self, start_record: GameRecord) -> int | None:
        """Return the number that a physical wheel reported for a game's round, or None.

        The report may be in this journal, or, after a memory clear, in the journal before the clear.
        """
        winning_number, carried_spin = (
            self._rounds.find_winning_number(start_record.round_id),
            self._carried_spin,
        )
        return (
            carried_spin.number_by_round_id.get(start_record.round_id)
            if winning_number is None and carried_spin is not None
            else winning_number
        )

    def _check_step(self, entry: StoredEntry) -> None:
        """Check one more step of an open game, such as a player's choice, and store it."""
        choice = self._read_record(entry, GameChoice)
        play_id = entry.id.rpartition(".")[0] if choice is None else choice.play_id
        play = self._open_play_by_id.get(play_id)
        if play is None:
            self._report_finding(entry, f"play {play_id} was not started")
        elif choice is None:
            play.start_record = None
        else:
            if play.start_record is not None:
                self._rounds.process_game_step(
                    entry, play.start_record, len(play.start_record.steps) + len(play.steps), choice
                )
                self._stakes.check_game_step(entry, play.start_record, choice)
            play.steps.append((entry, choice))

    def _end_play(self, entry: StoredEntry, kind: str) -> None:
        """Check the entry that ends a game, replay the game, and remove it from the open games."""
        end_record: GameVoid | GameEndWithHandpay | None
        end_record = (
            self._read_record(entry, GameVoid)
            if kind == GAME_VOID.kind
            else self._read_record(entry, GameEndWithHandpay)
        )
        play_id = entry.id.rpartition(".")[0] if end_record is None else end_record.play_id
        play = self._open_play_by_id.pop(play_id, None)
        if play is None:
            self._report_finding(entry, f"play {play_id} was not started")
            return
        step_count = len(play.steps) + (0 if play.start_record is None else len(play.start_record.steps))
        self._rounds.end_game(play_id, step_count, is_void=kind == GAME_VOID.kind)
        replayed_game = None if play.start_record is None else self._replay(play, play.start_record)
        if kind == GAME_VOID.kind:
            self.void_game_count += 1
        else:
            self.replayed_game_count += 1
        if isinstance(end_record, GameVoid) and play.start_record is not None:
            self._check_void(play, play.start_record, entry, end_record)
        elif (
            isinstance(end_record, GameEndWithHandpay)
            and play.start_record is not None
            and replayed_game is not None
        ):
            game, outcome = replayed_game
            if outcome is None:
                self._report_finding(
                    entry, f"the entry ends play {play_id}, which still waits for a decision"
                )
            else:
                self._check_end(play, play.start_record, EndedGame(game, outcome, entry, end_record))

    # ------------------------------------------------------------------ replay
    def _replay(self, play: _Play, start_record: GameRecord) -> tuple[Game, Outcome | None] | None:
        """Replay a game; return its definition and the replayed outcome.

        Return None if the definition is not available, or if the replay fails. The outcome is None while the game waits
        for a decision of the player. Every step whose record differs from the replay is reported.
        """
        entry, game_reference = play.start_entry, start_record.game_reference
        game = self._games.find(game_reference.id, game_reference.digest)
        if game is None:
            self._report_finding(
                entry,
                f"no definition available of game {game_reference.id} with digest {game_reference.digest[:12]}",
            )
            return None
        if (game_reference.id, game_reference.version) != (game.id, game.version):
            self._report_finding(
                entry,
                f"record.game: the digest belongs to {game.id} {game.version}, "
                f"found {game_reference.id} {game_reference.version}",
            )
        if start_record.wager.credits != start_record.bet_credits:
            self._report_finding(
                entry,
                f"{start_record.bet_credits} credits were bet, but the wager is {start_record.wager.credits}",
            )
        if start_record.denomination_cents not in game.denominations_cents:
            self._report_finding(
                entry,
                f"record.denomination_cents: expected one of {', '.join(map(str, game.denominations_cents))}, which "
                f"the game offers; found {start_record.denomination_cents}",
            )
        self._check_stored_definition(entry, game)
        try:
            game_at_table = game.with_table_state(start_record.table_state)
            if not _are_same_json(
                game_at_table.build_wager(start_record.wager.credits, **start_record.wager.options),
                start_record.wager,
            ):
                self._report_finding(
                    entry, f"the game does not accept the wager {start_record.wager.to_json()}"
                )
            if not meets_prescribed_amounts(
                game_at_table, start_record.wager, start_record.denomination_cents
            ):
                self._report_finding(
                    entry,
                    "record.wager: a side bet does not have its fixed amount at "
                    f"{start_record.denomination_cents} cents a credit: found {start_record.wager.to_json()}",
                )
            if not start_record.wager.credits and not game_at_table.rules.list_standing_bets():
                self._report_finding(
                    entry,
                    "record.wager stakes 0 credits, and no bet from an earlier game stands on the table",
                )
            if not play.steps and start_record.outcome is not None:
                return game, self._replay_recorded_steps(entry, start_record, game)
            return game, self._replay_step_by_step(play, start_record, game)
        except (PaytableError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            self._report_finding(entry, f"the game cannot be replayed from its recorded draws: {error}")
            return None

    def _replay_recorded_steps(
        self, entry: StoredEntry, start_record: GameRecord, game: Game
    ) -> Outcome | None:
        """Replay a game whose first entry records all its steps.

        Return the outcome, or None if the game waits for a decision of the player. If the draws cannot be replayed,
        report it and return the recorded outcome.
        """
        draws: list[DrawRecord] = []
        choices: list[Choice] = []
        for step in start_record.steps:
            draws += step.draws
            if step.choice is not None:
                choices.append(Choice(step.choice))
        draw = ReplayDrawSource(draws)
        try:
            outcome = play_through(
                game.with_table_state(start_record.table_state), start_record.wager, draw, choices
            )
            draw.check_all_numbers_used()
        except PaytableError as error:
            self._report_finding(entry, f"the game cannot be replayed from its recorded draws: {error}")
            return start_record.outcome
        if not _is_same_outcome(outcome, start_record.outcome):
            self._report_finding(
                entry,
                f"{_OUTCOME_DIFFERS_FINDING}: {_describe_outcome_difference(outcome, start_record.outcome)}",
            )
            return outcome
        return start_record.outcome  # the recorded one: its pay-row marks decide which stakes are returned

    def _replay_step_by_step(self, play: _Play, start_record: GameRecord, game: Game) -> Outcome | None:
        """Replay a game choice by choice, and compare each recorded step with the replay.

        Return the outcome, or None if the game waits for a decision of the player. If the draws of a step cannot
        be replayed, return the outcome that this step records.
        """
        stepped_game = SteppedGame(
            game, start_record.wager, start_record.table_state, completes_prompts=False
        )
        carried_step_count = len(start_record.steps)  # a carried-over game starts with all its steps
        steps: list[tuple[StoredEntry, RecordedStep | GameChoice, Outcome | None]] = [
            (play.start_entry, step, start_record.outcome if step_number == carried_step_count else None)
            for step_number, step in enumerate(start_record.steps, start=1)
        ]
        steps += [(entry, choice, choice.outcome) for entry, choice in play.steps]
        for step_number, (entry, step, recorded_outcome) in enumerate(steps):
            if (
                step_number >= carried_step_count
                and entry.id != f"{start_record.play_id}.choice-{step_number}"
            ):
                self._report_finding(
                    entry, f"id: expected {start_record.play_id}.choice-{step_number}, found {entry.id}"
                )
            if isinstance(step, GameChoice):
                self._check_raise(entry, start_record, step, stepped_game)
            if stepped_game.decision is not None:
                self._rounds.check_who_decided(entry, start_record, step_number, step, stepped_game.decision)
            if stepped_game.decision is not None and stepped_game.decision.kind == WHEEL_DECISION_KIND:
                self._check_wheel(entry, start_record, step)
            try:
                draw = ReplayDrawSource(step.draws)
                stepped_game.advance(draw, None if step.choice is None else Choice(step.choice))
                draw.check_all_numbers_used()
            except (PaytableError, LocalError, StopIteration) as error:
                self._report_finding(entry, f"the game cannot be replayed from its recorded draws: {error}")
                return recorded_outcome
            if not _is_same_outcome(stepped_game.outcome, recorded_outcome):
                difference_text = _describe_outcome_difference(stepped_game.outcome, recorded_outcome)
                self._report_finding(entry, f"{_OUTCOME_DIFFERS_FINDING}: {difference_text}")
        _, _, recorded_outcome = steps[-1]  # preferred: its pay-row marks decide which stakes are returned
        return recorded_outcome if stepped_game.outcome == recorded_outcome else stepped_game.outcome

    def _check_raise(
        self, entry: StoredEntry, start_record: GameRecord, step: GameChoice, stepped_game: SteppedGame
    ) -> None:
        """Check that a player's choice adds exactly the stake that the game requires for this choice."""
        decision = stepped_game.decision
        expected_credits = 0 if decision is None else decision.get_added_credits(step.choice)
        moved_cents = sum(cents for _, cents in list_stakes((entry,), start_record))
        if (
            step.staked_credits != expected_credits
            or moved_cents != expected_credits * start_record.denomination_cents
        ):
            self._report_finding(
                entry,
                f"record.staked_credits: the choice costs {expected_credits} credits, but {step.staked_credits} are "
                f"recorded and {moved_cents} cents are moved",
            )

    def _check_stored_definition(self, start_entry: StoredEntry, game: Game) -> None:
        """Check that the definition which the entry stores, if any, is stored under the SHA-256 digest of its text."""
        state = start_entry.transaction.state
        stored_text = state.get(f"{PlayKey.GAME_DEFINITION}{game.digest}") if len(state) > 1 else None
        if stored_text is None:
            return
        try:
            text = zlib.decompressobj().decompress(base64.b85decode(str(stored_text)), _DEFINITION_BYTES_MAX)
        except (ValueError, zlib.error, binascii.Error) as error:
            self._report_finding(start_entry, f"the stored definition cannot be read: {error}")
            return
        if text != game.text.encode():
            self._report_finding(
                start_entry,
                f"the stored definition does not have the digest it is stored under, {game.digest}",
            )

    # ------------------------------------------------------------------ money
    def _check_end(
        self,
        play: _Play,
        start_record: GameRecord,
        ended_game: EndedGame,
    ) -> None:
        """Check that the entry that ends a game pays and records what the replayed outcome requires."""
        _, outcome, end_entry, end_record = ended_game
        transfers = end_entry.transaction.transfers
        due_cents = (outcome.returned_credits - outcome.push_credits) * start_record.denomination_cents
        paid_cents = sum([t.amount_cents for t in transfers if t.source in _WIN_SOURCE_ACCOUNTS])
        if not due_cents == paid_cents == end_record.win_cents:
            self._report_finding(
                end_entry,
                f"the win is {due_cents} cents, but {paid_cents} cents were paid and record.win_cents is "
                f"{end_record.win_cents}",
            )
        expected_stakes_cents = [
            stake * start_record.denomination_cents for stake in outcome.double_up_stakes
        ]
        recorded_stakes_cents = (
            list(self._double_up_stakes_by_play_id.pop(start_record.play_id, ()))
            if self._double_up_stakes_by_play_id
            else []
        )
        if expected_stakes_cents != recorded_stakes_cents:
            self._report_finding(
                end_entry,
                f"the stakes of the double-up do not match: expected {expected_stakes_cents} cents, found "
                f"{recorded_stakes_cents} recorded",
            )
        wrong_source = "house:win" if expected_stakes_cents else "house:double_up_win"
        if wrong_source in [t.source for t in transfers]:
            expected_source = "house:double_up_win" if expected_stakes_cents else "house:win"
            self._report_finding(
                end_entry, f"transfers: the win must be paid from {expected_source}, found {wrong_source}"
            )
        last_step: GameRecord | GameChoice = start_record
        if play.steps:
            _, last_step = play.steps[-1]
        self._stakes.check_game_end(play.entries, start_record, last_step, ended_game)
        prize_reservations = prizes.list_prize_reservations(end_entry) if transfers else []
        if outcome.merchandise or prize_reservations or end_record.prizes:
            self._check_prizes(ended_game, prize_reservations)

    def _check_prizes(self, ended_game: EndedGame, prize_reservations: list[prizes.TransferTriple]) -> None:
        """Check that the end of a game reserves and records exactly the prizes in kind that the game has won."""
        game, outcome, end_entry, end_record = ended_game
        won_prize_ids = outcome.merchandise
        prize_by_id = {prize.id: prize for prize in game.list_prizes_in_kind()}
        if (
            prizes.compute_due_prize_reservations(
                {name: prize.value_cents for name, prize in prize_by_id.items()}, won_prize_ids
            )
            != prize_reservations
        ):
            self._report_finding(
                end_entry,
                "transfers do not reserve the prizes in kind that the game won, "
                f"{list(won_prize_ids)}: found {prize_reservations}",
            )
        expected_prizes = tuple(
            PrizeRecord(
                id=name, names=dict(prize_by_id[name].names), value_cents=prize_by_id[name].value_cents
            )
            for name in won_prize_ids
        )
        if end_record.prizes != expected_prizes:
            self._report_finding(
                end_entry,
                f"record.prizes: expected {[prize.id for prize in expected_prizes]} with the names and values of the "
                f"definition, found {[prize.id for prize in end_record.prizes]}",
            )
        register_lines = self._prize_lines_by_play_id.pop(end_record.play_id, [])
        if [line.prizes for _, line in register_lines] != [(prize,) for prize in expected_prizes]:
            registered_prize_ids = [[prize.id for prize in line.prizes] for _, line in register_lines]
            self._report_finding(
                end_entry,
                f"the register of wins does not list each prize of the play once: expected {list(won_prize_ids)},"
                f" found {registered_prize_ids}",
            )
        if any(line.game_id != game.id for _, line in register_lines):
            first_entry, _ = register_lines[0]
            self._report_finding(
                first_entry,
                f"record.game: expected {game.id!r}, found {[line.game_id for _, line in register_lines]}",
            )

    def _check_void(
        self, play: _Play, start_record: GameRecord, end_entry: StoredEntry, void_record: GameVoid
    ) -> None:
        """Check a game that staff declared void.

        Staff must be allowed to do so, the right amount must be returned, and the record must be complete.
        """
        game = self._games.find(start_record.game_reference.id, start_record.game_reference.digest)
        game_record = reduce(GameRecord.with_step, (choice for _, choice in play.steps), start_record)
        stepped_game = None
        if game is not None:
            with suppress(*REPLAY_ERRORS):
                stepped_game = replay_game(game, game_record)
        self._stakes.check_void(play.entries, start_record, stepped_game, end_entry, void_record)
        winning_number = self._find_winning_number(start_record) if start_record.round_id else None
        open_game = OpenGameState(
            is_decided=game_record.outcome is not None,
            can_be_replayed=stepped_game is not None,
            is_next_step_recorded=winning_number is not None or self._rounds.is_behind_round(game_record),
            can_collect_win=game is not None
            and stepped_game is not None
            and can_win_without_draw(game, game_record),
            are_next_numbers_unavailable=self._read_memory(IntegrityKey.OUT_OF_SERVICE) is not None
            or _is_waiting_for_wheel(stepped_game),
            is_round_between_players=self._rounds.is_round_between_players(start_record),
            is_round_void=self._rounds.is_round_void(start_record),
        )
        if refusal_reason := find_reason_void_is_refused(void_record.void_reason, open_game):
            is_definition_stored = (
                self._read_memory(f"{PlayKey.GAME_DEFINITION}{start_record.game_reference.digest}")
                is not None
            )
            if open_game.is_decided or is_definition_stored:
                self._report_finding(end_entry, f"the play may not be void: {refusal_reason}")
            else:  # only journals written by earlier versions lack the definition
                self._add_notice(
                    end_entry,
                    f"the play is void, although {refusal_reason}; this is not a finding, because "
                    "the journal lacks the game's definition",
                )
        recorded_outcome, is_decided = (
            void_record.recorded_outcome,
            game_record.outcome is not None or winning_number is not None,
        )
        won_cents = None if game_record.outcome is None else game_record.returned_cents
        if (recorded_outcome.is_decided, recorded_outcome.returned_cents) != (is_decided, won_cents):
            self._report_finding(
                end_entry,
                f"record.recorded: expected decided {is_decided} and win_cents {won_cents}, which follow from the "
                f"entries of the play; found {recorded_outcome.is_decided} and {recorded_outcome.returned_cents}",
            )


def _are_same_json(first: Wager | Outcome, second: Wager | Outcome) -> bool:
    """Return whether two records have the same canonical JSON, in which the number 1 differs from true."""
    return encode_canonical_json(first.to_json()) == encode_canonical_json(second.to_json())


def _is_same_outcome(replayed_outcome: Outcome | None, recorded_outcome: Outcome | None) -> bool:
    """Return whether two outcomes are equal.

    ``recorded_outcome`` may lack the marks ``pays`` (this settlement is a prize of the pay table), which earlier
    versions did not record.
    """
    if replayed_outcome is None or recorded_outcome is None or replayed_outcome != recorded_outcome:
        return replayed_outcome is recorded_outcome
    return _are_same_json(_remove_pay_row_marks(replayed_outcome), _remove_pay_row_marks(recorded_outcome))


def _describe_outcome_difference(replayed_outcome: Outcome | None, recorded_outcome: Outcome | None) -> str:
    """Return the part of a finding's text that states the wins of both outcomes and the fields in which they differ."""
    if replayed_outcome is None or recorded_outcome is None:
        expected_text, found_text = (
            "none yet" if outcome is None else f"{outcome.returned_credits} credits"
            for outcome in (replayed_outcome, recorded_outcome)
        )
        return f"expected {expected_text}, found {found_text}"
    expected_json, recorded_json = replayed_outcome.to_json(), recorded_outcome.to_json()
    field_names = sorted(
        name
        for name in {*expected_json, *recorded_json}
        if expected_json.get(name) != recorded_json.get(name)
    )
    return (
        f"expected {replayed_outcome.returned_credits} credits, found {recorded_outcome.returned_credits} credits; "
        f"differing fields: {', '.join(field_names) or 'settlements'}"
    )


def _remove_pay_row_marks(outcome: Outcome) -> Outcome:
    """Return the outcome without the marks that say which of its settlements are prizes of the pay table.

    Earlier versions did not record these marks (``pays``).
    """
    return replace(
        outcome,
        settlements=tuple(
            replace(settlement, is_pay_table_prize=False) for settlement in outcome.settlements
        ),
    )


def _is_waiting_for_wheel(stepped_game: SteppedGame | None) -> bool:
    """Return whether the replayed game waits for the number of a physical wheel."""
    decision = None if stepped_game is None else stepped_game.decision
    return decision is not None and decision.kind == WHEEL_DECISION_KIND
