"""The state of tables between two rounds, and the standing bets on them.

If several positions play at one table, the state that they share (a shoe, a point) is stored once. Each position's own
record has its standing bets, and a copy of the shared values on which they depend (such as the point), taken at the
last round in which they took part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from egm.kernel.machine import PositionMachine
from egm.play.keys import TableKey
from egm.play.records.game_record import GameRecord, GameReference, SharedTableState, TableRecord
from egm.record_codec import to_json
from meters.transaction import JSON
from paytables import Game, GameRules


@dataclass(slots=True)
class TableStatesAtRoundStart:
    """The state that each table's players shared at the start of a round, by the digest of the game's definition.

    A state is stored here until the games of all seats of the round have started.
    """

    state_by_digest: dict[str, JSON] = field(default_factory=dict)


# ------------------------------------------------------------------ the shared part and the player's part of a state
@dataclass(frozen=True, slots=True)
class TableStateFields:
    """The names of the fields in a table's state that players share, and of those on which standing bets depend."""

    shared_fields: tuple[str, ...] = ()
    """The names of the fields that all players share, such as the shoe."""
    standing_bet_fields: tuple[str, ...] = ()
    """The names of the shared fields on which standing bets depend, such as the point."""


def find_table_state_fields(rules: GameRules, position_count: int) -> TableStateFields:
    """Return the names of the fields in a game's table state that are shared or that standing bets depend on.

    ``position_count`` is the number of the machine's player positions. With one position, or if the game has no betting
    period, no field is shared.
    """
    is_shared = position_count > 1 and rules.betting_seconds is not None
    return TableStateFields(
        tuple(sorted(rules.shared_state_fields)) if is_shared else (),
        tuple(sorted(rules.standing_bet_state_fields)),
    )


def extract_shared_state(table_state: JSON, state_fields: TableStateFields) -> JSON:
    """Return the part of a table's state that its players share; None if that part is in its initial state."""
    return {
        field_name: value
        for field_name, value in _to_mapping(table_state).items()
        if field_name in state_fields.shared_fields and value is not None
    } or None


def extract_player_state(table_state: JSON, state_fields: TableStateFields) -> JSON:
    """Return one player's part of a table's state; None if it is empty.

    It includes the shared values on which the player's standing bets depend.
    """
    if not (state_fields.shared_fields or state_fields.standing_bet_fields):
        return table_state
    value_by_field = _to_mapping(table_state)
    if value_by_field.keys() <= {*state_fields.shared_fields, *state_fields.standing_bet_fields}:
        return None
    return {
        field_name: value
        for field_name, value in value_by_field.items()
        if field_name not in state_fields.shared_fields or field_name in state_fields.standing_bet_fields
    }


def join_table_state(player_state: JSON, shared_state: JSON, state_fields: TableStateFields) -> JSON:
    """Return a table's state as one player sees it, joined from their own part and the shared part.

    Values on which the player's standing bets depend are taken from their own part.
    """
    if not state_fields.shared_fields:
        return player_state
    own_part = extract_player_state(player_state, state_fields)
    shared_state = {
        field_name: value
        for field_name, value in _to_mapping(shared_state).items()
        if own_part is None or field_name not in state_fields.standing_bet_fields
    }
    return {**_to_mapping(own_part), **shared_state} or None


def have_bets_joined_last_round(
    player_state: JSON, shared_state: JSON, state_fields: TableStateFields
) -> bool:
    """Return whether a player's standing bets took part in the table's last round.

    If the shared values on which the bets depend have changed since the player's last round, the other players have
    played a round without this player. The result is also True if the player has no standing bets, or if the table's
    players share nothing.
    """
    own_part = extract_player_state(player_state, state_fields)
    # Compare only the shared values on which standing bets depend.
    compared_fields = TableStateFields(shared_fields=state_fields.standing_bet_fields)
    return (
        not state_fields.shared_fields
        or own_part is None
        or extract_shared_state(own_part, compared_fields)
        == extract_shared_state(shared_state, compared_fields)
    )


def _to_mapping(table_state: JSON) -> Mapping[str, JSON]:
    """Return the state of a game's table as a mapping; empty if it is the initial state."""
    return table_state if isinstance(table_state, Mapping) else {}


# ---------------------------------------------------------------------------------------------- what is stored
def read_table(machine: PositionMachine, digest: str) -> TableRecord | None:
    """Return the stored state of the table of a game definition, or None if it is in its initial state."""
    table_record = machine.memory.read(TableRecord, f"{TableKey.TABLE_STATE}{digest}")
    state_fields = None if machine.position.position_count == 1 else _find_state_fields(machine, digest)
    if state_fields is None or not state_fields.shared_fields:
        return table_record
    joined_state = join_table_state(
        None if table_record is None else table_record.table_state,
        read_shared_state(machine, digest),
        state_fields,
    )
    if table_record is not None:
        return replace(table_record, table_state=joined_state)
    game = _find_game(machine, digest)
    if joined_state is None or game is None:
        return None
    game_reference = GameReference(id=game.id, version=game.version, digest=digest)
    return TableRecord(
        game_reference=game_reference,
        denomination_cents=machine.selection.denomination_cents,
        table_state=joined_state,
    )


