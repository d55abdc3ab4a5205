"""The guards of money: bills and tickets in, cash-outs, hand-pays, rulings, and the host's tickets and transfers."""

from pathlib import Path

from rigs.every_event import TICKET, TWO, VALUES
from rigs.guards.alone import Arrangement, arrange_state, case, extend_arrangement, handle_event, rows
from rigs.three_levels import write_profile
from rigs.voids import make_undecided_game

from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import Barcode
from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.host_money import HostMoney, TicketInquiry
from egm.testing.machine import MachineRig, ScriptedGenerator

PAPER = "ticket_printer.paper_out"
KEY = {"key": "attendant"}
#: A game of prizes in kind, and the stops of both reels that win two of them.
FAIR, PRIZES = Path(__file__).parents[2] / "vectors" / "fair.toml", (0, 0)
SIGN_IN = ("[coins]", '[staff]\nkey_alone = ["answer_calls"]\n\n[coins]')
IDENTITY = ("identity_cents = 1000000", "identity_cents = 100")


def arrange_empty_machine(*devices: str, **options) -> Arrangement:
    """Return the arrangement of an idle machine without credit."""
    return lambda folder: MachineRig(folder, devices=devices, **options).boot()


def with_profile_text(arrange, *change: str) -> Arrangement:
    """Return the arrangement under the generic profile with one text replaced."""
    return lambda folder: arrange(folder / "state", profile=_write_place(folder, *change))


def _write_place(folder: Path, old: str, new: str) -> Path:
    folder.mkdir(exist_ok=True)
    return write_profile(folder, old, new)


def open_handpay(folder: Path, **options) -> MachineRig:
    """Return a machine with a hand-pay of five dollars, because the printer is out of paper."""
    rig = MachineRig(folder, devices=("printer",), **options).boot().insert(500)
    rig.engine.handle(EventType.FAULT_RAISED, code=PAPER)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    return rig


def open_handpay_with_paper(folder: Path, **options) -> MachineRig:
    """Return a machine with a hand-pay and paper in the printer again, so that the player may request a ticket."""
    rig = open_handpay(folder, **options)
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    return rig


def request_ticket(folder: Path, **options) -> MachineRig:
    """Return a machine with a hand-pay whose player has requested a ticket instead."""
    rig = open_handpay_with_paper(folder, **options)
    rig.engine.handle(EventType.CASH_OUT)
    return rig


def with_sign_in(arrange) -> Arrangement:
    """Return the arrangement under a profile in which the attendant must sign in before the key pays."""
    return with_profile_text(arrange, *SIGN_IN)


def show_prizes(folder: Path, profile: str | Path = "generic") -> MachineRig:
    """Return a machine that shows a game with two prizes in kind."""
    rig = MachineRig(folder, profile=profile, games=(str(FAIR),), generator=ScriptedGenerator(*PRIZES))
    rig.boot().insert(500)
    rig.play()
    return rig


def owe_prizes(folder: Path, profile: str | Path = "generic") -> MachineRig:
    """Return a machine with a hand-pay of two prizes in kind."""
    rig = show_prizes(folder, profile)
    rig.report_shown()
    assert rig.state is State.HANDPAY
    return rig


