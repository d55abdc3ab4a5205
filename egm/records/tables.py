"""Tables between rounds: how each stands, and the bets on it.

Where several positions play at one table, what is the table's own (a shoe, a point) is kept once, and each
position's record has what is its player's: the bets that stay.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from egm.kernel.machine import Machine
from egm.record_codec import to_json
from egm.records.game_record import GameName, GameRecord, TableInCommon, TableRecord
from egm.records.keys import TableKey
from meters.transaction import JSON
from paytables import Game, Rules


@dataclass(slots=True)
class AsRoundBegins:
    """While a round begins seat by seat: what they have in common of its table, by definition."""

    tables: dict[str, JSON] = field(default_factory=dict)


# ---------------------------------------------------------------------------------------------- the two parts
def keys_in_common(rules: Rules, positions: int) -> tuple[str, ...]:
    """Which keys of this game's table all positions of a machine with so many have in common."""
    return tuple(sorted(rules.shared_keys)) if positions > 1 and rules.betting_seconds is not None else ()


def in_common(table: JSON, keys: Collection[str]) -> JSON:
    """What of a table all its players have in common; None where that is as it opens."""
    return {key: value for key, value in _parts(table).items() if key in keys} or None


def own(table: JSON, keys: Collection[str]) -> JSON:
    """What of a table is one player's; None where nothing is."""
    if not keys:
        return table
    return {key: value for key, value in _parts(table).items() if key not in keys} or None


def joined(mine: JSON, shared: JSON, keys: Collection[str]) -> JSON:
    """A player's table: what is his, and what all have in common."""
    return {**_parts(own(mine, keys)), **_parts(shared)} or None if keys else mine


def _parts(table: JSON) -> Mapping[str, JSON]:
    return table if isinstance(table, Mapping) else {}


# ---------------------------------------------------------------------------------------------- what is kept
def table_of(machine: Machine, digest: str) -> TableRecord | None:
    """How the table of a definition stands; None: as it opens."""
    kept, keys = machine.memory.read(TableRecord, f"{TableKey.TABLE}{digest}"), _keys(machine, digest)
    if not keys:
        return kept
    table = joined(None if kept is None else kept.table, table_in_common(machine, digest), keys)
    if kept is not None:
        return replace(kept, table=table)
    game = _game(machine, digest)
    if table is None or game is None:
        return None
    named = GameName(id=game.id, version=game.version, digest=digest)
    return TableRecord(game=named, denomination_cents=machine.selection.denomination_cents, table=table)


def standing_tables(machine: Machine) -> tuple[TableRecord, ...]:
    """The tables on which bets stand."""
    tables = machine.memory.read_all(TableRecord, TableKey.TABLE)
    return tuple(table_of(machine, digest) or table for digest, table in tables.items() if table.staked)


def own_of(machine: Machine, digest: str, table: JSON) -> JSON:
    """What a position's own record keeps of a table."""
    return own(table, _keys(machine, digest))


def table_in_common(machine: Machine, digest: str) -> JSON:
    """What all have in common of a table; None where that is nothing, or as it opens."""
    begins = machine.installed(AsRoundBegins)
    if begins is not None and digest in begins.tables:
        return begins.tables[digest]
    kept = _kept(machine, digest)
    return None if kept is None else kept.table


def left_in_common(machine: Machine, rules: Rules, game: GameRecord) -> dict[str, object]:
    """What a step of a game sets of the table that all have in common.

    Its beginning says that its round is now the last; its end how it leaves the table, unless another round
    has begun since.
    """
    keys, round_id = keys_in_common(rules, machine.position.of), game.round_id or game.play_id
    if not keys:
        return {}
    if len(game.steps) > 1:
        last = _kept(machine, game.game.digest)
        if game.outcome is None or last is None or last.round_id != round_id:
            return {}
    table = in_common(game.table if game.outcome is None else game.outcome.table, keys)
    left = TableInCommon(round_id=round_id, keys=keys, table=table)
    return {f"{TableKey.SHARED}{game.game.digest}": to_json(left)}


def _kept(machine: Machine, digest: str) -> TableInCommon | None:
    return machine.memory.read(TableInCommon, f"{TableKey.SHARED}{digest}")


def _game(machine: Machine, digest: str) -> Game | None:
    return next((game for game in machine.games.values() if game.digest == digest), None)


def _keys(machine: Machine, digest: str) -> tuple[str, ...]:
    """Which keys of a table are common; none where each position has its own, as at most machines."""
    if machine.position.of == 1:
        return ()
    if (kept := _kept(machine, digest)) is not None:
        return kept.keys
    game = _game(machine, digest)
    return () if game is None else keys_in_common(game.rules, machine.position.of)
