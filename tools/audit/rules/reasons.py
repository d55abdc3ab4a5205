"""Checks that the machine's stored values before an entry show the reason for that entry.

Such reasons are that a game is offered, that bets must be returned, or that credit is residual (less than a
stake).
"""

from collections.abc import Mapping
from typing import Any, Final

from egm.host.keys import HostKey
from egm.kernel.events import State
from egm.kernel.states import STATES_FOR_CASH_OUT
from egm.play.entries import RESIDUAL_GIVEN_UP, RESIDUAL_PLAYED
from egm.play.keys import PlayKey
from egm.play.player_protection import PAUSING_REMINDER_KINDS
from egm.play.records.protection import ReminderRecord
from egm.play.records.residual_terms import ResidualTerms
from tools.audit.rules.pattern import CheckContext, PatternMismatch, format_value
from tools.audit.rules.states import derive_machine_state

#: The kind of entry for each way of treating residual credit (credit below the smallest stake).
_ENTRY_KIND_BY_TREATMENT: Final[Mapping[str, str]] = {
    "given_up": RESIDUAL_GIVEN_UP.kind,
    "played": RESIDUAL_PLAYED.kind,
}


def check_residual_credit(context: CheckContext) -> None:
    """Check that the recorded credit is less than the smallest stake, and that the machine's terms allow the entry.

    The terms say whether residual credit (less than the smallest stake) stays, is given up, or is played.
    """
    amount_cents = context.record["amount_cents"]
    terms = context.stored_record_before(ResidualTerms, PlayKey.RESIDUAL_CREDIT_TERMS)
    if terms is None:  # a journal of an earlier version: judged by the games that were played
        smallest_stake_cents = context.facts.smallest_stake_cents
        if smallest_stake_cents is not None and amount_cents >= smallest_stake_cents:
            raise PatternMismatch(
                f"record.amount_cents: {amount_cents} is not residual credit, because a game was started for "
                f"{smallest_stake_cents} cents"
            )
        return
    if amount_cents >= terms.smallest_useful_cents:
        raise PatternMismatch(
            f"record.amount_cents: {amount_cents} is not residual credit, because "
            f"{terms.smallest_useful_cents} cents buy a "
            "game or a coin here"
        )
    if context.entry.kind != _ENTRY_KIND_BY_TREATMENT.get(terms.treatment):
        raise PatternMismatch(
            "this entry does not fit the machine's terms for residual credit, which are "
            f"{format_value(terms.treatment)}"
        )


def check_residual_prize(context: CheckContext) -> None:
    """Check the prize for which residual credit is played: the machine's smallest stake, and more than the credit.

    Earlier versions stored no terms of residual credit. In their journals the prize may also be less than the smallest
    stake of a game started so far.
    """
    prize_cents = context.record["prize_cents"]
    terms = context.stored_record_before(ResidualTerms, PlayKey.RESIDUAL_CREDIT_TERMS)
    if terms is not None:
        is_prize_valid = prize_cents == terms.smallest_useful_cents
    else:
        is_prize_valid = prize_cents <= (context.facts.smallest_stake_cents or prize_cents)
    if not is_prize_valid or prize_cents <= context.record["amount_cents"]:
        smallest_stake_cents = (
            context.facts.smallest_stake_cents if terms is None else terms.smallest_useful_cents
        )
        raise PatternMismatch(
            f"record.prize_cents: expected {smallest_stake_cents}, the smallest stake here, and more than "
            f"record.amount_cents, {context.record['amount_cents']}; found {prize_cents}"
        )


def check_smallest_stake(context: CheckContext) -> None:
    """Check that the game's stake is not below the machine's recorded smallest stake.

    A game without a stake, played on standing bets, always passes.
    """
    stake_cents = context["bet"] * context["denomination"]
    terms = context.stored_record_before(ResidualTerms, PlayKey.RESIDUAL_CREDIT_TERMS)
    if terms is not None and 0 < stake_cents < terms.smallest_useful_cents:
        raise PatternMismatch(
            f"record.bet_credits: the game is started for {stake_cents} cents, but the smallest stake here is "
            f"{terms.smallest_useful_cents} cents"
        )


def check_game_is_offered(context: CheckContext) -> None:
    """Check that the game is offered: no host has disabled it.

    Since the power-up, the machine must also not have returned bets because the game's definition had changed.
    """
    if (
        _is_recorded_game_disabled_by_host(context)
        or (context["digest"], context["denomination"]) in context.facts.changed_table_games
    ):
        raise PatternMismatch(
            f"record.game: {context['game']} is not offered at {context['denomination']} cents a credit, according to "
            "the memory before this entry"
        )


def _is_recorded_game_disabled_by_host(context: CheckContext) -> bool:
    """Return whether a host has disabled the game that the checked entry records."""
    return is_game_disabled_by_host(context["game"], context.ledger.state)


def is_game_disabled_by_host(game_id: str, memory: Mapping[str, object]) -> bool:
    """Return whether a host has disabled the game, according to the machine's stored values in ``memory``."""
    prefix = f"{HostKey.FUNCTION_RESTRICTION}game.{game_id}:"
    return False in [value for key, value in memory.items() if key.startswith(prefix)]


def check_bet_return_reason(context: CheckContext) -> None:
    """Check that the machine's stored values show the recorded reason for returning the bets left on a table."""
    reason = context.record["why"]
    state = derive_machine_state(context.ledger, context.position, context.facts)
    if reason == "taken_down":
        is_reason_shown = state is State.IDLE
    elif reason == "changed":
        is_reason_shown = (
            state in STATES_FOR_CASH_OUT
            and (context["digest"], context["denomination"]) not in context.facts.games_played
        )
    else:
        is_reason_shown = (
            state is not State.IDLE
            or _is_recorded_game_disabled_by_host(context)
            or _is_play_paused(context)
            or _is_game_disabled_by_staff(context)
        )
    if not is_reason_shown:
        raise PatternMismatch(
            f"record.why: the bets are returned as {format_value(reason)}, but the memory before this entry does not "
            f"show that reason; the machine was in the state {state}"
        )


def _is_play_paused(context: CheckContext) -> bool:
    """Return whether play is paused because the player has reached a limit of their own."""
    reminder = context.stored_record_before(ReminderRecord, "reminder")
    return reminder is not None and reminder.kind in PAUSING_REMINDER_KINDS


def _is_game_disabled_by_staff(context: CheckContext) -> bool:
    """Return whether staff have taken the game, or the game at this denomination, out of the offered games."""
    options: Any = context.stored_value_before("options") or {"off": [], "denominations_cents": {}}
    offered_cents = options["denominations_cents"].get(context["game"], [context["denomination"]])
    return context["game"] in options["off"] or context["denomination"] not in offered_cents