IDLE, MENU, HANDPAY = (arrange_state(state) for state in (State.IDLE, State.SERVICE_MENU, State.HANDPAY))
OPEN_MENU = handle_event(EventType.OPEN_SERVICE_MENU, key="operator")
TILTED = handle_event(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
JAM = handle_event(EventType.FAULT_RAISED, code="bill_acceptor.jam")
DISPUTED = extend_arrangement(
    IDLE, handle_event(EventType.UNORDERED_MONEY_TAKEN, **VALUES[EventType.UNORDERED_MONEY_TAKEN])
)


def _dispute(rig: MachineRig) -> str:
    """Return the id of the only dispute."""
    (found,) = read_disputed_amounts_by_id(rig.machine)
    return found


def arrange_hosted_machine(**fields) -> Arrangement:
    """Return the arrangement of a machine with a host of its money and five dollars of credit."""
    return lambda folder: MachineRig(folder, host=HostMoney(**fields)).boot().insert(500)


def _ask_for_ticket(rig: MachineRig) -> None:
    """Put a ticket into escrow and query its value."""
    rig.hands.offered[1] = Barcode(TICKET)
    rig.machine.component(HostMoney).ticket_inquiry = TicketInquiry("asked", 1, TICKET)


AUTHORISED_TICKET = VALUES[EventType.TICKET_AUTHORISED]
ROWS = (
    # ------------------------------------------------------------------ value in
    *rows(
        "bill_escrowed in idle: stack_bill",
        IDLE,
        VALUES[EventType.BILL_ESCROWED],
        bill_is_welcome=case(amount_cents=3, then="return_bill"),
    ),
    *rows(
        "ticket_escrowed in idle: stack_ticket",
        IDLE,
        VALUES[EventType.TICKET_ESCROWED],
        ticket_is_welcome=case(extend_arrangement(IDLE, JAM), then="return_ticket"),
    ),
    # ------------------------------------------------------------------ value out
    *rows(
        "cash_out in for cash-out: start_ticket_payout",
        arrange_state(State.IDLE, "printer"),
        has_credit=case(arrange_empty_machine("printer")),
        ticket_comes_first=case(IDLE, then="open_cancelled_credit"),
    ),
    *rows(
        "cash_out in for cash-out: start_coin_payout",
        arrange_state(State.IDLE, "hopper"),
        coins_come_first=case(IDLE, then="open_cancelled_credit"),
    ),
    *rows(
        "cash_out in for cash-out: start_restricted_ticket_payout",
        IDLE,
        restricted_may_leave=case(then="open_cancelled_credit"),
    ),
    *rows("cash_out in for cash-out: open_cancelled_credit", IDLE, has_credit=case(arrange_empty_machine())),
    *rows(
        "no_payout_device in for cash-out: open_cancelled_credit",
        IDLE,
        {"why": "test"},
        has_credit=case(arrange_empty_machine()),
    ),
    # ------------------------------------------------------------------ hand-pays
    *rows(
        "cash_out in handpay: toggle_ticket_request",
        open_handpay_with_paper,
        ticket_may_replace=case(open_handpay),
    ),
    *rows(
        "key_turned in handpay: return_handpay_to_credit",
        request_ticket,
        KEY,
        ticket_is_requested=case(open_handpay_with_paper, then="settle_handpay"),
        ticket_may_replace=case(
            extend_arrangement(request_ticket, handle_event(EventType.FAULT_RAISED, code=PAPER)),
            then="withdraw_ticket_request",
        ),
        key_is_enough=case(with_sign_in(request_ticket), then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in handpay: ask_for_sign_in",
        with_sign_in(request_ticket),
        KEY,
        ticket_is_requested=case(with_sign_in(open_handpay_with_paper), then="ask_for_sign_in"),
        ticket_may_replace=case(
            extend_arrangement(
                with_sign_in(request_ticket), handle_event(EventType.FAULT_RAISED, code=PAPER)
            ),
            then="withdraw_ticket_request",
        ),
        no_service_page_is_open=case(extend_arrangement(with_sign_in(request_ticket), OPEN_MENU)),
    ),
    *rows(
        "key_turned in handpay: withdraw_ticket_request",
        request_ticket,
        KEY,
        requested_ticket_is_impossible=case(open_handpay_with_paper, then="settle_handpay"),
    ),
    *rows(
        "key_turned in handpay: settle_handpay",
        open_handpay,
        KEY,
        handpay_is_in_order=case(with_profile_text(open_handpay, *IDENTITY)),
        key_is_enough=case(with_sign_in(open_handpay), then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in handpay: ask_for_sign_in (2)",
        with_sign_in(open_handpay),
        KEY,
        handpay_is_in_order=case(with_profile_text(open_handpay, *IDENTITY)),
        no_service_page_is_open=case(extend_arrangement(with_sign_in(open_handpay), OPEN_MENU)),
    ),
    *rows(
        "handpay_reset in handpay: settle_handpay",
        open_handpay,
        {"key": "host"},
        no_prize_waits=case(owe_prizes),
        attendant_pays_by_hand=case(request_ticket),
        handpay_is_in_order=case(with_profile_text(open_handpay, *IDENTITY)),
    ),
    # ------------------------------------------------------------------ decisions about money
    *rows(
        "handpay_form in handpay: record_handpay_form",
        HANDPAY,
        VALUES[EventType.RECORD_HANDPAY_FORM],
        marks="Q-01 Q-03",
        payment_form_is_complete=case(method="barter"),
    ),
    *rows(
        "forfeit_prize in handpay: forfeit_prize",
        owe_prizes,
        VALUES[EventType.FORFEIT_PRIZE],
        marks="F-15",
        prize_is_forfeit=case(reason=" "),
    ),
    *rows(
        "forfeit_credits in service_menu: forfeit_credits",
        MENU,
        VALUES[EventType.FORFEIT_CREDITS],
        marks="F-15",
        credits_are_forfeit=case(amount_cents=501),
    ),
    *rows(
        "complement in for rulings: record_complement",
        MENU,
        VALUES[EventType.PAY_COMPLEMENT],
        marks="Q-05 F-17",
        complement_is_sound=case(amount_cents=0),
    ),
    *rows(
        "disputed_amount in for rulings: apply_disputed_amount_ruling",
        DISPUTED,
        {**VALUES[EventType.RULE_ON_DISPUTED_AMOUNT], "disputed": _dispute},
        ruling_is_sound=case(amount_cents=501),
    ),
    *rows(
        "orphan_handpay in handpay: void_unclaimed_handpay",
        HANDPAY,
        VALUES[EventType.REGISTER_UNCLAIMED_HANDPAY],
        marks="Q-06",
        location_is_stated=case(place=" "),
    ),
    *rows(
        "orphan_credits in service_menu: register_unclaimed_credits",
        MENU,
        VALUES[EventType.REGISTER_UNCLAIMED_CREDITS],
        marks="Q-06",
        credits_are_unclaimed=case(extend_arrangement(arrange_empty_machine(), OPEN_MENU)),
        location_is_stated=case(place=" "),
    ),
    *rows(
        "orphan_ticket in for rulings: register_found_ticket",
        MENU,
        VALUES[EventType.REGISTER_FOUND_TICKET],
        marks="Q-06",
        found_ticket_is_named=case(number=" "),
        location_is_stated=case(place=" "),
    ),
    # ------------------------------------------------------------------ decisions about a game
    *rows(
        "exchange_prize in handpay: exchange_prizes",
        owe_prizes,
        {**TWO, "form": "prize_cash"},
        prize_may_be_cash=case(
            with_profile_text(owe_prizes, 'prizes_in_kind = "or_cash"', 'prizes_in_kind = "delivered"')
        ),
    ),
    *rows(
        "machine_checked in for rulings: record_machine_check",
        MENU,
        VALUES[EventType.MACHINE_CHECKED],
        marks="Q-02",
    ),
    *rows(
        "refund_game in for rulings: refund_game",
        extend_arrangement(
            make_undecided_game, handle_event(EventType.GENERATOR_FAILED, detail="test"), TILTED
        ),
        VALUES[EventType.REFUND_GAME],
        marks="F-14",
        game_cannot_end=case(extend_arrangement(make_undecided_game, TILTED)),
    ),
    *rows(
        "forfeit_game in for rulings: forfeit_game",
        extend_arrangement(make_undecided_game, TILTED),
        VALUES[EventType.FORFEIT_GAME],
        marks="F-15",
        game_is_forfeit=case(reason=" "),
        game_may_be_forfeit=case(extend_arrangement(arrange_state(State.PLAYING), TILTED)),
    ),
    # ------------------------------------------------------------------ the host of the money
    *rows("transfer_ordered in for transfers: execute_transfer_order", IDLE, order_is_open=case()),
    *rows("transfer_ordered in playing: nothing", IDLE, order_is_open=case(arrange_state(State.PLAYING))),
    *rows("transfer_ordered in after boot: refuse_transfer", IDLE, order_is_open=case(MENU)),
    *rows("transfer_cancelled in after boot: cancel_transfer", IDLE, order_is_open=case()),
    *rows("lock_asked in for transfers: grant_transfer_lock", IDLE, transfer_lock_is_requested=case()),
    *rows("lock_ended in after boot: end_transfer_lock", IDLE, transfer_lock_is_requested=case()),
    *rows("promotion_expired in idle: expire_restricted_credit", IDLE, restricted_has_expired=case()),
    *rows(
        "cash_out in idle: offer_cash_out_to_host",
        IDLE,
        host_takes_cash_out=case(then="open_cancelled_credit"),
    ),
    *rows(
        "ticket_escrowed in idle: query_ticket_value",
        IDLE,
        VALUES[EventType.TICKET_ESCROWED],
        ticket_is_welcome=case(
            extend_arrangement(
                arrange_hosted_machine(ticket_validator=TicketValidator.SYSTEM, is_online=True), JAM
            ),
            then="return_ticket",
        ),
        host_validates=case(then="stack_ticket"),
    ),
    *rows(
        "ticket_authorised in for stacking: stack_authorised_ticket",
        extend_arrangement(IDLE, _ask_for_ticket),
        AUTHORISED_TICKET,
        inquiry_is_open=case(id="another"),
        acceptor_works=case(extend_arrangement(IDLE, _ask_for_ticket, JAM), then="return_queried_ticket"),
    ),
    *rows(
        "ticket_authorised or ticket_declined in after boot: return_queried_ticket",
        extend_arrangement(IDLE, _ask_for_ticket),
        AUTHORISED_TICKET,
        inquiry_is_open=case(id="another"),
    ),
    *rows(
        "ticket_numbered in after boot: assign_host_number",
        IDLE,
        VALUES[EventType.TICKET_NUMBER_ASSIGNED],
        number_is_awaited=case(),
    ),
    *rows(
        "number_refused in after boot: continue_without_host_number",
        IDLE,
        VALUES[EventType.TICKET_NUMBER_REFUSED],
        number_is_awaited=case(),
    ),
)
