"""Tables between rounds: how each stands, and the bets on it.

Where several positions play at one table, what is the table's own (a shoe, a point) is kept once, and each
position's record has what is its player's: the bets that stay, and the point they are on.
"""

from collections.abc import Mapping
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
@dataclass(frozen=True, slots=True)
class Keys:
    """Which keys of a table its players have in common, and which a player's standing bets hang on."""

    common: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


def keys_of(rules: Rules, positions: int) -> Keys:
    """The keys of this game's table at a machine of so many positions."""
    several = positions > 1 and rules.betting_seconds is not None
    return Keys(tuple(sorted(rules.shared_keys)) if several else (), tuple(sorted(rules.bound_keys)))


def in_common(table: JSON, keys: Keys) -> JSON:
    """What of a table all its players have in common; None where that is as it opens."""
    parts = _parts(table).items()
    return {key: value for key, value in parts if key in keys.common and value is not None} or None


def own(table: JSON, keys: Keys) -> JSON:
    """What of a table is one player's, with what his bets there hang on; None where nothing is."""
    if not (keys.common or keys.bound):
        return table
    parts = _parts(table)
    if parts.keys() <= {*keys.common, *keys.bound}:
        return None
    return {key: value for key, value in parts.items() if key not in keys.common or key in keys.bound}


def joined(mine: JSON, shared: JSON, keys: Keys) -> JSON:
    """A player's table: what is his, and what all have in common; bets that stand keep what they hang on."""
    if not keys.common:
        return mine
    kept = own(mine, keys)
    there = {key: value for key, value in _parts(shared).items() if kept is None or key not in keys.bound}
    return {**_parts(kept), **there} or None


def is_along(mine: JSON, shared: JSON, keys: Keys) -> bool:
    """Whether a player's standing bets hang on what all have in common now: he has missed nothing of it."""
    kept, held = own(mine, keys), Keys(keys.bound)
    return not keys.common or kept is None or in_common(kept, held) == in_common(shared, held)


def _parts(table: JSON) -> Mapping[str, JSON]:
    return table if isinstance(table, Mapping) else {}


# ---------------------------------------------------------------------------------------------- what is kept
def table_of(machine: Machine, digest: str) -> TableRecord | None:
    """How the table of a definition stands; None: as it opens."""
    kept, keys = machine.memory.read(TableRecord, f"{TableKey.TABLE}{digest}"), _keys(machine, digest)
    if not keys.common:
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


def plays_along(machine: Machine, digest: str) -> bool:
    """Whether what stands here is played with the others; else the player goes on by himself."""
    kept, keys = machine.memory.read(TableRecord, f"{TableKey.TABLE}{digest}"), _keys(machine, digest)
    return is_along(None if kept is None else kept.table, table_in_common(machine, digest), keys)


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
    keys, round_id = keys_of(rules, machine.position.of), game.round_id or game.play_id
    if not keys.common or (keys.bound and not game.round_id):
        return {}
    if len(game.steps) > 1:
        last = _kept(machine, game.game.digest)
        if game.outcome is None or last is None or last.round_id != round_id:
            return {}
    table = in_common(game.table if game.outcome is None else game.outcome.table, keys)
    left = TableInCommon(round_id=round_id, keys=keys.common, bound=keys.bound, table=table)
    return {f"{TableKey.SHARED}{game.game.digest}": to_json(left)}


def _kept(machine: Machine, digest: str) -> TableInCommon | None:
    return machine.memory.read(TableInCommon, f"{TableKey.SHARED}{digest}")


def _game(machine: Machine, digest: str) -> Game | None:
    return next((game for game in machine.games.values() if game.digest == digest), None)


def _keys(machine: Machine, digest: str) -> Keys:
    """The keys of a table; none is common where each position has its own, as at most machines."""
    if machine.position.of > 1 and (kept := _kept(machine, digest)) is not None:
        return Keys(kept.keys, kept.bound)
    game = _game(machine, digest)
    return Keys() if game is None else keys_of(game.rules, machine.position.of)