def list_tables_with_standing_bets(machine: PositionMachine) -> tuple[TableRecord, ...]:
    """Return the records of the tables on which this position has standing bets."""
    tables = machine.memory.read_all(TableRecord, TableKey.TABLE_STATE)
    return tuple(
        read_table(machine, digest) or table for digest, table in tables.items() if table.standing_stakes
    )


def extract_player_state_by_digest(machine: PositionMachine, digest: str, table_state: JSON) -> JSON:
    """Return one player's part of a table's state (:func:`extract_player_state`), for a game by its digest.

    It is the part that a position stores in its own record.
    """
    return extract_player_state(table_state, _find_state_fields(machine, digest))


def can_join_shared_round(machine: PositionMachine, digest: str) -> bool:
    """Return whether this position can play a table game's next round together with the other positions.

    If standing bets of this position missed the table's last shared round, the result is False: the position first
    plays these bets alone. ``digest`` identifies the game. For a game whose players share no state, the result is True.
    """
    table_record = machine.memory.read(TableRecord, f"{TableKey.TABLE_STATE}{digest}")
    state_fields = _find_state_fields(machine, digest)
    return have_bets_joined_last_round(
        None if table_record is None else table_record.table_state,
        read_shared_state(machine, digest),
        state_fields,
    )


def read_shared_state(machine: PositionMachine, digest: str) -> JSON:
    """Return the state that a table's players share; None if none is stored or the table is in its initial state.

    While the games of a round start, it is the state before the round.
    """
    round_start = machine.find_installed(TableStatesAtRoundStart)
    if round_start is not None and digest in round_start.state_by_digest:
        return round_start.state_by_digest[digest]
    shared_record = _read_shared_record(machine, digest)
    return None if shared_record is None else shared_record.shared_state


def build_shared_state_change(
    machine: PositionMachine, rules: GameRules, game_record: GameRecord
) -> dict[str, object]:
    """Return the state change that a game's step makes to the table's shared state; empty if it makes none.

    The first step of a game stores the id of its round, and the state before the round. The last step stores the state
    at the end of the game, unless the stored id is that of a newer round. There is no change if no state is shared, or
    if the game was played alone to decide standing bets that had missed a round.
    """
    state_fields, round_id = (
        find_table_state_fields(rules, machine.position.position_count),
        game_record.round_id or game_record.play_id,
    )
    # Games with standing bets are played in rounds, except to decide bets that had missed one.
    if not state_fields.shared_fields or (state_fields.standing_bet_fields and not game_record.round_id):
        return {}
    if len(game_record.steps) > 1:
        last_record = _read_shared_record(machine, game_record.game_reference.digest)
        if game_record.outcome is None or last_record is None or last_record.round_id != round_id:
            return {}
    shared_state = extract_shared_state(
        game_record.table_state if game_record.outcome is None else game_record.outcome.table_state,
        state_fields,
    )
    shared_record = SharedTableState(
        round_id=round_id,
        shared_fields=state_fields.shared_fields,
        standing_bet_fields=state_fields.standing_bet_fields,
        shared_state=shared_state,
    )
    return {f"{TableKey.SHARED_STATE}{game_record.game_reference.digest}": to_json(shared_record)}


def _read_shared_record(machine: PositionMachine, digest: str) -> SharedTableState | None:
    """Return the record of the state that a table's players share, or None."""
    return machine.memory.read(SharedTableState, f"{TableKey.SHARED_STATE}{digest}")


def _find_game(machine: PositionMachine, digest: str) -> Game | None:
    """Return the installed game with this digest, or None."""
    return next((game for game in machine.games.values() if game.digest == digest), None)


def _find_state_fields(machine: PositionMachine, digest: str) -> TableStateFields:
    """Return which fields of a table's state players share, and on which of them standing bets depend.

    If a round has been played at the table, the names stored with that round are returned, otherwise those that the
    game's rules state.
    """
    if (
        machine.position.position_count > 1
        and (shared_record := _read_shared_record(machine, digest)) is not None
    ):
        return TableStateFields(shared_record.shared_fields, shared_record.standing_bet_fields)
    game = _find_game(machine, digest)
    return (
        TableStateFields()
        if game is None
        else find_table_state_fields(game.rules, machine.position.position_count)
    )
