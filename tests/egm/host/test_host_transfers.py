"""Electronic transfers: each identifier moves value once, locks start and end, and restricted credit expires."""

from datetime import date, timedelta

import pytest

from egm.app.view import build_snapshot
from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import MoneyDevices
from egm.host.keys import HostKey
from egm.host.transfer_interface import HostTransferInterface, TransferLockState
from egm.host.transfers import TRANSFER_HISTORY_SIZE
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType, State
from egm.kernel.logs import Log
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.keys import MoneyKey
from egm.money.pay_out import payout_is_due
from egm.money.records.host import HostTicketRecord, RedemptionStatus, TransferKind, TransferStatus
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from meters import Transfer
from meters.recall import read_details

CASHABLE, RESTRICTED, NONRESTRICTED = CreditKind.CASHABLE, CreditKind.RESTRICTED, CreditKind.NONRESTRICTED
IN, OUT, BONUS, JACKPOT = TransferKind.IN, TransferKind.OUT, TransferKind.BONUS, TransferKind.BONUS_JACKPOT
Status = TransferStatus
ASSET = 4711
LOSS = (0, 0, 0)


@pytest.fixture
def make(tmp_path):
    opened = []

    def start(**options) -> MachineRig:
        """Start a machine with a host; a second call restarts the same machine."""
        if opened:
            opened[-1].close()
        host = HostMoney(
            ticket_validator=TicketValidator.SYSTEM,
            can_transfer=True,
            can_award_bonuses=True,
            asset_number=ASSET,
            is_online=True,
        )
        rig = MachineRig(tmp_path, devices=("printer",), host=host, **options)
        opened.append(rig.boot())
        rig.port = HostTransferInterface(rig.engine, rig.submit_event)
        return rig

    yield start
    for rig in opened:
        rig.close()


def order(
    identifier="T-1", kind=IN, *, restricted=0, nonrestricted=0, cashable=0, **options
) -> TransferOrder:
    cents = {CASHABLE: cashable, RESTRICTED: restricted, NONRESTRICTED: nonrestricted}
    return TransferOrder(identifier=identifier, kind=kind, cents_by_credit_kind=cents, **options)


def ask(
    rig, identifier="T-1", kind=IN, *, asset=ASSET, key=b"", requires_lock=False, **options
) -> TransferStatus:
    """Order a transfer, acknowledge its result if it is final, and return the status."""
    answer = rig.port.execute_or_refuse_order(
        order(identifier, kind, **options),
        asset_number=asset,
        registration_key=key,
        requires_lock=requires_lock,
    )
    if answer is not Status.PENDING:
        return answer
    status = rig.port.last_result.status
    rig.port.acknowledge_result()
    return status


def read_credit_kinds(rig: MachineRig) -> tuple[int, ...]:
    return tuple(rig.machine.read_credit_cents(kind) for kind in (CASHABLE, RESTRICTED, NONRESTRICTED))


@pytest.mark.requirement("K-09", "D-12")
def test_transfers_in_and_out_move_and_meter_each_credit_kind(make):
    rig = make()
    assert (
        ask(rig, cashable=1000, restricted=200, nonrestricted=30, restricted_pool=3)
        is Status.COMPLETED_IN_FULL
    )
    assert read_credit_kinds(rig) == (1000, 200, 30)
    assert rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS) == {"expires": "", "pool": 3}
    assert ask(rig, "T-2", OUT, cashable=1000, restricted=200, nonrestricted=30) is Status.COMPLETED_IN_FULL
    assert read_credit_kinds(rig) == (0, 0, 0)
    meters = rig.journal.meters().values
    for kind, cents in (("cashable", 1000), ("promo_restricted", 200), ("promo_cashable", 30)):
        for way in ("in", "out"):
            assert (meters[f"aft_{way}.{kind}.value"], meters[f"aft_{way}.{kind}.count"]) == (cents, 1)


@pytest.mark.requirement("K-09")
def test_a_transfer_identifier_moves_value_only_once_even_after_a_restart(make):
    rig = make()
    assert ask(rig, cashable=1000) is Status.COMPLETED_IN_FULL
    assert ask(rig, cashable=1000) is Status.NOT_UNIQUE
    assert ask(rig, cashable=5) is Status.NOT_UNIQUE
    assert ask(rig, "T-2", cashable=5) is Status.COMPLETED_IN_FULL
    restarted = make()
    assert ask(restarted, cashable=1000) is Status.NOT_UNIQUE
    assert read_credit_kinds(restarted) == (1005, 0, 0)


