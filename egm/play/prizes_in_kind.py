"""Prizes in kind (merchandise): recorded by name, delivered by an attendant, and never counted as money.

A game that wins one ends in a hand-pay for the prize. The prize's stated value is recorded in separate accounts
that no money can enter or leave: when the prize is handed over, no money meter changes, only the meter
``att_merchandise``. If the profile lets the player take the value instead, staff exchange the prize: one
transaction reserves the money as a new hand-pay, and the next voids the hand-pay of the prize. After a power loss
between the two, both reservations exist; the stored hand-pay is the new one, and the next start voids the old
reservation (:func:`void_exchanged_reservation`).
"""

from collections.abc import Sequence
from dataclasses import replace

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, PrizeInKind
from egm.kernel.rules import refusal_code
from egm.money.hand_pays import PRIZES_ACCOUNT_PREFIX
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayEnding, HandpayRecord, PrizeRecord
from egm.play.definitions import find_definition
from egm.play.entries import (
    HANDPAY_REPLACED,
    PRIZES_EXCHANGED,
    PRIZES_WON,
    HandpayReplaced,
    PrizesExchanged,
    PrizesWon,
)
from egm.play.records.game_record import GameRecord
from egm.staff.events import FilledForm
from meters import Transfer


# ---------------------------------------------------------------------------------------------- won prizes
def list_won_prizes(machine: PositionMachine, game_record: GameRecord) -> tuple[PrizeRecord, ...]:
    """Return the prizes in kind that a decided game has won, in order, with name and stated value."""
    prize_ids = () if game_record.outcome is None else game_record.outcome.merchandise
    if not prize_ids:
        return ()
    game = find_definition(machine, game_record.game_reference)
    stated_prize_by_id = {prize.id: prize for prize in game.list_prizes_in_kind()}
    return tuple(
        PrizeRecord(
            id=prize_id,
            names=dict(stated_prize_by_id[prize_id].names),
            value_cents=stated_prize_by_id[prize_id].value_cents,
        )
        for prize_id in prize_ids
    )


def build_prize_transfers(prizes: Sequence[PrizeRecord]) -> tuple[Transfer, ...]:
    """Return the transfers that record prizes in kind as handed over, one per prize.

    Each moves the prize's value from the account of offered prizes to the account of given prizes.
    """
    return tuple(
        Transfer(
            f"{PRIZES_ACCOUNT_PREFIX}{prize.id}:offered",
            f"{PRIZES_ACCOUNT_PREFIX}{prize.id}:given",
            prize.value_cents,
        )
        for prize in prizes
    )


def record_prizes_won(
    machine: PositionMachine, game_record: GameRecord, prizes: Sequence[PrizeRecord]
) -> None:
    """Record a game's prizes in kind in the register of wins, unless they are there already (FR68-20).

    The record states machine, game, prize and stated value.
    """
    for number, prize in enumerate(prizes, start=1):
        entry_id = f"{game_record.play_id}.prize-{number}"
        if not machine.journal.has_entry(entry_id):  # otherwise recorded before a power loss
            record = PrizesWon(
                machine=machine.identity.serial,
                play_id=game_record.play_id,
                game_id=game_record.game_reference.id,
                prizes=(prize,),
            )
            machine.post(PRIZES_WON, record, entry_id=entry_id)


def build_prize_views(prizes: Sequence[PrizeRecord]) -> tuple[PrizeInKind, ...]:
    """Return the prizes in kind for the screen."""
    return tuple(
        PrizeInKind(id=prize.id, names=dict(prize.names), value_cents=prize.value_cents) for prize in prizes
    )


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("prize_may_be_cash")
def prize_can_be_exchanged_for_money(machine: PositionMachine, _: Event) -> bool:
    """Return whether a prize in kind is owed and the profile lets the player take its value in money instead."""
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return (
        machine.profile.handpay.prizes_in_kind == "or_cash" and handpay is not None and bool(handpay.prizes)
    )


# ---------------------------------------------------------------------------------------------- the exchange
def exchange_prizes(machine: PositionMachine, event: Event) -> None:
    """Exchange the owed prizes in kind for their stated value, which an attendant pays by hand.

    Money that the same game won is part of that payment.
    """
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    reservation = next(
        reservation for reservation in machine.journal.list_pending() if reservation.id == handpay.id
    )
    prizes_value_cents = handpay.worth_cents - handpay.amount_cents
    money_handpay = replace(
        handpay,
        id=f"{handpay.id}.cash",
        kind="jackpot" if handpay.kind == "merchandise" else handpay.kind,
        amount_cents=handpay.worth_cents,
        prizes=(),
        replaced_reservation_id=handpay.id,
    )
    machine.post(
        PRIZES_EXCHANGED,
        PrizesExchanged(
            handpay_id=handpay.id,
            prizes=handpay.prizes,
            amount_cents=prizes_value_cents,
            machine=machine.identity.serial,
            persons=event.read_payload(FilledForm).persons,
        ),
        entry_id=money_handpay.id,
        transfers=tuple(_replace_prize_by_money(transfer) for transfer in reservation.transfers),
        state={MoneyKey.HANDPAY: money_handpay},
    )
    machine.notice = Notice(code="prize_exchanged", values={"amount_cents": prizes_value_cents})


def _replace_prize_by_money(transfer: Transfer) -> Transfer:
    """Return the transfer of the same value in money if ``transfer`` moves a prize in kind, otherwise ``transfer``."""
    if not transfer.source.startswith(PRIZES_ACCOUNT_PREFIX):
        return transfer
    return Transfer("house:attendant_jackpot", "out:handpay_jackpot", transfer.amount_cents, transfer.dims)


def exchange_is_unfinished(machine: PositionMachine, _: Event) -> bool:
    """Return whether prizes in kind were exchanged for money, but the hand-pay of the prizes is not voided yet."""
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return handpay is not None and bool(handpay.replaced_reservation_id)


def void_exchanged_reservation(machine: PositionMachine, _: Event) -> None:
    """Void the hand-pay of prizes in kind that were exchanged for money.

    This happens directly after the exchange or, after a power loss, at the next start.
    """
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    replaced_handpay_id = handpay.replaced_reservation_id
    machine.post(
        HANDPAY_REPLACED,
        HandpayReplaced(handpay_id=replaced_handpay_id, replacement_id=handpay.id),
        entry_id=HandpayEnding.REPLACED.format_entry_id(replaced_handpay_id),
        ref=replaced_handpay_id,
        state={MoneyKey.HANDPAY: replace(handpay, replaced_reservation_id="")},
    )
