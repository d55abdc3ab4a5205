"""Rulings of two people on a game that cannot end: its stake is forfeited or refunded (Québec ss. 94-95)."""

from typing import Any

from egm.kernel.credits import CreditKind, divide_stakes_among_amounts
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.play import player_protection
from egm.play.entries import GAME_VOID, GameVoid, VoidedOutcome
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameRecord, is_round_between_players
from egm.play.records.games import PUSH_ACCOUNT, GameInProgress, find_open_game, list_stakes
from egm.play.records.wheel import read_winning_number
from egm.play.rounds import can_collect_win_without_draw, generator_is_in_service, is_waiting_for_wheel
from egm.play.shared_round import is_next_step_recorded, is_round_void
from egm.play.stepped_game import list_settled_bets_of_open_game, try_replay_game
from egm.play.void_rule import OpenGameState, VoidReason, find_reason_void_is_refused
from egm.progressive import game_levels
from egm.staff.events import RulingForm, are_texts_filled_in
from egm.staff.form import build_ruling_details
from meters import Transfer
from paytables import Settlement


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("game_is_forfeit")
def forfeiting_game_is_permitted(machine: PositionMachine, event: Event) -> bool:
    """Return whether staff may declare that the stake of the open game, which a player has disrupted, is forfeited.

    The profile must allow it, and the form must state a reason.
    """
    forfeitable_kinds = machine.profile.handpay.forfeitable_money_kinds
    return (
        "game" in forfeitable_kinds
        and find_open_game(machine) is not None
        and are_texts_filled_in(event.read_payload(RulingForm).reason)
    )


@refusal_code("game_may_be_forfeit")
def open_game_has_neither_outcome_nor_win(machine: PositionMachine, _: Event) -> bool:
    """Return whether staff may declare the open game void because the player disrupted it.

    They may not if the game has an outcome, or if other players play for its stake. If the game can be replayed, they
    also may not if it has already won or its next step is recorded.
    """
    return _can_declare_void(machine, VoidReason.DISRUPTED)


def game_cannot_end(machine: PositionMachine, _: Event) -> bool:
    """Return whether two people may declare the open game void because the machine cannot finish it.

    It cannot finish an undecided game that cannot be replayed, or that lacks its next number and has won nothing. Nor
    can it if the game's round was declared void and the players win each other's stakes.
    """
    return _can_declare_void(machine, VoidReason.DEFECT)


def _can_declare_void(machine: PositionMachine, void_reason: VoidReason) -> bool:
    """Return whether two people may declare the open game void for the reason ``void_reason``."""
    game_record = find_open_game(machine)
    if game_record is None:
        return False
    game_state = OpenGameState(
        is_decided=game_record.outcome is not None,
        can_be_replayed=try_replay_game(machine, game_record) is not None,
        is_next_step_recorded=_is_next_step_or_number_recorded(machine, game_record),
        can_collect_win=can_collect_win_without_draw(machine),
        are_next_numbers_unavailable=not generator_is_in_service(machine) or is_waiting_for_wheel(machine),
        is_round_between_players=is_round_between_players((*game_record.steps, *game_record.round_steps)),
        is_round_void=is_round_void(machine, game_record),
    )
    return find_reason_void_is_refused(void_reason, game_state) is None