def test_a_transfer_is_refused_until_the_host_has_read_the_previous_result(make):
    rig = make()
    assert rig.port.execute_or_refuse_order(order(cashable=100), asset_number=ASSET) is Status.PENDING
    assert rig.port.has_unread_result
    assert (
        rig.port.execute_or_refuse_order(order("T-2", cashable=100), asset_number=ASSET)
        is Status.PREVIOUS_RESULT_UNREAD
    )
    restarted = make()
    assert (
        restarted.port.has_unread_result,
        restarted.port.last_result.identifier,
        restarted.port.last_result.status,
    ) == (
        True,
        "T-1",
        Status.COMPLETED_IN_FULL,
    )
    restarted.port.acknowledge_result()
    assert (
        restarted.port.execute_or_refuse_order(order("T-2", cashable=100), asset_number=ASSET)
        is Status.PENDING
    )
    assert read_credit_kinds(restarted) == (200, 0, 0)


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"asset": ASSET + 1, "cashable": 1}, Status.WRONG_ASSET),
        ({"asset": 0, "cashable": 1}, Status.WRONG_ASSET),
        ({"identifier": "", "cashable": 1}, Status.BAD_IDENTIFIER),
        ({"identifier": " " * 20, "cashable": 1}, Status.BAD_IDENTIFIER),
        ({"identifier": "x" * 21, "cashable": 1}, Status.BAD_IDENTIFIER),
        ({"identifier": "a\x07", "cashable": 1}, Status.BAD_IDENTIFIER),
        ({"kind": BONUS}, Status.BAD_AMOUNT),
        ({"kind": OUT, "cashable": 1}, Status.BAD_AMOUNT),
        ({"kind": BONUS, "restricted": 1}, Status.BAD_AMOUNT),
        ({"kind": JACKPOT, "nonrestricted": 1}, Status.BAD_AMOUNT),
        ({"restricted": 1, "expiry_date": date(2025, 12, 31)}, Status.BAD_EXPIRY),
        ({"key": b"k" * 20, "cashable": 1}, Status.NOT_REGISTERED),
        ({"requires_lock": True, "cashable": 1}, Status.NOT_LOCKED),
        ({"cashable": 300_001}, Status.OVER_LIMIT),
        ({"kind": BONUS, "cashable": 300_001}, Status.OVER_LIMIT),
    ],
)
def test_a_refused_transfer_moves_nothing_and_does_not_use_up_its_identifier(make, options, status):
    rig = make()
    assert ask(rig, **options) is status
    assert (read_credit_kinds(rig), rig.journal.meters().values["money_in"]) == ((0, 0, 0), 0)
    assert rig.port.last_result.status is status
    assert ask(rig, cashable=7) is Status.COMPLETED_IN_FULL


@pytest.mark.requirement("K-09")
def test_a_transfer_is_partial_only_if_the_host_allows_it(make):
    rig = make().insert(10000)
    assert ask(rig, kind=OUT, cashable=30000) is Status.BAD_AMOUNT
    assert (
        ask(rig, kind=OUT, cashable=30000, nonrestricted=5, may_be_partial=True) is Status.COMPLETED_IN_PART
    )
    assert rig.port.last_result.cents_by_credit_kind == {CASHABLE: 10000, RESTRICTED: 0, NONRESTRICTED: 0}
    assert read_credit_kinds(rig) == (0, 0, 0)
    assert ask(rig, "T-2", cashable=299_990, restricted=20, may_be_partial=True) is Status.COMPLETED_IN_PART
    assert read_credit_kinds(rig) == (299_990, 10, 0)


def test_restricted_credit_of_two_pools_is_never_mixed(make):
    rig = make()
    assert ask(rig, restricted=100, restricted_pool=1) is Status.COMPLETED_IN_FULL
    assert ask(rig, "T-2", restricted=100, restricted_pool=2) is Status.OTHER_POOL
    assert ask(rig, "T-3", restricted=100, restricted_pool=1) is Status.COMPLETED_IN_FULL
    assert ask(rig, "T-4", OUT, restricted=200) is Status.COMPLETED_IN_FULL
    assert ask(rig, "T-5", restricted=100, restricted_pool=2) is Status.COMPLETED_IN_FULL


