"""A fast check for plain games, which make up nearly all entries of a journal.

An entry that is exactly what its rule derives (one kind of credit, no level, no prize, no session, the first
position) is accepted here by comparing whole objects; any other entry is checked by its rule. Whatever is
accepted here would be accepted by the rule: ``tests/tools/audit/test_rules.py`` compares the two.
"""

from typing import Any, Final

from egm.kernel.events import State
from egm.play.entries import GAME_END, GAME_START
from meters.entry import StoredEntry
from meters.ledger import Ledger
from meters.transaction import Phase
from tools.audit.rules.facts import Facts
from tools.audit.rules.states import derive_machine_state

_CASHABLE: Final = "credit:1:cashable"
_RESTRICTED: Final = "credit:1:restricted"
_NONRESTRICTED: Final = "credit:1:nonrestricted"
_STARTED: Final = frozenset(
    {
        *("play_id", "game", "denomination_cents", "bet_credits", "wager", "language"),
        *("credit_before_cents", "steps", "outcome"),
    }
)
_NAMED: Final = frozenset({"id", "version", "digest"})
_ENDED: Final = frozenset({"play_id", "win_cents"})
_PLAYED: Final = {"games_played": 1}
_WON: Final = {"games_won": 1}
_LOST: Final = {"games_lost": 1}


def _is_plain(entry: StoredEntry, before: Ledger, facts: Facts) -> bool:
    """Return whether the entry and the machine are as in a plain game: one position, no session, no conversion."""
    transaction = entry.transaction
    return (
        transaction.phase is Phase.POST
        and transaction.ref is None
        and not transaction.marks
        and not facts.positions
        and not facts.session
        and not facts.converted
        and "session" not in before.state
    )


def _find_smallest_stake(memory: Any) -> int:
    """Return the smallest wager of a plain game, in minor units.

    It is the recorded amount below which credit is residual (0 if the machine has neither games nor coins),
    or 1 if the journal does not record that amount.
    """
    terms = memory.get("residual_terms")
    return 1 if terms is None else int(terms["useful_cents"])


def is_plain_start(entry: StoredEntry, before: Ledger, facts: Facts) -> bool:
    """Return whether this is a correct ``game.start`` of a plain game, checked without the rules."""
    transaction = entry.transaction
    record: Any = transaction.record
    moves, memory = transaction.transfers, before.state
    if type(record) is not dict or record.keys() != _STARTED or len(moves) != 1:
        return False
    play_id, game, wager = record["play_id"], record["game"], moves[0]
    denomination_cents, bet, cash_cents = (
        record["denomination_cents"],
        record["bet_credits"],
        record["credit_before_cents"],
    )
    taken, given, held = before.taken, before.given, before.held
    if not (
        _is_plain(entry, before, facts)
        and type(game) is dict
        and game.keys() == _NAMED
        and type(bet) is type(denomination_cents) is type(cash_cents) is int
        and type(game["id"]) is type(game["version"]) is type(record["language"]) is str
        and type(record["wager"]) is type(record["outcome"]) is dict
        and play_id in (f"play-{entry.sequence}-{facts.mark}", f"play-{entry.sequence}")
        and transaction.id == f"{play_id}.start"
        and transaction.state == {"game": {"play_id": play_id}}
        and transaction.counts == _PLAYED
        and transaction.dims
        == {
            "game": game["id"],
            "paytable": f"{game['id']}@{game['version']}",
            "denomination_cents": denomination_cents,
            "wager_level": bet,
        }
        and (wager.source, wager.target, wager.amount_cents)
        == (_CASHABLE, "house:wager", bet * denomination_cents)
        and not wager.dims
        and taken.get(_RESTRICTED) == given.get(_RESTRICTED)
        and taken.get(_NONRESTRICTED) == given.get(_NONRESTRICTED)
        and taken.get(_CASHABLE, 0) - given.get(_CASHABLE, 0) - held.get(_CASHABLE, 0) == cash_cents
        and "game" not in memory
        and "handpay" not in memory
        and "pay_out" not in memory
        and "reminder" not in memory
        and bet * denomination_cents >= _find_smallest_stake(memory)
        and derive_machine_state(before, 1, facts) is State.IDLE
    ):
        return False
    steps = record["steps"]
    if type(steps) is not list or len(steps) != 1 or steps[0].keys() != {"choice", "draws"}:
        return False
    if steps[0]["choice"] is not None or type(game["digest"]) is not str or len(game["digest"]) != 64:
        return False
    for bound, value, purpose in steps[0]["draws"]:
        if type(bound) is not int or type(value) is not int or value < 0 or type(purpose) is not str:
            return False
    facts.session = False
    facts.stake(bet * denomination_cents)
    return True


def is_plain_end(entry: StoredEntry, before: Ledger, facts: Facts) -> bool:
    """Return whether this is a correct ``game.end`` of a plain game, with one win to the credits or none."""
    transaction = entry.transaction
    record: Any = transaction.record
    moves, memory = transaction.transfers, before.state
    if type(record) is not dict or record.keys() != _ENDED or len(moves) > 1:
        return False
    play_id, win_cents = record["play_id"], record["win_cents"]
    if moves:
        win = moves[0]
        if (win.source, win.target, win.amount_cents) != ("house:win", _CASHABLE, win_cents) or win.dims:
            return False
    elif win_cents != 0:
        return False
    stored: Any = transaction.state.get("last_game")
    return (
        type(win_cents) is int
        and type(play_id) is str
        and _is_plain(entry, before, facts)
        and transaction.id == f"{play_id}.end"
        and transaction.state == {"game": None, "last_game": {"play_id": play_id, "win_cents": win_cents}}
        and type(stored["win_cents"]) is int
        and transaction.counts == (_WON if moves else _LOST)
        and memory.get("game") == {"play_id": play_id}
        and "awaiting_award" not in memory
        and "undecided" not in memory
        and derive_machine_state(before, 1, facts) is State.PLAYING
        and transaction.dims.keys() == {"game", "paytable", "denomination_cents", "wager_level"}
        and _are_dims_valid(transaction.dims)
    )


def _are_dims_valid(dims: Any) -> bool:
    return type(dims["game"]) is type(dims["paytable"]) is str and (
        type(dims["denomination_cents"]) is type(dims["wager_level"]) is int
    )


PLAIN: Final = {GAME_START.kind: is_plain_start, GAME_END.kind: is_plain_end}
