"""The state table: complete, consistent, and obeyed; every state and event is tried.

A pair with a row does what the row says; a pair without one moves nothing, and a refused wish says so.
"""

from fractions import Fraction

import pytest
from rigs.three_levels import awaiting

from egm.app.features import FEATURES, MENU
from egm.devices.interface import Barcode, Note
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType, Next, State
from egm.kernel.rules import DerivedState, Refusal, Rules
from egm.kernel.states import SETS
from egm.money.host.model import HostMoney, Inquiry, Lock, Order, TransferKind
from egm.progressive.messages import Won
from egm.progressive.trigger import Trigger
from egm.records.keys import MoneyKey, PlayKey
from egm.seats.table import SharedTable
from egm.staff.service.desk import ServiceDesk
from egm.testing.machine import FailingChance, MachineRig, ScriptedChance
from egm.tickets.desk import TicketDesk
from meters import Phase, Transfer
from tools.lab.rule_table import interruption_table, picture, rule_table

LOSS = (0, 0, 0)
TICKET = "071111222233334444"
#: A supervisor and a manager of the room's staff.
TWO = {"person": "2", "persons": ("2", "5")}
_SECRET = Trigger(
    level="of-nobody", number=1, start=Fraction(5), step=Fraction(1), ceiling_cents=9, drawn=0, salt="0" * 64
)
PRIZE = Won(claim="of-nobody", sequence=1, amount_cents=700, order=1, trigger=_SECRET)
VALUES = {
    EventType.BILL_ESCROWED: {"escrow": 1, "amount_cents": 500},
    EventType.BILL_RETURNED: {"reason": "device"},
    EventType.BILL_REJECTED: {"reason": "unreadable"},
    EventType.BILL_NOT_STACKED: {"why": "test"},
    EventType.BILL_LOST: {"why": "test"},
    EventType.AMOUNT_DISPUTED: {"device": "bill_acceptor", "why": "test", "most_cents": 500},
    EventType.COINS_STRAYED: {"coins": 2, "why": "test"},
    EventType.DISPUTED_AMOUNT: {
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
    EventType.KEY_MOVED: {"key": "attendant", "on": True, "unattended": False},
    EventType.MENU: {"key": "operator"},
    EventType.MENU_CLOSED: {"why": "key"},
    EventType.LINK_ENROLMENT: {"form": "link_request", "step": "request", "persons": ("5",)},
    EventType.MOVE_LEVEL: {"form": "level_move", "source": "a", "target": "b", "persons": ("5",)},
    EventType.OPTIONS: {"form": "options_game", "option": "game", "person": "5", "persons": ("5",)},
    EventType.RESTART: {"form": "restart", "person": "4", "persons": ("4",)},
    EventType.FAULTS_SETTLED: {"form": "settle_faults", "person": "4", "persons": ("4",), "finding": "dust"},
    EventType.VERIFY: {"form": "verify", "person": "4", "persons": ("4",)},
    EventType.COUNTERS_EXCHANGED: {
        "form": "counters",
        "person": "4",
        "persons": ("4",),
        "reason": "a new board",
        "readings": "0",
    },
    EventType.NUMBER_UNLOCKED: {
        "form": "unlock",
        "person": "5",
        "persons": ("5",),
        "number": "3",
        "reason": "forgot",
    },
    EventType.TEST: {"test": "light", "device": "io", "outputs": ("bell",), "person": "3", "persons": ("3",)},
    EventType.INTERVENTION_OPENED: {
        "form": "intervention",
        "kind": "repair",
        "reason": "test",
        "person": "3",
        "persons": ("3",),
    },
    EventType.INTERVENTION_CLOSED: {"form": "intervention_end", "kind": "repair", "persons": ("3",)},
    EventType.BET: {"value": 2},
    EventType.GAME: {"value": "maple-classic"},
    EventType.DENOMINATION: {"value": 25},
    EventType.LANGUAGE: {"value": "fr"},
    EventType.CHOOSE: {"value": 0},
    EventType.TICKET_ESCROWED: {"escrow": 1, "digits": "910000000000000000"},
    EventType.COINS_IN: {"coins": ((100, True),), "position": 3},
    EventType.TICKET_FAILED: {"why": "test"},
    EventType.NO_PAYOUT_DEVICE: {"why": "test"},
    EventType.CHANCE_FAILED: {"detail": "test"},
    EventType.TICKET_NUMBERED: {"id": "waiting", "number": TICKET},
    EventType.NUMBER_REFUSED: {"id": "waiting", "why": "test"},
    EventType.TICKET_AUTHORISED: {"id": "asked", "kind": "cashable", "amount_cents": 100},
    EventType.TICKET_DECLINED: {"id": "asked"},
    EventType.HANDPAY_FORM: {**TWO, "form": "handpay", "method": "cheque"},
    EventType.MACHINE_CHECKED: {**TWO, "form": "machine_check"},
    EventType.COMPLEMENT: {**TWO, "form": "complement", "amount_cents": 500, "reason": "a line was not paid"},
    EventType.ORPHAN_CREDITS: {**TWO, "form": "orphan_credits", "place": "bank 4"},
    EventType.ORPHAN_HANDPAY: {**TWO, "form": "orphan_handpay", "place": "bank 4"},
    EventType.ORPHAN_TICKET: {**TWO, "form": "orphan_ticket", "number": "910000000000000000", "place": "b"},
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
    EventType.EXCLUSION_NOTED: {**TWO, "form": "exclusion", "who": "somebody", "reason": "took an orphan"},
    EventType.INCIDENT_JUDGED: {
        **TWO,
        "form": "incident",
        "what": "a quarrel",
        "judgement": "none",
        "informed": "telephone",
        "officer": "agent 12",
    },
    EventType.DISABLED: {"source": "host:test", "reason": "test"},
    EventType.ENABLED: {"source": "host:test"},
    EventType.SELF_TEST_FAILED: {"detail": "test"},
    EventType.AWARD_LOCKED: {"claim": "of-nobody", "amount_cents": 700},
    EventType.CLAIM_CLOSED: {"claim": "of-nobody"},
    EventType.INTERVENTION_SEEN: {"id": "of-nobody"},
    EventType.MYSTERY_WON: {"level": "of-nobody", "won": PRIZE},
}


def _room(tmp_path, state: State) -> MachineRig:
    """A machine brought into a state by what really leads there."""
    if state is State.AWAITING_AWARD:
        return awaiting(tmp_path)
    room = MachineRig(tmp_path, devices=("printer",) if state is State.PAYING else ())
    room.restarts.append(room.machine.chance)
    if state is State.BOOT:
        return room
    room.engine.handle(EventType.MEMORY_READY)
    if state is State.SELF_TEST:
        return room
    if state is State.OUT_OF_SERVICE:
        room.engine.handle(EventType.SELF_TEST_FAILED, detail="test")
        return room
    room.engine.handle(EventType.SELF_TEST_PASSED)
    room.insert(500)
    if state is State.PLAYING:
        room.play()
    elif state is State.PAYING or state is State.HANDPAY:
        room.engine.handle(EventType.CASH_OUT)
    elif state is State.DOOR_OPEN:
        room.engine.handle(EventType.DOOR_OPENED, door="main")
    elif state is State.BETTING:
        table = SharedTable()
        room.machine.install(table)
        table.sit(room.machine, lambda event: room.engine.handle(event.type, **event.data))
        table.join(room.machine, "of-somebody", 20)
        room.engine.handle(EventType.MACHINE_CHANGED)
    elif state is State.LOCKED:
        room.machine.state(HostMoney).lock = Lock(condition=1, until_ns=0)
        room.engine.handle(EventType.LOCK_ASKED)
    elif state is State.TILT:
        room.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    elif state is State.SERVICE_MENU:
        room.engine.handle(EventType.MENU, key="operator")
    return room


def _start_ticket(room: MachineRig) -> None:
    """A ticket on its way that this state did not begin: the printer reports whatever the machine does."""
    ticket = room.machine.state(TicketDesk).prepare("early", 500, denomination_cents=5)
    _reserve(
        room, "early", "out:voucher:cashable", {"way": "ticket", "number": ticket.masked, "language": "en"}
    )
    printing = {"id": "early", "language": "en", "state": "printing"}
    room.machine.record("ticket.pending", state={MoneyKey.PRINT: printing})


def _start_coins(room: MachineRig) -> None:
    """Coins on their way, the same."""
    if room.machine.memory.get(MoneyKey.PAY_OUT) is not None:
        room.engine.handle(EventType.TICKET_FAILED, why="test")
        room.engine.handle(EventType.KEY_TURNED, key="attendant")
        room.engine.state = State.PAYING
    _reserve(room, "coins", "out:hopper", {"way": "coins", "coins": 5})


def _await_number(room: MachineRig) -> None:
    """A cash-out that waits for a host's number, whatever the machine does meanwhile."""
    if room.machine.memory.get(MoneyKey.PAY_OUT) is not None:
        room.engine.handle(EventType.TICKET_FAILED, why="test")
        room.engine.handle(EventType.KEY_TURNED, key="attendant")
        room.engine.state = State.PAYING
    waiting = {"way": "ticket", "kind": "cashable", "number": "", "language": "en"}
    _reserve(room, "waiting", "out:voucher:cashable", waiting)


def _reserve(room: MachineRig, pay_out_id: str, target: str, more: dict) -> None:
    fund = (Transfer("world:bill", "credit:1:cashable", 500),)
    room.machine.record("bill.in", transfers=fund)
    room.machine.record(
        "cashout.request",
        transaction_id=pay_out_id,
        phase=Phase.RESERVE,
        transfers=(Transfer("credit:1:cashable", target, 500),),
        state={MoneyKey.PAY_OUT: {"id": pay_out_id, "amount_cents": 500, **more}},
    )


def _particulars(room: MachineRig, state: State, event: EventType) -> dict:
    """Values an event of this kind would really carry, and what must be true before it can happen at all."""
    money = room.machine.state(HostMoney)
    if event is EventType.SHOWN and state in {State.PLAYING, State.AWAITING_AWARD}:
        return {"value": room.machine.memory.get(PlayKey.GAME)["play_id"]}
    if event is EventType.ANSWER and state is State.SERVICE_MENU:
        page = room.machine.state(ServiceDesk).page(room.machine)
        return {"value": "back", "options": {"page": page.id}}
    if event is EventType.BILL_ESCROWED:
        room.hands.offered[1] = Note(500)
    elif event in {EventType.TICKET_AUTHORISED, EventType.TICKET_DECLINED}:
        room.hands.offered[1] = Barcode(TICKET)
        money.inquiry = Inquiry("asked", 1, TICKET)
    elif event in {EventType.TRANSFER_ORDERED, EventType.TRANSFER_CANCELLED}:
        cents = {CreditKind.CASHABLE: 100}
        money.order = Order(identifier="T-1", kind=TransferKind.IN, cents=cents)
    elif event in {EventType.LOCK_ASKED, EventType.LOCK_ENDED}:
        granted = state is State.LOCKED
        money.lock = Lock(condition=1, until_ns=0, granted=granted)
    elif event in {EventType.TICKET_NUMBERED, EventType.NUMBER_REFUSED}:
        _await_number(room)
    elif event is EventType.COINS_PAID:
        _start_coins(room)
        return {"paid_coins": 5}
    elif event in {EventType.TICKET_PRINTED, EventType.TICKET_FAILED} and state is not State.PAYING:
        _start_ticket(room)
    elif event in {EventType.BILL_STACKED, EventType.BILL_NOT_STACKED, EventType.BILL_LOST}:
        room.ledger.stack_ordered(Note(500), 0)
    return VALUES.get(event, {})


@pytest.mark.requirement("F-08", "G-04", "J-02")
@pytest.mark.parametrize("event", EventType, ids=str)
@pytest.mark.parametrize("state", State, ids=str)
def test_every_state_and_event(tmp_path, state, event):
    room = _room(tmp_path, state)
    values = _particulars(room, state, event)
    before, credit_before = room.journal.sequence, room.credit_cents
    happening = Event(event, values)
    taken = next(
        (
            rule
            for rule in FEATURES.rules.of(state, event)
            if all(guard(room.machine, happening) for guard in rule.guards)
        ),
        None,
    )

    room.engine.handle(event, **values)

    room.journal.self_audit()
    if taken is None:
        told = FEATURES.rules.refusal(event) is Refusal.TELL
        assert (room.notice or "").startswith("refused.") == told
        unexpected = room.records("event.unexpected")
        assert [(entry["event"], entry["state"]) for entry in unexpected] == (
            [] if told else [(event.value, state.value)]
        )
        assert "number" not in values or str(values["number"]) not in str(unexpected)
        assert (room.journal.sequence, room.credit_cents, room.state) == (
            before + len(unexpected),
            credit_before,
            state,
        )
    elif taken.next is Next.SAME or (taken.next is Next.DERIVED_ONCE_TESTED and state is State.SELF_TEST):
        assert room.state is state
    elif isinstance(taken.next, Next) or taken.next is State.PAYING:
        assert room.state is room.engine.derived_state()
    else:
        assert room.state is taken.next


def test_what_was_not_expected_is_recorded_once_a_start(tmp_path):
    room = _room(tmp_path, State.IDLE)
    for _ in range(3):
        room.engine.handle(EventType.TICKET_NUMBERED, id="of-nobody", number=TICKET)
    (told,) = room.records("event.unexpected")
    assert (told["event"], told["reason"]) == ("ticket_numbered", "number_is_awaited")
    assert told["values"] == {"id": "of-nobody", "number": type(TICKET).__name__}
    room.close()


def test_every_form_is_refused_out_loud(tmp_path):
    """Also one whose event nobody thought of: a form that is not carried out never says that it is done."""
    room = _room(tmp_path, State.IDLE)
    refusable = [form for form in MENU.forms if not FEATURES.rules.always_takes(form.event)]
    assert len(refusable) > 20
    for form in refusable:
        room.engine.handle(form.event, form=form.id)
        assert room.notice is not None, form.id
        assert room.notice.startswith("refused."), form.id
    room.close()


def test_the_table_is_short_and_its_sets_have_names():
    assert len(FEATURES.rules) <= 160
    assert [rule.events for rule in FEATURES.rules if rule.states not in SETS] == []


def test_what_the_machine_raises_itself_and_what_is_said_late_is_taken_everywhere():
    """Also where there is nothing to do: no event is decided outside the table, and none is dropped."""
    for event in (EventType.AFTER_EVENT, EventType.AT_REST, EventType.SHOWN, EventType.ANSWER):
        for state in State:
            assert not FEATURES.rules.of(state, event)[-1].guards, (state, event)


def test_every_form_is_guarded_by_its_persons():
    by_form = [rule for rule in FEATURES.rules if "authorised" in {guard.__name__ for guard in rule.guards}]
    assert {event for rule in by_form for event in rule.events} >= {
        form.event for form in MENU.forms if not FEATURES.rules.always_takes(form.event)
    }
    assert {rule.refusal for rule in by_form} == {Refusal.TELL}


def test_every_state_can_be_left_and_reached():
    left = {state for rule in FEATURES.rules for state in rule.states if rule.next is not Next.SAME}
    assert left == set(State)
    named = {rule.next for rule in FEATURES.rules} | {State.BOOT}
    derived = {State.IDLE, State.DOOR_OPEN, State.TILT, State.OUT_OF_SERVICE, State.SERVICE_MENU}
    assert named | derived >= set(State)


@pytest.mark.requirement("A-08", "A-09")
def test_the_most_pressing_state_comes_first():
    pressing = (
        State.DOOR_OPEN,
        State.TILT,
        State.HANDPAY,
        State.AWAITING_AWARD,
        State.SERVICE_MENU,
        State.PAYING,
        State.PLAYING,
        State.OUT_OF_SERVICE,
        State.LOCKED,
        State.BETTING,
    )
    assert tuple(one.state for one in FEATURES.rules.states) == pressing
    derived = (DerivedState(state, lambda holding, state=state: state in holding) for state in pressing[::-1])
    rules, holding = Rules(FEATURES.rules, derived), set(pressing)
    for state in pressing:
        assert rules.derived_state(holding) is state
        holding.remove(state)
    assert rules.derived_state(holding) is State.IDLE


def test_the_picture_shows_what_rules_do_and_can_be_read():
    arrows = [line for line in picture().splitlines() if "-->" in line]
    assert len(arrows) <= 20
    drawn = {word for arrow in arrows for word in arrow.split(":")[0].split() if word != "-->"}
    between = {row.split("`")[1] for row in interruption_table().splitlines() if "`" in row}
    assert drawn | between == set(State) - {State.BOOT}
    assert not drawn & between
    assert rule_table().count("\n") >= len(FEATURES.rules)


def test_a_row_is_finished_before_what_follows_from_it(tmp_path):
    room = MachineRig(tmp_path, chance=ScriptedChance(*LOSS)).boot().insert(500)
    changes = room.changes
    room.machine.chance = FailingChance()
    room.play()  # no numbers: out of service follows, one change for whoever watches
    assert room.state is State.OUT_OF_SERVICE
    assert room.changes == changes + 1