# ---------------------------------------------------------------------------------------------- while the machine is
# busy
def test_a_transfer_is_pending_until_the_open_game_has_ended(make):
    rig = make(generator=ScriptedGenerator(*LOSS)).insert(100)
    rig.play()
    assert rig.port.execute_or_refuse_order(order(cashable=500), asset_number=ASSET) is Status.PENDING
    assert (rig.state, rig.port.last_result.status, read_credit_kinds(rig)) == (
        State.PLAYING,
        Status.PENDING,
        (95, 0, 0),
    )
    assert not rig.port.has_unread_result
    rig.report_shown()
    assert (rig.port.last_result.status, read_credit_kinds(rig)) == (Status.COMPLETED_IN_FULL, (595, 0, 0))


def test_a_pending_transfer_can_be_cancelled(make):
    rig = make(generator=ScriptedGenerator(*LOSS)).insert(100)
    rig.play()
    rig.port.execute_or_refuse_order(order(cashable=500), asset_number=ASSET)
    assert rig.port.cancel_order() is Status.CANCELLED
    rig.report_shown()
    assert read_credit_kinds(rig) == (95, 0, 0)
    assert rig.port.cancel_order() is Status.CANCELLED


def test_a_restart_drops_a_pending_transfer_and_its_identifier_may_be_used_again(make):
    rig = make(generator=ScriptedGenerator(*LOSS)).insert(100)
    rig.play()
    rig.port.execute_or_refuse_order(order(cashable=500), asset_number=ASSET)
    restarted = make()
    assert restarted.port.last_result is None
    restarted.report_shown()
    assert ask(restarted, cashable=500) is Status.COMPLETED_IN_FULL
    assert read_credit_kinds(restarted) == (595, 0, 0)


@pytest.mark.parametrize("cause", ["door", "tilt", "handpay"])
def test_a_transfer_is_refused_during_an_open_door_a_tilt_or_a_hand_pay(make, cause):
    rig = make().insert(100)
    if cause == "door":
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
    elif cause == "tilt":
        rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    else:
        rig.machine.component(MoneyDevices).printer = None
        rig.engine.handle(EventType.CASH_OUT)
    before = read_credit_kinds(rig)
    assert not rig.port.can_execute(IN)
    assert ask(rig, cashable=500) is Status.NOT_NOW
    assert read_credit_kinds(rig) == before


# ---------------------------------------------------------------------------------------------- bonuses
@pytest.mark.requirement("D-09")
def test_a_bonus_is_metered_as_machine_paid_bonus_not_as_money_in_or_coin_out(make):
    rig = make()
    assert ask(rig, kind=BONUS, cashable=100, nonrestricted=50) is Status.COMPLETED_IN_FULL
    assert read_credit_kinds(rig) == (100, 0, 50)
    meters = rig.journal.meters().values
    assert (meters["mach_bonus"], meters["money_in"], meters["coin_out"]) == (150, 0, 0)


@pytest.mark.requirement("F-06", "D-10")
def test_a_bonus_jackpot_is_a_hand_pay_and_survives_a_restart(make):
    rig = make()
    assert ask(rig, kind=JACKPOT, cashable=50_000) is Status.COMPLETED_IN_FULL
    assert (rig.state, rig.credit_cents) == (State.HANDPAY, 0)
    restarted = make()
    assert restarted.state is State.HANDPAY
    restarted.engine.handle(EventType.KEY_TURNED)
    meters = restarted.journal.meters().values
    assert (restarted.state, meters["att_bonus"], meters["handpays.bonus"]) == (State.IDLE, 50_000, 1)


# ---------------------------------------------------------------------------------------------- the history
@pytest.mark.parametrize("ending", ["paid", "unclaimed", "orphan", "forfeit"])
def test_no_transfer_takes_the_journal_id_of_the_end_of_a_bonus_jackpot(make, ending):
    """Regression: the journal rejected the hand-pay's end as a repeat, so it could never be paid."""
    rig = make()
    assert ask(rig, f"A.{ending}", cashable=5) is Status.COMPLETED_IN_FULL
    assert ask(rig, "A", JACKPOT, cashable=7000) is Status.BAD_IDENTIFIER
    assert ask(rig, f"A.{ending}", cashable=5) is Status.NOT_UNIQUE
    assert ask(rig, "B", JACKPOT, cashable=7000) is Status.COMPLETED_IN_FULL
    assert ask(rig, f"B.{ending}", cashable=5) is Status.BAD_IDENTIFIER
    rig.engine.handle(EventType.KEY_TURNED)
    assert (rig.state, rig.journal.balance_cents("out:handpay_bonus")) == (State.IDLE, 7000)
    assert ask(rig, f"B.{ending}", cashable=5) is Status.BAD_IDENTIFIER
    assert ask(rig, "B", JACKPOT, cashable=7000) is Status.NOT_UNIQUE
    assert ask(rig, "B.credited", cashable=5) is Status.COMPLETED_IN_FULL


