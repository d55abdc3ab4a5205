"""The recomputation of stakes: what each game staked and returned, and the bets and table state that it left.

A game starts with the table state that the previous game left. The standing bets on that table and the game's
own stakes must each be decided by its settlements, returned, or left on the table.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeVar

from egm.errors import InvariantError
from egm.kernel.credits import divide_stakes_among_amounts
from egm.kernel.positions import Position
from egm.play.entries import GAME_PUSH, TABLE_BETS_RETURNED, GameEndWithHandpay, GamePush, GameVoid
from egm.play.keys import TableKey
from egm.play.records.game_record import (
    GameChoice,
    GameRecord,
    GameReference,
    SharedTableState,
    TableBetsReturned,
    TableRecord,
)
from egm.play.records.games import PUSH_ACCOUNT, WAGER_ACCOUNT
from egm.play.records.tables import (
    TableStateFields,
    extract_player_state,
    extract_shared_state,
    find_table_state_fields,
    have_bets_joined_last_round,
    join_table_state,
)
from egm.play.stepped_game import SteppedGame, list_settled_bets_of_open_game
from egm.play.void_rule import VoidReason
from egm.record_codec import RecordError, from_json, to_json
from meters import StoredEntry
from meters.entry import encode_canonical_json
from meters.recall import CARRIED_GAME_KIND
from meters.transaction import JSON
from paytables import Game, Outcome, Settlement
from tools.audit.plain_games import INITIAL_TABLE_STATE_JSON, GameSource, PlainRun
from tools.audit.records import read_record
from tools.audit.rules.pattern import format_storage_key

RecordT = TypeVar("RecordT")
#: Stakes as (credit account, amount in minor units) pairs.
StakesByAccount: TypeAlias = tuple[tuple[str, int], ...]


def list_stakes(entries: Iterable[StoredEntry], start_record: GameRecord) -> StakesByAccount:
    """Return each stake that the entries of a game transfer, as (credit account, amount in minor units).

    For a game that a memory clear carried over, the stakes that the game's record ``start_record`` states are included.
    """
    stakes: list[tuple[str, int]] = []
    for entry in entries:
        if entry.kind == CARRIED_GAME_KIND:
            stakes += start_record.stakes_by_account or ()
        stakes += [(t.source, t.amount_cents) for t in entry.transfers if t.target == WAGER_ACCOUNT]
    return tuple(stakes)


def _list_payments_from(entry: StoredEntry, source: str) -> StakesByAccount:
    """Return (target account, amount in minor units) for each transfer of the entry from the account ``source``."""
    return tuple((t.target, t.amount_cents) for t in entry.transfers if t.source == source)


class EndedGame(NamedTuple):
    """A game that the audit has replayed to its end, with the journal entry that ends it."""

    game: Game
    outcome: Outcome
    end_entry: StoredEntry
    """The entry that ends the game."""
    end_record: GameEndWithHandpay
    """The record of ``end_entry``; only the record of a win paid by hand can have prizes in kind."""


class StakeAudit:
    """Checks the stakes of games and the bets left on tables.

    ``report_finding`` is called for each entry whose stakes or table are wrong.
    """

    def __init__(self, games: GameSource, report_finding: Callable[[StoredEntry, str], None]) -> None:
        self._games = games
        self._report_finding = report_finding
        self._tables: dict[str, TableRecord] = {}
        """The last recorded state of each table of a position, by storage key."""
        self._shared_tables: dict[str, SharedTableState] = {}
        """The last recorded state that several positions share at one table, by digest of the game definition."""
        self._shared_table_before_round: dict[str, JSON] = {}
        """The shared table state before the latest round started, by digest of the game definition."""
        self._stake_return_entries: dict[str, StoredEntry] = {}
        """The entry that returned stakes, for each game that has done so and not ended yet, by play id."""

    def is_plain_run_allowed(self, run: PlainRun) -> bool:
        """Return whether the tables are in the state from which a run of plain games starts.

        Plain games are ordinary games whose entries are checked together. The tables must not be shared and must have
        no standing bets.
        """
        return not self._stake_return_entries and all(
            digest not in self._shared_tables
            and _encode_table(self._tables.get(_build_table_key(digest, 1))) == state.state_before
            for digest, state in run.table_states.items()
        )

    def add_plain_run(self, run: PlainRun) -> None:
        """Store the table states after a run of plain games."""
        for key, table in run.parse_stored_tables().items():
            self._tables.pop(key, None)
            if table is not None:
                self._tables[key] = from_json(TableRecord, table, key)

    # ------------------------------------------------------------------ between games
    def check_entry(self, entry: StoredEntry) -> None:
        """Check the stakes and tables that an entry records, and store what the checks of later entries need."""
        kind = entry.transaction.kind
        if kind == GAME_PUSH.kind:
            record = self._read_record(entry, GamePush)
            if record is not None:
                self._stake_return_entries[record.play_id] = entry
        elif kind == TABLE_BETS_RETURNED.kind:
            self._check_return_of_standing_bets(entry)
        for name, value in entry.state.items():
            if TableKey.TABLE_STATE in name:
                self._store_table(entry, name, value)
            elif name.startswith(TableKey.SHARED_STATE):
                with suppress(RecordError):  # the entry's rule reports what is wrong with it
                    self._shared_tables[name.removeprefix(TableKey.SHARED_STATE)] = from_json(
                        SharedTableState, value, name
                    )

    def _store_table(self, entry: StoredEntry, table_key: str, value: object) -> None:
        """Store the table that an entry records under the storage key ``table_key``.

        If the value is not valid, report a finding.
        """
        self._tables.pop(table_key, None)
        try:
            if value is not None:
                self._tables[table_key] = from_json(TableRecord, value, f"state.{table_key}")
        except RecordError as error:
            self._report_finding(entry, str(error))

    def _read_record(self, entry: StoredEntry, record_class: type[RecordT]) -> RecordT | None:
        """Return the entry's record decoded as the class ``record_class``.

        If it is not valid, report a finding and return None.
        """
        try:
            return read_record(entry, record_class)
        except RecordError as error:
            self._report_finding(entry, str(error))
            return None

    def _check_return_of_standing_bets(self, entry: StoredEntry) -> None:
        """Check the entry that returns standing bets when a player leaves a table or its game cannot continue.

        A player who leaves gets back only the bets that the rules allow, less a commission; the others stay.
        """
        record, position = self._read_record(entry, TableBetsReturned), _read_position(entry)
        if record is None:
            return
        table_key = _build_table_key(record.game_reference.digest, position)
        self._check_no_other_table_changed(entry, table_key)
        table = self._tables.get(table_key)
        if table is None:
            self._report_finding(
                entry,
                f"record.game: no bets stand on the table of {record.game_reference.id} before this entry",
            )
            return
        if (record.game_reference, record.denomination_cents) != (
            table.game_reference,
            table.denomination_cents,
        ):
            self._report_finding(
                entry,
                f"record.game and record.denomination_cents: the bets stand on {table.game_reference} at "
                f"{table.denomination_cents}, found {record.game_reference} at {record.denomination_cents}",
            )
        returned_cents, commission_cents, table_left = table.standing_bets_cents, 0, None
        if record.return_reason == "taken_down":
            game = self._games.find(record.game_reference.id, record.game_reference.digest)
            if game is None:
                self._report_finding(
                    entry,
                    f"no definition available of game {record.game_reference.id} "
                    f"with digest {record.game_reference.digest[:12]}",
                )
                return
            state_fields = self._find_state_fields(entry, record.game_reference)
            shared_record = self._shared_tables.get(record.game_reference.digest)
            shared_state = None if shared_record is None else shared_record.shared_state
            settlements, table_left = game.with_table_state(
                join_table_state(table.table_state, shared_state, state_fields)
            ).rules.take_down_standing_bets()
            table_left = extract_player_state(table_left, state_fields)
            returned_cents = sum(settlement.credits for settlement in settlements) * table.denomination_cents
            commission_cents = (
                sum(settlement.staked_credits for settlement in settlements) * table.denomination_cents
                - returned_cents
            )
        # in the machine's order: the part that the operator takes, the part left on the table, the part given back
        amounts_cents = (
            commission_cents,
            table.standing_bets_cents - returned_cents - commission_cents,
            returned_cents,
        )
        stake_parts = self._split_stakes(entry, table.standing_stakes, amounts_cents)
        _commission_stakes, standing_stakes, returned_stakes = stake_parts or ((), (), ())
        if (
            record.amount_cents != returned_cents
            or _list_payments_from(entry, PUSH_ACCOUNT) != returned_stakes
        ):
            self._report_finding(
                entry,
                f"record.amount_cents and the transfers: expected {returned_cents} cents returned as {returned_stakes},"
                f" found {record.amount_cents} returned as {_list_payments_from(entry, PUSH_ACCOUNT)}",
            )
        expected_table = (
            None if table_left is None else _build_table_record(table, table_left, standing_stakes)
        )
        self._compare_table(entry, table_key, expected_table)

    # ------------------------------------------------------------------ one game
    def check_game_start(self, entry: StoredEntry, game_record: GameRecord) -> None:
        """Check that a game starts from the table state and the denomination that the previous game left."""
        previous_table = self._tables.get(
            _build_table_key(game_record.game_reference.digest, _read_position(entry))
        )
        if entry.kind == CARRIED_GAME_KIND:
            return
        self._check_no_standing_bets_while_undecided(entry, game_record)
        expected_table = self._check_shared_table_at_start(
            entry, game_record, None if previous_table is None else previous_table.table_state
        )
        if game_record.table_state != expected_table:
            self._report_finding(
                entry,
                f"record.table: expected {expected_table!r}, left by the game before it; "
                f"found {game_record.table_state!r}",
            )
        if (
            previous_table is not None
            and previous_table.standing_stakes
            and previous_table.denomination_cents != game_record.denomination_cents
        ):
            denomination_before = previous_table.denomination_cents
            self._report_finding(
                entry,
                f"record.denomination_cents: bets from an earlier game stand at {denomination_before},"
                f" found {game_record.denomination_cents}",
            )

    def check_game_step(self, entry: StoredEntry, start_record: GameRecord, choice: GameChoice) -> None:
        """Check the shared table state that the entry of a game step stores.

        If the step decides the game and no other round has started since, the entry must store the state of the table
        after the round. In any other case the entry must store no shared state.
        """
        self._check_no_standing_bets_while_undecided(entry, choice)
        state_fields = self._find_state_fields(entry, start_record.game_reference)
        shared_table = self._shared_tables.get(start_record.game_reference.digest)
        expected_table = None
        if (
            state_fields.shared_fields
            and choice.outcome is not None
            and shared_table is not None
            and shared_table.round_id == _get_round_id(start_record)
        ):
            expected_table = SharedTableState(
                round_id=shared_table.round_id,
                shared_fields=state_fields.shared_fields,
                standing_bet_fields=state_fields.standing_bet_fields,
                shared_state=extract_shared_state(choice.outcome.table_state, state_fields),
            )
        self._check_shared_table_left(entry, start_record, expected_table)

    def _check_no_standing_bets_while_undecided(
        self, entry: StoredEntry, step: GameRecord | GameChoice
    ) -> None:
        """Report a finding if a step records standing bets before the game is decided."""
        if step.outcome is None and step.standing_credits:
            self._report_finding(
                entry,
                f"record.standing_credits: expected 0 while the game is undecided, found {step.standing_credits}",
            )

    def _check_shared_table_at_start(
        self, entry: StoredEntry, game_record: GameRecord, own_table: JSON
    ) -> JSON:
        """Check the start of a game at a shared table; return the table state from which it must start.

        Report a finding if the entry does not store the shared table state that follows from the game, or if the
        seat's standing bets were placed on a shared state (such as a point) that has changed since. If the game is
        the first of its round, store the shared table state before the round for the checks of the other games.
        """
        state_fields, digest = (
            self._find_state_fields(entry, game_record.game_reference),
            game_record.game_reference.digest,
        )
        expected_shared_table, shared_table = None, self._shared_tables.get(digest)
        if (
            state_fields.standing_bet_fields and not game_record.round_id
        ):  # this game is not part of a shared round
            self._check_shared_table_left(entry, game_record, None)
            return join_table_state(
                own_table, None if shared_table is None else shared_table.shared_state, state_fields
            )
        if state_fields.shared_fields:
            if shared_table is None or shared_table.round_id != _get_round_id(game_record):
                self._shared_table_before_round[digest] = (
                    None if shared_table is None else shared_table.shared_state
                )
            table_left = (
                game_record.table_state if game_record.outcome is None else game_record.outcome.table_state
            )
            expected_shared_table = SharedTableState(
                round_id=_get_round_id(game_record),
                shared_fields=state_fields.shared_fields,
                standing_bet_fields=state_fields.standing_bet_fields,
                shared_state=extract_shared_state(table_left, state_fields),
            )
        self._check_shared_table_left(entry, game_record, expected_shared_table)
        if not have_bets_joined_last_round(
            own_table, self._shared_table_before_round.get(digest), state_fields
        ):
            self._report_finding(
                entry,
                "record.table: the standing bets of this seat stand on a shared table state that has changed since",
            )
        return join_table_state(own_table, self._shared_table_before_round.get(digest), state_fields)

    def _check_shared_table_left(
        self, entry: StoredEntry, game_record: GameRecord, expected_table: SharedTableState | None
    ) -> None:
        """Report a finding unless the entry stores exactly ``expected_table`` as the shared table state.

        If ``expected_table`` is None, the entry must store none.
        """
        storage_key = f"{TableKey.SHARED_STATE}{game_record.game_reference.digest}"
        recorded_value = entry.state.get(storage_key)
        for key in entry.state:
            if key.startswith(TableKey.SHARED_STATE) and key != storage_key:
                self._report_finding(
                    entry,
                    f"state.{key}: the entry changes the shared table of another game; expected only {storage_key}",
                )
        if recorded_value != (None if expected_table is None else to_json(expected_table)):
            self._report_finding(
                entry, f"state.{storage_key}: expected {expected_table}, found {recorded_value}"
            )

    def _find_state_fields(self, entry: StoredEntry, game_reference: GameReference) -> TableStateFields:
        """Return which fields of a game's table state the positions share, and on which of them standing bets depend.

        Both lists are empty if the game's definition is not available.
        """
        game = self._games.find(game_reference.id, game_reference.digest)
        # entries name their position only if the machine has several; how many does not matter here
        position_count = 2 if "position" in entry.transaction.dims else 1
        return TableStateFields() if game is None else find_table_state_fields(game.rules, position_count)

    def check_game_end(
        self,
        entries: tuple[StoredEntry, ...],
        start_record: GameRecord,
        last_step: GameRecord | GameChoice,
        ended_game: EndedGame,
    ) -> None:
        """Check that each stake is paid, lost, returned or left standing exactly once, and check the final table."""
        game, outcome, end_entry, end_record = ended_game
        table_key = _build_table_key(start_record.game_reference.digest, _read_position(end_entry))
        denomination_cents = start_record.denomination_cents
        self._check_no_other_table_changed(end_entry, table_key)
        previous_table = self._tables.get(table_key)
        returned_cents = outcome.push_credits * denomination_cents
        return_entry = self._stake_return_entries.pop(start_record.play_id, None)
        state_fields = self._find_state_fields(end_entry, start_record.game_reference)
        table_left = extract_player_state(outcome.table_state, state_fields)
        table_at_start = extract_player_state(start_record.table_state, state_fields)
        if previous_table is None and not returned_cents and return_entry is None and table_left is None:
            if end_record.push_cents or table_key in end_entry.state or last_step.standing_credits:
                self._report_finding(
                    end_entry,
                    "the game returns no stakes and leaves no table, but record.push_cents is "
                    f"{end_record.push_cents}, standing_credits is {last_step.standing_credits} and state has "
                    f"{'a' if table_key in end_entry.state else 'no'} table",
                )
            return
        game_at_table = game.with_table_state(outcome.table_state)
        standing_credits = sum(bet.credits for bet in game_at_table.rules.list_standing_bets())
        if last_step.standing_credits != standing_credits:
            self._report_finding(
                end_entry,
                f"record.standing_credits: expected {standing_credits}, found {last_step.standing_credits}",
            )
        standing_bets_cents = standing_credits * denomination_cents
        stakes = (
            *(() if previous_table is None else previous_table.standing_stakes),
            *list_stakes(entries, start_record),
        )
        decided_cents = sum(cents for _, cents in stakes) - standing_bets_cents
        settled_cents = (
            sum(settlement.staked_credits for settlement in outcome.settlements) * denomination_cents
        )
        if game.rules.list_spots() and settled_cents != decided_cents:
            self._report_finding(
                end_entry, f"settlements: expected bets of {decided_cents} cents, found {settled_cents}"
            )
        # in the machine's order: the stakes won or lost, those left on the table, those returned
        amounts_cents = (decided_cents - returned_cents, standing_bets_cents, returned_cents)
        stake_parts = self._split_stakes(end_entry, stakes, amounts_cents)
        if stake_parts is None:
            return
        _decided_stakes, standing_stakes, returned_stakes = stake_parts
        self._check_returned_stakes(end_entry, start_record, end_record, return_entry, returned_stakes)
        expected_table = None
        if table_left is not None:
            expected_table = TableRecord(
                game_reference=start_record.game_reference,
                denomination_cents=denomination_cents,
                table_state=table_left,
                standing_stakes=standing_stakes,
            )
        if expected_table is not None or table_at_start is not None:
            self._compare_table(end_entry, table_key, expected_table)

    def _check_returned_stakes(
        self,
        end_entry: StoredEntry,
        start_record: GameRecord,
        end_record: GameEndWithHandpay,
        return_entry: StoredEntry | None,
        returned_stakes: StakesByAccount,
    ) -> None:
        """Check that an ended game recorded and transferred the ``returned_stakes`` of the replay.

        ``return_entry`` is the entry that transferred them, or None if no entry did.
        """
        returned_cents = sum(cents for _, cents in returned_stakes)
        if end_record.push_cents != returned_cents:
            self._report_finding(
                end_entry, f"record.push_cents: expected {returned_cents}, found {end_record.push_cents}"
            )
        if return_entry is None:
            if returned_cents and not start_record.has_returned_stakes:
                self._report_finding(
                    end_entry,
                    f"stakes of {returned_cents} cents should be returned before this entry, but none returned them",
                )
        elif (
            _list_payments_from(return_entry, PUSH_ACCOUNT) != returned_stakes
            or start_record.has_returned_stakes
        ):
            self._report_finding(
                return_entry,
                f"transfers: expected the stakes {() if start_record.has_returned_stakes else returned_stakes} to be "
                f"returned, found {_list_payments_from(return_entry, PUSH_ACCOUNT)}",
            )

    def check_void(
        self,
        entries: tuple[StoredEntry, ...],
        start_record: GameRecord,
        stepped_game: SteppedGame | None,
        end_entry: StoredEntry,
        void_record: GameVoid,
    ) -> None:
        """Check the stakes of a void game; ``end_entry`` is the entry that declares it void.

        Bets that were already decided must be paid. Of the undecided stakes, either all or none must be
        refunded, and none if the player disrupted the game.
        """
        table_key = _build_table_key(start_record.game_reference.digest, _read_position(end_entry))
        self._check_no_other_table_changed(end_entry, table_key)
        if table_key in end_entry.state:  # the table stays as it was before the game
            self._compare_table(end_entry, table_key, self._tables.get(table_key))
        denomination_cents, stakes = start_record.denomination_cents, list_stakes(entries, start_record)
        self._stake_return_entries.pop(start_record.play_id, None)
        decided_bets = list_settled_bets_of_open_game(stepped_game)
        if list(map(_drop_pay_row_mark, void_record.settlements)) != [
            _drop_pay_row_mark(settlement.to_json()) for settlement in decided_bets
        ]:
            self._report_finding(
                end_entry,
                f"record.settled: expected {[settlement.to_json() for settlement in decided_bets]}, which the "
                f"recorded draws decide; found {list(void_record.settlements)}",
            )
        else:  # use the recorded settlements: their pay-row marks decide which of them are returned stakes
            recorded_settlements: Any = void_record.settlements
            decided_bets = tuple(map(Settlement.from_json, recorded_settlements))
        decided_cents = sum(settlement.staked_credits for settlement in decided_bets) * denomination_cents
        returned_cents = (
            sum(settlement.credits for settlement in decided_bets if settlement.is_stake_returned)
            * denomination_cents
        )
        staked_cents = sum(cents for _, cents in stakes)
        # in the machine's order: the stakes won or lost, those that a bet returned, those of undecided bets
        amounts_cents = (decided_cents - returned_cents, returned_cents, staked_cents - decided_cents)
        stake_parts = self._split_stakes(end_entry, stakes, amounts_cents)
        if stake_parts is None:
            return
        _decided_stakes, returned_stakes, undecided_stakes = stake_parts
        recorded_refund = _list_payments_from(end_entry, "house:refund_defect")
        recorded_return = _list_payments_from(end_entry, PUSH_ACCOUNT)
        if recorded_refund and void_record.void_reason == VoidReason.DISRUPTED:
            self._report_finding(
                end_entry,
                f"transfers: expected no refund, because the player disrupted the game; found {recorded_refund}",
            )
        if recorded_refund not in ((), undecided_stakes) or recorded_return != returned_stakes:
            self._report_finding(
                end_entry,
                f"transfers: expected {returned_stakes} from {PUSH_ACCOUNT} and {undecided_stakes} or nothing as a "
                f"refund, found {recorded_return} and {recorded_refund}",
            )
        won_cents = sum(cents for _, cents in _list_payments_from(end_entry, "house:win"))
        due_cents = (
            sum(settlement.credits for settlement in decided_bets) * denomination_cents - returned_cents
        )
        if won_cents != due_cents:
            self._report_finding(
                end_entry,
                f"transfers: the decided bets won {due_cents} cents, but {won_cents} cents are paid",
            )

    # ------------------------------------------------------------------ parts of several checks
    def _split_stakes(
        self, entry: StoredEntry, stakes: StakesByAccount, amounts_cents: tuple[int, ...]
    ) -> tuple[StakesByAccount, ...] | None:
        """Return the stakes of a game divided into parts of these amounts, in the same order.

        The order decides which credit account each part comes from. If the amounts do not add up to the stakes,
        report a finding and return None.
        """
        try:
            return divide_stakes_among_amounts(stakes, amounts_cents, Position(_read_position(entry)))
        except InvariantError as error:
            self._report_finding(entry, f"the stakes of the game do not add up: {error}")
            return None

    def _check_no_other_table_changed(self, entry: StoredEntry, table_key: str) -> None:
        """Report a finding if the entry changes a table other than that under the storage key ``table_key``."""
        other_keys = [key for key in entry.state if TableKey.TABLE_STATE in key and key != table_key]
        if other_keys:
            self._report_finding(
                entry,
                f"state.{other_keys[0]}: the entry changes the table of another game; expected only {table_key}",
            )

    def _compare_table(self, entry: StoredEntry, table_key: str, expected: TableRecord | None) -> None:
        """Report a finding unless the entry stores ``expected`` as the table under the storage key ``table_key``."""
        if table_key not in entry.state:
            self._report_finding(
                entry, f"state.{table_key} is missing: the entry must record the table that the game leaves"
            )
            return
        value: object = entry.state[table_key]
        recorded_table = None if value is None else from_json(TableRecord, value, f"state.{table_key}")
        if recorded_table != expected:
            self._report_finding(entry, f"state.{table_key}: expected {expected}, found {recorded_table}")


def _get_round_id(game_record: GameRecord) -> str:
    """Return the id of the game's shared round, or the play id if the game is not part of one."""
    return game_record.round_id or game_record.play_id


