"""Realistic payloads for every event of the state table, and machines in any state."""

from collections.abc import Callable
from fractions import Fraction

from egm.devices.interface import Banknote, Barcode
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import TournamentMode
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney, TicketInquiry, TransferLock, TransferOrder
from egm.money.keys import MoneyKey
from egm.money.records.host import TransferKind
from egm.play.keys import PlayKey
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.trigger import MysteryTrigger
from egm.seats.table import SharedTables
from egm.staff.desk import ServiceDesk
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.tickets.desk import TicketDesk
from meters import Phase, Transfer

TICKET = "071111222233334444"
#: A supervisor and a manager of the room's staff.
TWO = {"person": "2", "persons": ("2", "5")}
_SECRET = MysteryTrigger(
    level_id="of-nobody",
    prize_number=1,
    start_amount=Fraction(5),
    step_amount=Fraction(1),
    ceiling_cents=9,
    drawn_point=0,
    salt="0" * 64,
)
PRIZE = MysteryPrizeMessage(claim="of-nobody", sequence=1, amount_cents=700, order=1, trigger=_SECRET)
VALUES = {
    EventType.BILL_ESCROWED: {"escrow": 1, "amount_cents": 500},
    EventType.BILL_RETURNED: {"reason": "device"},
    EventType.BILL_REJECTED: {"reason": "unreadable"},
    EventType.BILL_NOT_STACKED: {"why": "test"},
    EventType.BILL_LOCATION_UNKNOWN: {"why": "test"},
    EventType.UNORDERED_MONEY_TAKEN: {"device": "bill_acceptor", "why": "test", "amount_max_cents": 500},
    EventType.UNORDERED_COINS_PAID: {"coins": 2, "why": "test"},
    EventType.RULE_ON_DISPUTED_AMOUNT: {
        "form": "disputed",
        "disputed": "a",
        "amount_cents": 0,
        "reason": "test",
        "persons": ("5",),
    },
    EventType.DOOR_OPENED: {"door": "main"},
    EventType.DOOR_CLOSED: {"door": "main"},
    EventType.FAULT_RAISED: {"code": "bill_acceptor.jam"},
    EventType.FAULT_CLEARED: {"code": "bill_acceptor.jam"},
    EventType.KEY_TURNED: {"key": "attendant"},
    EventType.KEY_SWITCH_CHANGED: {"key": "attendant", "on": True, "unattended": False},
    EventType.OPEN_SERVICE_MENU: {"key": "operator"},
    EventType.SERVICE_MENU_CLOSED: {"why": "key"},
    EventType.ENROL_LINK: {"form": "link_request", "step": "request", "persons": ("5",)},
    EventType.MOVE_PROGRESSIVE_LEVEL: {"form": "level_move", "source": "a", "target": "b", "persons": ("5",)},
    EventType.CHANGE_OPTIONS: {"form": "options_game", "option": "game", "person": "5", "persons": ("5",)},
    EventType.RESTART: {"form": "restart", "person": "4", "persons": ("4",)},
    EventType.CLEAR_FAULTS_AS_TECHNICIAN: {
        "form": "settle_faults",
        "person": "4",
        "persons": ("4",),
        "finding": "dust",
    },
    EventType.VERIFY_SOFTWARE: {"form": "verify", "person": "4", "persons": ("4",)},
    EventType.HARD_METERS_EXCHANGED: {
        "form": "counters",
        "person": "4",
        "persons": ("4",),
        "reason": "a new board",
        "readings": "0",
    },
    EventType.UNLOCK_STAFF_NUMBER: {
        "form": "unlock",
        "person": "5",
        "persons": ("5",),
        "number": "3",
        "reason": "forgot",
    },
    EventType.START_DEVICE_TEST: {
        "test": "light",
        "device": "io",
        "outputs": ("bell",),
        "person": "3",
        "persons": ("3",),
    },
    EventType.INTERVENTION_OPENED: {
        "form": "intervention",
        "kind": "repair",
        "reason": "test",
        "person": "3",
        "persons": ("3",),
    },
    EventType.INTERVENTION_CLOSED: {"form": "intervention_end", "kind": "repair", "persons": ("3",)},
    EventType.SELECT_BET: {"value": 2},
    EventType.SELECT_GAME: {"value": "maple-classic"},
    EventType.SELECT_DENOMINATION: {"value": 25},
    EventType.SELECT_LANGUAGE: {"value": "fr"},
    EventType.CHOOSE: {"value": 0},
    EventType.TICKET_ESCROWED: {"escrow": 1, "digits": "910000000000000000"},
    EventType.COINS_IN: {"coins": ((100, True),), "exchange_progress": 3},
    EventType.TICKET_PRINT_FAILED: {"why": "test"},
    EventType.NO_PAYOUT_DEVICE: {"why": "test"},
    EventType.GENERATOR_FAILED: {"detail": "test"},
    EventType.TICKET_NUMBER_ASSIGNED: {"id": "waiting", "number": TICKET},
    EventType.TICKET_NUMBER_REFUSED: {"id": "waiting", "why": "test"},
    EventType.TICKET_AUTHORISED: {"id": "asked", "kind": "cashable", "amount_cents": 100},
    EventType.TICKET_DECLINED: {"id": "asked"},
    EventType.RECORD_HANDPAY_FORM: {**TWO, "form": "handpay", "method": "cheque"},
    EventType.MACHINE_CHECKED: {**TWO, "form": "machine_check"},
    EventType.PAY_COMPLEMENT: {
        **TWO,
        "form": "complement",
        "amount_cents": 500,
        "reason": "a line was not paid",
    },
    EventType.REGISTER_UNCLAIMED_CREDITS: {**TWO, "form": "orphan_credits", "place": "bank 4"},
    EventType.REGISTER_UNCLAIMED_HANDPAY: {**TWO, "form": "orphan_handpay", "place": "bank 4"},
    EventType.REGISTER_FOUND_TICKET: {
        **TWO,
        "form": "orphan_ticket",
        "number": "910000000000000000",
        "place": "b",
    },
    EventType.FORFEIT_GAME: {**TWO, "form": "forfeit_game", "reason": "a wire in the bill slot"},
    EventType.FORFEIT_PRIZE: {**TWO, "form": "forfeit_prize", "reason": "a wire in the bill slot"},
    EventType.FORFEIT_CREDITS: {
        **TWO,
        "form": "forfeit_credits",
        "reason": "a wire in the bill slot",
        "amount_cents": 100,
    },
    EventType.REFUND_GAME: {**TWO, "form": "refund_game"},
    EventType.DISPUTE_DECIDED: {
        **TWO,
        "form": "dispute",
        "claim": "three sevens",
        "mechanic": "two",
        "decision": "not paid",
    },
    EventType.PLAYER_EXCLUSION_NOTED: {
        **TWO,
        "form": "exclusion",
        "who": "somebody",
        "reason": "took an orphan",
    },
    EventType.INCIDENT_JUDGED: {
        **TWO,
        "form": "incident",
        "what": "a quarrel",
        "judgement": "none",
        "informed": "telephone",
        "officer": "agent 12",
    },
    EventType.MACHINE_DISABLED: {"source": "host:test", "reason": "test"},
    EventType.MACHINE_ENABLED: {"source": "host:test"},
    EventType.HOST_RESTRICTION_CHANGED: {"source": "host:test", "name": "bill_acceptor", "value": False},
    EventType.SELF_TEST_FAILED: {"detail": "test"},
    EventType.AWARD_LOCKED: {"claim": "of-nobody", "amount_cents": 700},
    EventType.PROGRESSIVE_CLAIM_CLOSED: {"claim": "of-nobody"},
    EventType.INTERVENTION_READ_BY_MONITORING: {"id": "of-nobody"},
    EventType.MYSTERY_PRIZE_WON: {"level": "of-nobody", "won": PRIZE},
}