@pytest.mark.requirement("E-05")
def test_the_transfer_history_holds_the_last_results_and_survives_a_restart(make):
    rig = make()
    for number in range(1, TRANSFER_HISTORY_SIZE + 3):
        assert ask(rig, f"T-{number}", cashable=number) is Status.COMPLETED_IN_FULL
    assert [rig.port.find_result_in_history(index).identifier for index in (1, 2, 3)] == [
        "T-36",
        "T-37",
        "T-3",
    ]
    assert (
        rig.port.find_result_in_history(TRANSFER_HISTORY_SIZE).cents_by_credit_kind[CASHABLE]
        == TRANSFER_HISTORY_SIZE
    )
    assert rig.port.find_result_in_history(0) is None
    assert make().port.find_result_in_history(2).identifier == "T-37"


@pytest.mark.requirement("E-05", "D-12")
def test_the_transfer_log_shows_the_result_of_each_transfer_and_no_locks(make):
    rig = make()
    rig.port.request_lock(1, 500)
    ask(rig, cashable=1000, requires_lock=True)
    ask(rig, "T-2", cashable=300_001)
    ask(rig, "T-3", OUT, cashable=400)
    shown = [
        read_details(entry) for entry in rig.machine.entry_declarations.read_log(rig.journal, Log.TRANSFERS)
    ]
    assert [(line["identifier"], line["status"], line["cents"]["cashable"]) for line in shown] == [
        ("T-3", "full", 400),
        ("T-2", "over_limit", 0),
        ("T-1", "full", 1000),
    ]


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize("event", ["disabled", "door", "fault"])
def test_a_pending_transfer_is_refused_if_the_machine_is_not_idle_after_the_game(make, event):
    """A stored order would later add this player's money to another player's credit."""
    rig = make(generator=ScriptedGenerator(*LOSS)).insert(2000)
    rig.play()
    assert rig.port.execute_or_refuse_order(order(cashable=100), asset_number=ASSET) is Status.PENDING
    match event:
        case "disabled":
            rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="host")
            assert rig.port.last_result.status is Status.PENDING  # the game is still shown
            rig.report_shown()
        case "door":
            rig.engine.handle(EventType.DOOR_OPENED, door="main")
        case "fault":
            rig.engine.handle(EventType.FAULT_RAISED, code="io_board.communication")
    assert rig.port.last_result.status is Status.NOT_NOW
    assert rig.machine.component(HostMoney).transfer_order is None
    assert rig.journal.balance_cents("world:aft_in:cashable") == 0


def test_a_pending_transfer_is_refused_if_another_restricted_pool_arrived_meanwhile(make):
    rig = make().insert(2000)
    rig.play()
    assert (
        rig.port.execute_or_refuse_order(order(restricted=100, restricted_pool=1), asset_number=ASSET)
        is Status.PENDING
    )
    write_undeclared_entry(
        rig.machine,
        "test.ticket",
        transfers=(Transfer("world:voucher_in:restricted", "credit:1:restricted", 50),),
        state={MoneyKey.RESTRICTED_CREDIT_TERMS: {"expires": "", "pool": 2}},
    )
    rig.report_shown()
    assert rig.port.last_result.status is Status.OTHER_POOL
    assert (read_credit_kinds(rig)[1], rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS)["pool"]) == (
        50,
        2,
    )


def test_a_transfer_is_refused_if_a_ticket_of_another_restricted_pool_is_being_stacked(make):
    rig = make()
    pending_ticket = HostTicketRecord(
        id="ticket-1",
        masked_number="1234",
        amount_cents=50,
        credit_kind=RESTRICTED.value,
        expiry_date="",
        restricted_pool=2,
        status=RedemptionStatus.PENDING,
        host_has_read=False,
    )
    write_undeclared_entry(rig.machine, "test.ticket", state={HostKey.LAST_TICKET_REDEMPTION: pending_ticket})
    assert ask(rig, restricted=100, restricted_pool=1) is Status.OTHER_POOL
    assert ask(rig, "T-2", restricted=100, restricted_pool=2) is Status.COMPLETED_IN_FULL


