"""Host timeouts, tested on an event loop whose clock jumps to the next timer."""

import asyncio

import pytest

from egm.app.view import build_snapshot
from egm.config.cabinet_file import TicketValidator
from egm.host.timeouts import HostTimeouts, create_host_timeouts
from egm.host.transfer_interface import HostTransferInterface, TransferLockState
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.kernel.timekeeping import Timekeeper
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.jumping_loop import LoopClock, jump
from egm.testing.machine import MachineRig
from egm.testing.sas import create_machine_context

TICKET = "071111222233334444"


def with_timeouts(folder, scenario, *, online=True, alone=False):
    """Run ``scenario(rig)`` on a machine with host timeouts; with ``alone``, its host is no longer configured."""

    async def run():
        host = HostMoney(
            ticket_validator=TicketValidator.SYSTEM,
            can_transfer=True,
            asset_number=7,
            money_line_name="main",
            is_online=online,
        )
        rig = MachineRig(folder, devices=("printer",), host=None if alone else host)
        rig.machine.clock = LoopClock(asyncio.get_running_loop())
        rig.journal._now = rig.machine.clock.now
        rig.machine.timekeeper = Timekeeper(rig.machine.clock)
        context = create_machine_context(rig, folder, {})
        (timeouts,) = create_host_timeouts(context)
        rig.engine._on_change = lambda: timeouts.process_change(build_snapshot(rig.engine))
        rig.boot()
        task = asyncio.create_task(timeouts.run())
        try:
            await scenario(rig)
        finally:
            task.cancel()
            rig.close()

    jump(run())


@pytest.mark.requirement("F-09")
@pytest.mark.parametrize(("online", "seconds"), [(True, 10), (False, 0)])
def test_a_cash_out_is_a_hand_pay_when_no_ticket_number_arrives_in_time(tmp_path, online, seconds):
    async def scenario(rig):
        rig.insert(2000)
        rig.engine.handle(EventType.CASH_OUT)
        if seconds:
            await asyncio.sleep(seconds - 0.1)
            assert rig.state is State.PAYING
        await asyncio.sleep(0.2)
        assert rig.state is State.HANDPAY

    with_timeouts(tmp_path, scenario, online=online)


def test_no_timeout_follows_once_the_ticket_number_has_arrived(tmp_path):
    async def scenario(rig):
        rig.insert(2000)
        rig.engine.handle(EventType.CASH_OUT)
        pay_out = rig.machine.memory.get("pay_out")
        await asyncio.sleep(9)
        rig.engine.handle(EventType.TICKET_NUMBER_ASSIGNED, id=pay_out["id"], number=TICKET)
        await asyncio.sleep(60)
        assert (rig.state, rig.hands.jobs[-1].barcode) == (State.PAYING, TICKET)

    with_timeouts(tmp_path, scenario)


@pytest.mark.requirement("H-08", "G-16")
def test_a_ticket_is_returned_when_the_host_does_not_reply_in_time(tmp_path):
    async def scenario(rig):
        rig.offer_ticket(TICKET)
        await asyncio.sleep(9.9)
        assert rig.hands.orders == [("hold", 1)]
        await asyncio.sleep(0.2)
        assert rig.hands.orders[-1] == ("return", 1)
        assert rig.notice == "ticket_refused.host_down"

    with_timeouts(tmp_path, scenario)


def test_a_lock_ends_at_its_timeout_and_a_new_request_extends_it(tmp_path):
    async def scenario(rig):
        port = HostTransferInterface(rig.engine, rig.submit_event)
        port.request_lock(1, 500)
        await asyncio.sleep(4)
        port.request_lock(1, 500)
        await asyncio.sleep(4)
        assert rig.state is State.LOCKED
        await asyncio.sleep(1.1)
        assert (rig.state, port.transfer_lock_state) == (State.IDLE, TransferLockState.NOT_LOCKED)

    with_timeouts(tmp_path, scenario)


def test_a_cash_out_that_the_host_does_not_take_is_paid_by_ticket_and_then_by_hand(tmp_path):
    async def scenario(rig):
        port = HostTransferInterface(rig.engine, rig.submit_event)
        port.set_cash_out_terms(is_offered_to_host=True, is_host_only=False)
        rig.insert(2000)
        rig.engine.handle(EventType.CASH_OUT)
        assert (rig.state, port.is_cash_out_offered) == (State.LOCKED, True)
        await asyncio.sleep(10.1)
        assert rig.state is State.PAYING
        await asyncio.sleep(10.1)
        assert rig.state is State.HANDPAY

    with_timeouts(tmp_path, scenario)


def test_restricted_credit_expires_by_itself_after_its_expiry_date(tmp_path):
    async def scenario(rig):
        port = HostTransferInterface(rig.engine, rig.submit_event)
        today = rig.machine.local_date
        cents = {CreditKind.RESTRICTED: 100}
        order = TransferOrder(
            identifier="T-1", kind=TransferKind.IN, cents_by_credit_kind=cents, expiry_date=today
        )
        port.execute_or_refuse_order(order, asset_number=7)
        await asyncio.sleep(3600)
        assert rig.credit_cents == 100
        await asyncio.sleep(24 * 3600)
        assert (rig.credit_cents, rig.journal.meters().values["expired"]) == (0, 100)

    with_timeouts(tmp_path, scenario)


@pytest.mark.requirement("F-01")
def test_restricted_credit_expires_even_if_the_host_is_no_longer_configured(tmp_path):
    async def transfer_in(rig):
        today, cents = rig.machine.local_date, {CreditKind.RESTRICTED: 100}
        order = TransferOrder(
            identifier="T-1", kind=TransferKind.IN, cents_by_credit_kind=cents, expiry_date=today
        )
        HostTransferInterface(rig.engine, rig.submit_event).execute_or_refuse_order(order, asset_number=7)

    async def wait_for_expiry(rig):
        assert rig.credit_cents == 100
        await asyncio.sleep(25 * 3600)
        assert (rig.credit_cents, rig.journal.meters().values["expired"]) == (0, 100)

    with_timeouts(tmp_path, transfer_in)
    with_timeouts(tmp_path, wait_for_expiry, alone=True)


def test_a_machine_without_a_host_has_no_host_timeouts(tmp_path):
    rig = MachineRig(tmp_path)
    assert list(create_host_timeouts(create_machine_context(rig, tmp_path, {}))) == []
    assert isinstance(HostTimeouts(create_machine_context(rig, tmp_path, {})), HostTimeouts)
    rig.close()