#: Events that can only happen after a preparation, which changes the machine (:func:`prepare_event`).
PREPARED = frozenset(
    {
        EventType.BILL_ESCROWED,
        EventType.TICKET_AUTHORISED,
        EventType.TICKET_DECLINED,
        EventType.TRANSFER_ORDERED,
        EventType.TRANSFER_CANCELLED,
        EventType.TRANSFER_LOCK_REQUESTED,
        EventType.TRANSFER_LOCK_ENDED,
        EventType.TICKET_NUMBER_ASSIGNED,
        EventType.TICKET_NUMBER_REFUSED,
        EventType.COINS_PAID,
        EventType.TICKET_PRINTED,
        EventType.TICKET_PRINT_FAILED,
        EventType.BILL_STACKED,
        EventType.BILL_NOT_STACKED,
        EventType.BILL_LOCATION_UNKNOWN,
    }
)


def make_machine_in(state: State, make: Callable[[tuple[str, ...]], MachineRig]) -> MachineRig:
    """Return a machine that real events have brought into ``state``; ``make`` builds it with the given devices.

    AWAITING_AWARD is not supported, because it needs a progressive link (:mod:`rigs.three_levels`).
    """
    rig = make(("printer",) if state is State.PAYING else ())
    rig.next_generators.append(rig.machine.random_service)
    if state is State.BOOT:
        return rig
    rig.engine.handle(EventType.MEMORY_READY)
    if state is State.SELF_TEST:
        return rig
    if state is State.OUT_OF_SERVICE:
        rig.engine.handle(EventType.SELF_TEST_FAILED, detail="test")
        return rig
    rig.engine.handle(EventType.SELF_TEST_PASSED)
    rig.insert(500)
    if state is State.PLAYING:
        rig.play()
    elif state is State.PAYING or state is State.HANDPAY:
        rig.engine.handle(EventType.CASH_OUT)
    elif state is State.DOOR_OPEN:
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
    elif state is State.BETTING:
        table = SharedTables()
        rig.machine.install(table)
        table.register_position(rig.machine, rig.engine.submit)
        table.place_bets(rig.machine, "of-somebody", 20)
        rig.engine.handle(EventType.SHARED_MEMORY_CHANGED)
    elif state is State.TOURNAMENT:
        mode = TournamentMode(digest="0" * 64, entered_at="2026-01-01T00:00:00+00:00")
        write_undeclared_entry(rig.machine, "tournament.entered", state={TournamentKey.TOURNAMENT_MODE: mode})
        rig.engine.handle(EventType.SHARED_MEMORY_CHANGED)
    elif state is State.LOCKED:
        rig.machine.component(HostMoney).transfer_lock = TransferLock(required_transfers_code=1, end_ns=0)
        rig.engine.handle(EventType.TRANSFER_LOCK_REQUESTED)
    elif state is State.TILT:
        rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    elif state is State.SERVICE_MENU:
        rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    return rig