def _read_position(entry: StoredEntry) -> int:
    """Return the player position of a journal entry; 1 if it names none."""
    position = entry.transaction.dims.get("position", 1)
    return position if isinstance(position, int) else 1


def _build_table_key(digest: str, position: int) -> str:
    """Return the storage key for the table of the game with this digest at a position."""
    return format_storage_key(f"{TableKey.TABLE_STATE}{digest}", position)


def _encode_table(record: TableRecord | None) -> bytes | None:
    """Return the state of a table as canonical JSON: the bytes ``null`` if no table is stored.

    Return None, which never equals an encoded state, if bets are standing on the table, or if a stored table has no
    state.
    """
    if record is None:
        return INITIAL_TABLE_STATE_JSON
    return (
        None
        if record.standing_stakes or record.table_state is None
        else encode_canonical_json(record.table_state)
    )


def _build_table_record(
    previous_table: TableRecord, table_left: JSON, standing_stakes: StakesByAccount
) -> TableRecord:
    """Return the record of a table with a new state and new standing bets.

    Game and denomination are the same as in ``previous_table``.
    """
    return TableRecord(
        game_reference=previous_table.game_reference,
        denomination_cents=previous_table.denomination_cents,
        table_state=table_left,
        standing_stakes=standing_stakes,
    )


def _drop_pay_row_mark(settlement: Any) -> Any:
    """Return a settlement without its mark ``pays``, which older journals lack.

    The mark says that the settlement is a prize of the pay table.
    """
    is_object = isinstance(settlement, dict)
    return {key: value for key, value in settlement.items() if key != "pays"} if is_object else settlement