# ---------------------------------------------------------------------------------------------- the lock
def test_a_lock_blocks_play_until_a_transfer_releases_it(make):
    rig = make().insert(100)
    assert rig.port.request_lock(1, 500) is TransferLockState.LOCKED
    assert rig.state is State.LOCKED
    rig.play()
    assert rig.notice == "refused.locked"
    lock = build_snapshot(rig.engine).host_lock
    until = rig.clock.now() + timedelta(seconds=5)
    assert (lock.is_cash_out, lock.until_utc) == (False, until.isoformat(timespec="seconds"))
    assert (
        ask(rig, cashable=500, requires_lock=True, stays_locked_afterwards=True) is Status.COMPLETED_IN_FULL
    )
    assert (rig.state, rig.port.transfer_lock_state) == (State.LOCKED, TransferLockState.LOCKED)
    assert ask(rig, "T-2", OUT, cashable=600, requires_lock=True) is Status.COMPLETED_IN_FULL
    assert (rig.state, rig.port.transfer_lock_state) == (State.IDLE, TransferLockState.NOT_LOCKED)


def test_a_lock_requested_during_a_game_starts_at_its_end_unless_released_before(make):
    rig = make(generator=ScriptedGenerator(*LOSS, *LOSS)).insert(100)
    rig.play()
    assert rig.port.request_lock(1, 500) is TransferLockState.PENDING
    rig.report_shown()
    assert (rig.state, rig.port.transfer_lock_state) == (State.LOCKED, TransferLockState.LOCKED)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)  # the lock has timed out
    rig.play()
    rig.port.request_lock(1, 500)
    rig.port.release_lock()
    rig.report_shown()
    assert (rig.state, rig.port.transfer_lock_state) == (State.IDLE, TransferLockState.NOT_LOCKED)
    rig.port.release_lock()


def test_an_open_door_takes_precedence_over_a_lock_and_a_restart_ends_the_lock(make):
    rig = make()
    rig.port.request_lock(1, 500)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert (rig.state, rig.port.transfer_lock_state) == (State.DOOR_OPEN, TransferLockState.PENDING)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert (rig.state, rig.port.transfer_lock_state) == (State.LOCKED, TransferLockState.LOCKED)
    restarted = make()
    assert (restarted.state, restarted.port.transfer_lock_state) == (State.IDLE, TransferLockState.NOT_LOCKED)


# ---------------------------------------------------------------------------------------------- cash-outs
def test_a_cash_out_is_offered_to_the_host_first(make):
    rig = make().insert(10000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.port.is_cash_out_offered, rig.port.transfer_lock_state) == (
        State.LOCKED,
        True,
        TransferLockState.NOT_LOCKED,
    )
    assert ask(rig, kind=OUT, cashable=10000) is Status.COMPLETED_IN_FULL
    assert (rig.state, rig.credit_cents, rig.port.is_cash_out_offered) == (State.IDLE, 0, False)


def test_a_cash_out_is_paid_by_ticket_when_the_host_does_not_reply(make):
    rig = make().insert(10000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig = make()
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)  # the host did not answer in time
    assert rig.state is State.PAYING
    assert rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"] == 10000