def _start_ticket(rig: MachineRig) -> None:
    """Start a ticket that the state itself did not start, because a printer reports in any state."""
    ticket = rig.machine.component(TicketDesk).prepare_ticket("early", 500, denomination_cents=5)
    _reserve(
        rig,
        "early",
        "out:voucher:cashable",
        {"way": "ticket", "number": ticket.masked_number, "language": "en"},
    )
    printing = {"id": "early", "language": "en", "state": "printing"}
    write_undeclared_entry(rig.machine, "ticket.pending", state={MoneyKey.PRINT_JOB: printing})


def _start_coins(rig: MachineRig) -> None:
    """Start a coin payout that the state itself did not start."""
    if rig.machine.memory.get(MoneyKey.PAY_OUT) is not None:
        rig.engine.handle(EventType.TICKET_PRINT_FAILED, why="test")
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        rig.engine.state = State.PAYING
    _reserve(rig, "coins", "out:hopper", {"way": "coins", "coins": 5})


def _await_number(rig: MachineRig) -> None:
    """Start a cash-out that waits for a ticket number from the host."""
    if rig.machine.memory.get(MoneyKey.PAY_OUT) is not None:
        rig.engine.handle(EventType.TICKET_PRINT_FAILED, why="test")
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        rig.engine.state = State.PAYING
    waiting = {"way": "ticket", "kind": "cashable", "number": "", "language": "en"}
    _reserve(rig, "waiting", "out:voucher:cashable", waiting)


def _reserve(rig: MachineRig, pay_out_id: str, target: str, fields: dict) -> None:
    fund = (Transfer("world:bill", rig.machine.name_credit_account(CreditKind.CASHABLE), 500),)
    write_undeclared_entry(rig.machine, "bill.in", transfers=fund)
    write_undeclared_entry(
        rig.machine,
        "cashout.request",
        transaction_id=pay_out_id,
        phase=Phase.RESERVE,
        transfers=(Transfer(rig.machine.name_credit_account(CreditKind.CASHABLE), target, 500),),
        state={MoneyKey.PAY_OUT: {"id": pay_out_id, "amount_cents": 500, **fields}},
    )


def prepare_event(rig: MachineRig, state: State, event: EventType) -> dict:
    """Bring the machine into a condition in which the event can happen; return a realistic payload for it."""
    money = rig.machine.component(HostMoney)
    if event is EventType.OUTCOME_SHOWN and state in {State.PLAYING, State.AWAITING_AWARD}:
        return {"value": rig.machine.memory.get(PlayKey.GAME)["play_id"]}
    if event is EventType.ANSWER_SERVICE_PAGE and state is State.SERVICE_MENU:
        page = rig.machine.component(ServiceDesk).build_page(rig.machine)
        return {"value": "back", "options": {"page": page.id}}
    if event is EventType.BILL_ESCROWED:
        rig.hands.offered[1] = Banknote(500)
    elif event in {EventType.TICKET_AUTHORISED, EventType.TICKET_DECLINED}:
        rig.hands.offered[1] = Barcode(TICKET)
        money.ticket_inquiry = TicketInquiry("asked", 1, TICKET)
    elif event in {EventType.TRANSFER_ORDERED, EventType.TRANSFER_CANCELLED}:
        cents = {CreditKind.CASHABLE: 100}
        money.transfer_order = TransferOrder(
            identifier="T-1", kind=TransferKind.IN, cents_by_credit_kind=cents
        )
    elif event in {EventType.TRANSFER_LOCK_REQUESTED, EventType.TRANSFER_LOCK_ENDED}:
        granted = state is State.LOCKED
        money.transfer_lock = TransferLock(required_transfers_code=1, end_ns=0, is_granted=granted)
    elif event in {EventType.TICKET_NUMBER_ASSIGNED, EventType.TICKET_NUMBER_REFUSED}:
        _await_number(rig)
    elif event is EventType.COINS_PAID:
        _start_coins(rig)
        return {"paid_coins": 5}
    elif event in {EventType.TICKET_PRINTED, EventType.TICKET_PRINT_FAILED} and state is not State.PAYING:
        _start_ticket(rig)
    elif event in {EventType.BILL_STACKED, EventType.BILL_NOT_STACKED, EventType.BILL_LOCATION_UNKNOWN}:
        rig.escrow_ledger.reserve_credit_before_stacking(Banknote(500), 0)
    return VALUES.get(event, {})