def _is_next_step_or_number_recorded(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the game's next step is recorded already, by a real wheel's number or by another seat."""
    return read_winning_number(machine, game_record) is not None or is_next_step_recorded(
        machine, game_record
    )


@refusal_code("game_waits_for_chance")
def game_waits_for_staff(machine: PositionMachine, event: Event) -> bool:
    """Return whether the open game waits for a ruling of staff.

    It waits if the number that it needs next cannot be drawn, if the real wheel has not reported that number, or if
    its shared round was declared void.
    """
    game_record = find_open_game(machine)
    return (
        game_waits_for_generator(machine, event)
        or (_is_next_number_missing(machine) and is_waiting_for_wheel(machine))
        or (game_record is not None and is_round_void(machine, game_record))
    )


def game_waits_for_generator(machine: PositionMachine, _: Event) -> bool:
    """Return whether the open game needs a random number while the generator is out of service."""
    return not generator_is_in_service(machine) and _is_next_number_missing(machine)


def _is_next_number_missing(machine: PositionMachine) -> bool:
    """Return whether the open game is undecided and its next number or step is not recorded."""
    game_record = find_open_game(machine)
    return (
        game_record is not None
        and game_record.outcome is None
        and not _is_next_step_or_number_recorded(machine, game_record)
    )


# ---------------------------------------------------------------------------------------------- effects
def forfeit_game(machine: PositionMachine, event: Event) -> None:
    """Declare void the open game that a player has disrupted; its stake is forfeited (Québec s.94)."""
    void_game(
        machine, is_refunded=False, void_reason=VoidReason.DISRUPTED, **build_ruling_details(machine, event)
    )


def refund_game(machine: PositionMachine, event: Event) -> None:
    """Declare void the open game that the machine cannot finish (Québec s.95).

    The profile states whether its stake is refunded.
    """
    is_refunded = machine.profile.pay_out.defect_rule == "refund"
    void_game(
        machine,
        is_refunded=is_refunded,
        void_reason=VoidReason.DEFECT,
        **build_ruling_details(machine, event),
    )


def void_game(
    machine: PositionMachine, /, *, is_refunded: bool, void_reason: VoidReason, **details: Any
) -> None:
    """End the open game as void; if ``is_refunded`` is True, return its undecided stakes.

    Each stake returns to the kind of credit from which it came, and the amounts of progressive hits return to
    their levels. Table bets that the game has already settled stay settled, and their wins are paid; the
    table's state stays as before the game. The fault of a defective game is cleared. The journal entry names
    the persons and the reason, from the keyword arguments ``details`` (the fields of
    :class:`egm.staff.records.RulingDetails`), and states whether the game was decided and what it had won.
    """
    game_record = find_open_game(machine)
    if game_record is None:
        return
    settled_bets = list_settled_bets_of_open_game(try_replay_game(machine, game_record))
    undecided_transfers, settling_transfers = _build_refund_and_settling_transfers(
        machine, game_record, settled_bets
    )
    refund_transfers = undecided_transfers if is_refunded else ()
    refund_cents = sum(transfer.amount_cents for transfer in refund_transfers)
    settled_cents = sum(transfer.amount_cents for transfer in settling_transfers)
    level_transfers, level_state = game_levels.build_hit_reversal(machine, game_record)
    outcome = VoidedOutcome(
        is_decided=game_record.outcome is not None or read_winning_number(machine, game_record) is not None,
        returned_cents=None if game_record.outcome is None else game_record.returned_cents,
        progressive_win_cents=game_levels.sum_progressive_award_cents(machine, game_record),
    )
    machine.post(
        GAME_VOID,
        GameVoid(
            play_id=game_record.play_id,
            refund_cents=refund_cents,
            void_reason=void_reason,
            settlements=tuple(settlement.to_json() for settlement in settled_bets),
            recorded_outcome=outcome,
            **details,
        ),
        entry_id=f"{game_record.play_id}.void",
        transfers=(*refund_transfers, *settling_transfers, *level_transfers),
        state={
            PlayKey.GAME: None,
            f"{KernelKey.FAULT}game_defective": None,
            **level_state,
            **player_protection.build_session_change(machine, won_cents=refund_cents + settled_cents),
        },
    )
    machine.component(GameInProgress).stepped_game = None


def _build_refund_and_settling_transfers(
    machine: PositionMachine, game_record: GameRecord, settled_bets: tuple[Settlement, ...]
) -> tuple[tuple[Transfer, ...], tuple[Transfer, ...]]:
    """Return two groups of transfers for a void game: the refund of undecided stakes, and the pays of settled bets."""
    unit_cents, stakes = game_record.denomination_cents, list_stakes(machine, game_record)
    settled_stakes_cents = sum(settlement.staked_credits for settlement in settled_bets) * unit_cents
    push_cents = (
        sum(settlement.credits for settlement in settled_bets if settlement.is_stake_returned) * unit_cents
    )
    staked_cents = sum(cents for _, cents in stakes)
    amounts_cents = (settled_stakes_cents - push_cents, push_cents, staked_cents - settled_stakes_cents)
    _, pushed_stakes, undecided_stakes = divide_stakes_among_amounts(stakes, amounts_cents, machine.position)
    win_cents = sum(settlement.credits for settlement in settled_bets) * unit_cents - push_cents
    credit_account = machine.name_credit_account(CreditKind.CASHABLE)
    return (
        tuple(Transfer("house:refund_defect", account, cents) for account, cents in undecided_stakes),
        (
            *([Transfer("house:win", credit_account, win_cents)] if win_cents else ()),
            *(Transfer(PUSH_ACCOUNT, account, cents) for account, cents in pushed_stakes),
        ),
    )