def test_a_cash_out_is_paid_by_ticket_when_the_host_locks_but_transfers_nothing(make):
    rig = make().insert(2000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.port.request_lock(2, 500) is TransferLockState.LOCKED
    assert not rig.port.is_cash_out_offered
    assert rig.port.request_lock(2, 500) is TransferLockState.LOCKED  # requested again, to extend the lock
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"]) == (State.PAYING, 2000)


def test_a_cash_out_the_host_did_not_take_is_paid_even_if_the_machine_was_disabled(make):
    rig = make().insert(2000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="host")
    assert rig.state is State.OUT_OF_SERVICE
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"]) == (State.PAYING, 2000)


@pytest.mark.parametrize("locks", [False, True])
def test_the_remainder_of_a_partly_transferred_cash_out_is_paid_by_ticket(make, locks):
    rig = make().insert(2000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.engine.handle(EventType.CASH_OUT)
    if locks:
        rig.port.request_lock(2, 500)
    assert ask(rig, "T-1", OUT, cashable=1500) is Status.COMPLETED_IN_FULL
    assert (rig.state, rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"]) == (State.PAYING, 500)


@pytest.mark.parametrize("locks", [False, True])
@pytest.mark.parametrize("kind", [IN, BONUS])
def test_a_transfer_to_the_machine_does_not_end_an_offered_cash_out(make, kind, locks):
    """Regression: the machine forgot the cash-out, and paid it neither to the host nor to the player."""
    rig = make().insert(2000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.engine.handle(EventType.CASH_OUT)
    if locks:
        rig.port.request_lock(1, 500)
    assert ask(rig, "T-1", kind, cashable=5) is Status.COMPLETED_IN_FULL
    if not locks:
        assert (rig.state, rig.port.is_cash_out_offered) == (State.LOCKED, True)
        rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"]) == (State.PAYING, 2005)


def test_a_lock_without_a_pending_cash_out_starts_no_pay_out(make):
    rig = make().insert(2000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
    rig.port.request_lock(2, 500)
    assert ask(rig, "T-1", OUT, cashable=500) is Status.COMPLETED_IN_FULL
    rig.port.acknowledge_result()
    rig.port.request_lock(2, 500)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 1500)


def test_a_host_only_cash_out_that_is_not_taken_leaves_the_credits_unless_the_host_is_offline(make):
    rig = make().insert(10000)
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=True)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.credit_cents, rig.notice) == (State.IDLE, 10000, "cash_out_not_taken")
    rig.machine.component(HostMoney).is_online = False
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.PAYING, "an offline host must not prevent the pay-out"


def test_a_mandatory_cash_out_the_host_did_not_take_is_offered_again_only_for_new_credit(make):
    rig = make(profile="quebec-vlt")
    rig.port.set_cash_out_terms(is_offered_to_host=True, is_host_only=True)
    fund = (Transfer("world:bill", "credit:1:cashable", 100_000),)
    write_undeclared_entry(rig.machine, "test.fund", transfers=fund)
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    assert (rig.state, rig.port.is_cash_out_offered) == (State.LOCKED, True)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (rig.state, rig.notice) == (State.IDLE, "cash_out_not_taken")
    rig.machine.component(HostMoney).is_online = False
    assert payout_is_due(rig.machine, Event(EventType.NO_EVENT_WAITING)), (
        "an offline host must not prevent the mandatory cash-out"
    )
    rig.machine.component(HostMoney).is_online = True
    rig.engine.handle(EventType.CASH_OUT)  # the player may cash out again
    assert rig.state is State.LOCKED
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)
    write_undeclared_entry(
        rig.machine, "test.fund", transfers=fund
    )  # new credit makes a cash-out mandatory again
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    assert rig.state is State.LOCKED


# ---------------------------------------------------------------------------------------------- registration
def test_a_transfer_needs_the_registered_key_which_is_never_in_the_journal(make):
    rig = make()
    key = bytes(range(1, 21))
    assert not rig.port.register_machine(ASSET + 1, key, 9).is_registered
    assert rig.port.register_machine(ASSET, key, 9).registration_key == key
    assert ask(rig, cashable=5, key=key) is Status.COMPLETED_IN_FULL
    assert ask(rig, "T-2", cashable=5, key=b"x" * 20) is Status.KEY_MISMATCH
    restarted = make()
    assert (
        restarted.port.current_registration.is_registered,
        restarted.port.current_registration.registration_key,
    ) == (
        True,
        b"",
    )
    assert ask(restarted, "T-2", cashable=5, key=key) is Status.COMPLETED_IN_FULL
    assert not restarted.port.cancel_registration().is_registered
    assert ask(restarted, "T-3", cashable=5, key=key) is Status.NOT_REGISTERED
    bodies = b"".join(restarted.journal.iter_bodies())
    assert key not in bodies
    assert key.hex().encode() not in bodies


# ---------------------------------------------------------------------------------------------- expiry
def test_restricted_credit_expires_at_the_end_of_its_expiry_date(make):
    rig = make()
    ask(rig, restricted=100, cashable=7, expiry_date=date(2026, 1, 2))
    for _ in range(2):
        rig.engine.handle(EventType.RESTRICTED_CREDIT_EXPIRED)
        assert read_credit_kinds(rig) == (7, 100, 0)
        rig.clock.pass_seconds(24 * 3600 - 1)
    rig.clock.pass_seconds(2)
    rig.engine.handle(EventType.RESTRICTED_CREDIT_EXPIRED)
    assert read_credit_kinds(rig) == (7, 0, 0)
    assert rig.journal.meters().values["expired"] == 100
