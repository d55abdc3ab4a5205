"""The derivation of stakes: what each game staked, returned and left on the table, and the table's final state.

A game starts with the table that the previous game left. What was on it and what the game staked must be
decided by its settlements, returned, or left on the table.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from egm.errors import InvariantError
from egm.kernel.credits import split_stakes
from egm.kernel.positions import Position
from egm.play.conversation import Conversation, list_decided_bets
from egm.play.entries import GAME_PUSH, TABLE_RETURNED, GameEndByHand, GameVoid, StakesBack
from egm.play.keys import TableKey
from egm.play.records.game_record import (
    GameChoice,
    GameName,
    GameRecord,
    TableInCommon,
    TableRecord,
    TableReturned,
)
from egm.play.records.games import CARRIED_GAME, PUSH, WAGER
from egm.play.records.tables import (
    TableStateKeys,
    extract_own_state,
    extract_shared_state,
    find_table_keys,
    has_missed_no_round,
    join_table_state,
)
from egm.play.void_rule import Ruling
from egm.record_codec import RecordError, from_json, to_json
from meters import StoredEntry
from meters.transaction import JSON
from paytables import Game, Outcome, Settlement
from tools.audit.plain_games import Games, PlainRun
from tools.audit.records import record_of
from tools.audit.rules.pattern import format_storage_key

R = TypeVar("R")
Staked: TypeAlias = tuple[tuple[str, int], ...]
"""Minor units by account of credit."""


def sum_stakes(entries: Iterable[StoredEntry], start: GameRecord) -> Staked:
    """Return what the entries of a game stake, by credit account.

    For a game that a memory clear carried over, it is what the game's record states.
    """
    flows: list[tuple[str, int]] = []
    for entry in entries:
        if entry.kind == CARRIED_GAME:
            flows += start.staked or ()
        flows += [(t.source, t.amount_cents) for t in entry.transfers if t.target == WAGER]
    return tuple(flows)


def _list_flows_from(entry: StoredEntry, source: str) -> Staked:
    """Return the amounts the entry moves from ``source``, by target account."""
    return tuple((t.target, t.amount_cents) for t in entry.transfers if t.source == source)


class StakeAudit:
    """Checks the bets left on tables; ``fault`` is called for each entry that differs from the derivation."""

    def __init__(self, games: Games, fault: Callable[[StoredEntry, str], None]) -> None:
        self._games = games
        self._fault = fault
        self._tables: dict[str, TableRecord] = {}
        """Tables by their storage key."""
        self._shared: dict[str, TableInCommon] = {}
        """The part of a table that several positions share, by its definition."""
        self._before: dict[str, JSON] = {}
        """The shared part of each table before the most recently started round."""
        self._pushed: dict[str, tuple[StoredEntry, StakesBack]] = {}

    def allows_plain_run(self, run: PlainRun) -> bool:
        """Return whether no table has bets or a state from before these plain games."""
        digests = [digest for digest, _ in run.tables]
        return not self._pushed and not any(
            digest in self._shared or _build_table_key(digest, 1) in self._tables for digest in digests
        )

    # ------------------------------------------------------------------ between games
    def check_entry(self, entry: StoredEntry) -> None:
        """Check the stakes and tables that an entry records, and store what later entries depend on."""
        kind = entry.transaction.kind
        if kind == GAME_PUSH.kind:
            back = self._read(entry, StakesBack)
            if back is not None:
                self._pushed[back.play_id] = entry, back
        elif kind == TABLE_RETURNED.kind:
            self._check_returned(entry)
        for name, value in entry.state.items():
            if TableKey.TABLE in name:
                self._store_table(entry, name, value)
            elif name.startswith(TableKey.SHARED):
                with suppress(RecordError):  # the entry's rule reports what is wrong with it
                    self._shared[name.removeprefix(TableKey.SHARED)] = from_json(TableInCommon, value, name)

    def _store_table(self, entry: StoredEntry, name: str, value: object) -> None:
        self._tables.pop(name, None)
        try:
            if value is not None:
                self._tables[name] = from_json(TableRecord, value, f"state.{name}")
        except RecordError as why:
            self._fault(entry, str(why))

    def _read(self, entry: StoredEntry, kind: type[R]) -> R | None:
        try:
            return record_of(entry, kind)
        except RecordError as why:
            self._fault(entry, str(why))
            return None

    def _check_returned(self, entry: StoredEntry) -> None:
        """Check that all standing bets are returned when the table is left or withdrawn."""
        record, position = self._read(entry, TableReturned), _read_position(entry)
        if record is None:
            return
        name = _build_table_key(record.game.digest, position)
        self._check_no_other_table(entry, name)
        before = self._tables.get(name)
        if before is None:
            self._fault(entry, "bets are returned from a table without standing bets")
            return
        if (record.game, record.denomination_cents) != (before.game, before.denomination_cents):
            self._fault(entry, f"it names {record}, but bets are standing on {before}")
        back_cents, retained_cents, left = before.standing_cents, 0, None
        if record.why == "taken_down":
            game = self._games.find(record.game.id, record.game.digest)
            if game is None:
                self._fault(entry, f"no definition available of game {record.game.id}")
                return
            keys, shared_record = (
                self._build_table_keys(entry, record.game),
                self._shared.get(record.game.digest),
            )
            shared = None if shared_record is None else shared_record.table
            settled, left = game.at(join_table_state(before.table, shared, keys)).rules.take_down()
            left = extract_own_state(left, keys)
            back_cents = sum(each.credits for each in settled) * before.denomination_cents
            retained_cents = sum(each.staked for each in settled) * before.denomination_cents - back_cents
        amounts = (retained_cents, before.standing_cents - back_cents - retained_cents, back_cents)
        _, standing, back = self._part_stakes(entry, before.staked, amounts) or ((), (), ())
        if record.amount_cents != back_cents or _list_flows_from(entry, PUSH) != back:
            self._fault(entry, f"{record.amount_cents} cents are returned, expected {back_cents}")
        after = None if left is None else _build_table_record(before, left, standing)
        self._compare(entry, name, after)

    # ------------------------------------------------------------------ one game
    def check_game_start(self, entry: StoredEntry, game: GameRecord) -> None:
        """Check that a game starts with the table the previous game left, at the same value of a credit."""
        before = self._tables.get(_build_table_key(game.game.digest, _read_position(entry)))
        if entry.kind == CARRIED_GAME:
            return
        self._check_standing_when_decided(entry, game)
        left = self._find_shared_start(entry, game, None if before is None else before.table)
        if game.table != left:
            self._fault(
                entry, f"it starts with the table {game.table!r}, but the game before it left {left!r}"
            )
        if before is not None and before.staked and before.denomination_cents != game.denomination_cents:
            was = before.denomination_cents
            self._fault(
                entry, f"bets are standing at {was} cents a credit, but it plays at {game.denomination_cents}"
            )

    def process_game_step(self, entry: StoredEntry, start: GameRecord, choice: GameChoice) -> None:
        """Update the shared table if this step decides the round and no other round has started since."""
        self._check_standing_when_decided(entry, choice)
        keys, last = self._build_table_keys(entry, start.game), self._shared.get(start.game.digest)
        due = None
        if (
            keys.common
            and choice.outcome is not None
            and last is not None
            and last.round_id == _get_round_id(start)
        ):
            due = TableInCommon(
                round_id=last.round_id,
                keys=keys.common,
                bound=keys.bound,
                table=extract_shared_state(choice.outcome.table, keys),
            )
        self._check_shared_table_left(entry, start, due)

    def _check_standing_when_decided(self, entry: StoredEntry, step: GameRecord | GameChoice) -> None:
        """Report a fault if an undecided game records bets that it leaves standing."""
        if step.outcome is None and step.standing_credits:
            self._fault(entry, f"it leaves {step.standing_credits} credits standing, but is not decided")

    def _find_shared_start(self, entry: StoredEntry, game: GameRecord, mine: JSON) -> JSON:
        """Return the shared table that a game must start with, and store its round as the table's latest."""
        keys, digest = self._build_table_keys(entry, game.game), game.game.digest
        due, last = None, self._shared.get(digest)
        if keys.bound and not game.round_id:  # it is played outside of any shared round
            self._check_shared_table_left(entry, game, None)
            return join_table_state(mine, None if last is None else last.table, keys)
        if keys.common:
            if last is None or last.round_id != _get_round_id(game):
                self._before[digest] = None if last is None else last.table
            after = game.table if game.outcome is None else game.outcome.table
            due = TableInCommon(
                round_id=_get_round_id(game),
                keys=keys.common,
                bound=keys.bound,
                table=extract_shared_state(after, keys),
            )
        self._check_shared_table_left(entry, game, due)
        if not has_missed_no_round(mine, self._before.get(digest), keys):
            self._fault(entry, "its standing bets depend on something its round does not have")
        return join_table_state(mine, self._before.get(digest), keys)

    def _check_shared_table_left(
        self, entry: StoredEntry, game: GameRecord, due: TableInCommon | None
    ) -> None:
        """Report a fault unless the entry records the shared table ``due`` and no other one."""
        name = f"{TableKey.SHARED}{game.game.digest}"
        found = entry.state.get(name)
        for other in entry.state:
            if other.startswith(TableKey.SHARED) and other != name:
                self._fault(entry, f"it changes the table of another game: {other}")
        if found != (None if due is None else to_json(due)):
            self._fault(entry, f"it leaves the shared table as {found}, expected {due}")

    def _build_table_keys(self, entry: StoredEntry, named: GameName) -> TableStateKeys:
        """Return the storage keys of a game's table; positions of a multi-player machine share some of them."""
        game = self._games.find(named.id, named.digest)
        positions = 2 if "position" in entry.transaction.dims else 1
        return TableStateKeys() if game is None else find_table_keys(game.rules, positions)

    def ends(
        self,
        entries: tuple[StoredEntry, ...],
        start: GameRecord,
        found: tuple[Game, Outcome],
        recorded: GameRecord | GameChoice,
        ended: tuple[StoredEntry, GameEndByHand],
    ) -> None:
        """Check that each stake is paid, lost, returned or left standing exactly once, and check the final table."""
        (game, outcome), (end, end_record) = found, ended
        name, unit_cents = _build_table_key(start.game.digest, _read_position(end)), start.denomination_cents
        self._check_no_other_table(end, name)
        before = self._tables.get(name)
        push_cents = outcome.push_credits * unit_cents
        pushed = self._pushed.pop(start.play_id, None) if self._pushed else None
        keys = self._build_table_keys(end, start.game)
        left, began = extract_own_state(outcome.table, keys), extract_own_state(start.table, keys)
        if before is None and not push_cents and pushed is None and left is None:
            if end_record.push_cents or name in end.state or recorded.standing_credits:
                self._fault(end, "it records stakes or a table that the game does not have")
            return
        at = game.at(outcome.table)
        standing_credits = sum(bet.credits for bet in at.rules.standing())
        if recorded.standing_credits != standing_credits:
            self._fault(
                end, f"it records {recorded.standing_credits} standing credits, expected {standing_credits}"
            )
        standing_cents = standing_credits * unit_cents
        staked = (*(() if before is None else before.staked), *sum_stakes(entries, start))
        decided_cents = sum(cents for _, cents in staked) - standing_cents
        settled_cents = sum(each.staked for each in outcome.settlements) * unit_cents
        if game.rules.layout() and settled_cents != decided_cents:
            self._fault(end, f"bets of {settled_cents} cents are settled, expected {decided_cents}")
        amounts = (decided_cents - push_cents, standing_cents, push_cents)
        parts = self._part_stakes(end, staked, amounts)
        if parts is None:
            return
        _, standing, back = parts
        self._check_pushed(end, start, end_record, pushed, (push_cents, back))
        after = None
        if left is not None:
            after = TableRecord(game=start.game, denomination_cents=unit_cents, table=left, staked=standing)
        if after is not None or began is not None:
            self._compare(end, name, after)

    def _check_pushed(
        self,
        end: StoredEntry,
        start: GameRecord,
        end_record: GameEndByHand,
        pushed: tuple[StoredEntry, StakesBack] | None,
        due: tuple[int, Staked],
    ) -> None:
        push_cents, back = due
        if end_record.push_cents != push_cents:
            self._fault(
                end, f"stakes of {push_cents} cents are returned, but {end_record.push_cents} are recorded"
            )
        if pushed is None:
            if push_cents and not start.returned:
                self._fault(end, f"stakes of {push_cents} cents should be returned, but none were")
        elif _list_flows_from(pushed[0], PUSH) != back or start.returned:
            self._fault(pushed[0], f"it returns {_list_flows_from(pushed[0], PUSH)}, expected {back}")

    def check_void(
        self,
        entries: tuple[StoredEntry, ...],
        start: GameRecord,
        conversation: Conversation | None,
        void: tuple[StoredEntry, GameVoid],
    ) -> None:
        """Check the stakes of a void game.

        Bets that were already decided are paid. The undecided stakes are either all returned or none of them
        is.
        """
        end, void_record = void
        name = _build_table_key(start.game.digest, _read_position(end))
        self._check_no_other_table(end, name)
        if name in end.state:  # the table stays as it was before the game
            self._compare(end, name, self._tables.get(name))
        unit_cents, staked = start.denomination_cents, sum_stakes(entries, start)
        self._pushed.pop(start.play_id, None)
        decided = list_decided_bets(conversation)
        if list(map(_drop_pay_row_mark, void_record.settled)) != [
            _drop_pay_row_mark(each.to_json()) for each in decided
        ]:
            self._fault(
                end, f"it records {list(void_record.settled)} as decided, but its draws decide {decided}"
            )
        else:  # the names it gives to returned stakes are taken from the record
            settled: Any = void_record.settled
            decided = tuple(map(Settlement.from_json, settled))
        over_cents = sum(each.staked for each in decided) * unit_cents
        push_cents = sum(each.credits for each in decided if each.is_stake_returned) * unit_cents
        staked_cents = sum(cents for _, cents in staked)
        parts = self._part_stakes(
            end, staked, (over_cents - push_cents, push_cents, staked_cents - over_cents)
        )
        if parts is None:
            return
        _, pushed, undecided = parts
        refunded, back = _list_flows_from(end, "house:refund_defect"), _list_flows_from(end, PUSH)
        if refunded and void_record.ruling == Ruling.DISRUPTED:
            self._fault(end, f"the player disrupted the game, but {refunded} was returned")
        if refunded not in ((), undecided) or back != pushed:
            self._fault(end, f"{(*back, *refunded)} was returned for a wager of {staked}")
        won_cents = sum(cents for _, cents in _list_flows_from(end, "house:win"))
        due_cents = sum(each.credits for each in decided) * unit_cents - push_cents
        if won_cents != due_cents:
            self._fault(end, f"its decided bets won {due_cents} cents, but {won_cents} are paid")

    # ------------------------------------------------------------------ parts of it
    def _part_stakes(
        self, entry: StoredEntry, staked: Staked, amounts: tuple[int, ...]
    ) -> tuple[Staked, ...] | None:
        """Split stakes into these amounts; report a fault and return None if they do not add up."""
        try:
            return split_stakes(staked, amounts, Position(_read_position(entry)))
        except InvariantError as why:
            self._fault(entry, f"its stakes do not add up: {why}")
            return None

    def _check_no_other_table(self, entry: StoredEntry, name: str) -> None:
        """Report a fault if the entry stores or removes a table other than the one under the key ``name``."""
        others = [key for key in entry.state if TableKey.TABLE in key and key != name]
        if others:
            self._fault(entry, f"it changes the table of another game: {others[0]}")

    def _compare(self, entry: StoredEntry, name: str, due: TableRecord | None) -> None:
        """Report a fault unless the entry records the table ``due`` under the key ``name``."""
        if name not in entry.state:
            self._fault(entry, "its table is not recorded")
            return
        value: object = entry.state[name]
        found = None if value is None else from_json(TableRecord, value, f"state.{name}")
        if found != due:
            self._fault(entry, f"it leaves the table as {found}, expected {due}")


def _get_round_id(game: GameRecord) -> str:
    """Return the id of the game's shared round, or else the id of the play itself."""
    return game.round_id or game.play_id


def _read_position(entry: StoredEntry) -> int:
    found = entry.transaction.dims.get("position", 1)
    return found if isinstance(found, int) else 1


def _build_table_key(digest: str, position: int) -> str:
    return format_storage_key(f"{TableKey.TABLE}{digest}", position)


def _build_table_record(before: TableRecord, left: JSON, standing: Staked) -> TableRecord:
    return TableRecord(
        game=before.game, denomination_cents=before.denomination_cents, table=left, staked=standing
    )


def _drop_pay_row_mark(settlement: Any) -> Any:
    """Return a settlement without its pay-row mark, which older journals do not record."""
    known = isinstance(settlement, dict)
    return {key: value for key, value in settlement.items() if key != "pays"} if known else settlement
