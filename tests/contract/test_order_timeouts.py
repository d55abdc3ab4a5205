"""Every order that concerns money ends within a time limit, whatever its device does.

Counted money is paid, an amount that cannot be determined is disputed, and the remainder is a hand-pay or is returned.
"""

import asyncio

import pytest
from bill_rig import DRIVERS, BillRig

from egm.app.ports import DRIVER_FACTORY_BY_PROTOCOL as PORT_DRIVERS
from egm.app.ports import DriverArguments
from egm.app.wiring import iter_reported_events
from egm.devices.cctalk.codec import Header
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.interface import (
    AmountDisputed,
    DeviceFault,
    FaultCode,
    MoneyDevices,
    PayoutFinished,
    PayoutProgress,
    PrintState,
)
from egm.devices.protocols import PROTOCOLS
from egm.devices.transient import TransientPayoutLedger, TransientPrintLedger
from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.keys import MoneyKey
from egm.profiles import load_profile
from egm.staff.service import device_tests
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: Longer than any time limit.
LIMIT_SECONDS = 90.0


def ignore_query(header):
    """Make the hopper ignore one kind of query."""

    def install(rig):
        received = rig.twin.process_message
        rig.twin.process_message = lambda message: None if message.header == header else received(message)

    return install


def send_malformed_count(rig):
    """Make the hopper reply to its lifetime count query with one byte too many."""
    answer = rig.twin._build_reply
    rig.twin._build_reply = lambda message: (
        b"\0\0\0\0" if message.header == Header.LIFETIME_PAID_COUNT else answer(message)
    )


def prevent_payout(rig):
    """Make the motor run without paying and without stopping."""
    rig.twin._turn_disc = lambda: None


def hand(action):
    return lambda rig: rig.perform_action(action)


#: Faults that the hopper has from the start, and whether it is reported as failed afterwards.
INITIAL_FAULTS = {
    "dispense": (ignore_query(Header.DISPENSE), True),
    "enable": (ignore_query(Header.ENABLE_HOPPER), True),
    "status": (ignore_query(Header.HOPPER_STATUS), True),
    "test": (ignore_query(Header.TEST_HOPPER), True),
    "count": (ignore_query(Header.LIFETIME_PAID_COUNT), True),
    "serial": (ignore_query(Header.SERIAL), True),
    "malformed count": (send_malformed_count, False),
    "motor": (prevent_payout, False),
    "no power": (hand("power_off"), False),
    "no cable": (hand("unplug"), False),
}

#: Faults during a payout, and whether the number of paid coins is then known.
FAULTS_DURING_PAYOUT = {
    "power": (hand("power_off"), False),
    "cable": (hand("unplug"), False),
    "silence": (hand("silence"), False),
    "count": (ignore_query(Header.LIFETIME_PAID_COUNT), False),
    "malformed count": (send_malformed_count, False),
    "motor": (prevent_payout, True),
    "jam": (hand("jam"), True),
}


def tray(rig):
    return rig.twin.describe()["tray_coins"]


def hopper_rig():
    rig = DeviceRig("cctalk_hopper")
    ledger = TransientPayoutLedger()
    driver = CctalkHopperDriver("hopper", rig.create_serial_line(), rig.receive_event, ledger)
    return rig, ledger, driver


@pytest.mark.requirement("G-08", "F-13")
@pytest.mark.parametrize("trouble", INITIAL_FAULTS)
def test_a_hopper_that_refuses_its_order_pays_nothing_and_is_reported(trouble):
    break_it, failed = INITIAL_FAULTS[trouble]

    async def scene():
        rig, ledger, driver = hopper_rig()
        break_it(rig)
        rig.start(driver)
        await asyncio.sleep(1)
        driver.pay("p", 7)
        await asyncio.sleep(LIMIT_SECONDS)
        assert (ledger.paid_coins_by_payout, ledger.disputed_coins_by_payout, tray(rig)) == ({"p": 0}, {}, 0)
        assert [event.paid_coins for event in rig.list_events(PayoutFinished)] == [0]
        assert (FaultCode.FAILURE in {event.code for event in rig.list_events(DeviceFault)}) is failed
        assert failed or not driver.is_replying or trouble == "motor"
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-08", "F-13")
@pytest.mark.parametrize("trouble", FAULTS_DURING_PAYOUT)
def test_a_hopper_that_fails_during_a_payout_has_paid_the_counted_coins(trouble):
    break_it, known = FAULTS_DURING_PAYOUT[trouble]

    async def scene():
        rig, ledger, driver = hopper_rig()
        rig.start(driver)
        await asyncio.sleep(1)
        driver.pay("p", 20)
        await rig.advance_until(
            lambda: any(event.paid_coins >= 3 for event in rig.list_events(PayoutProgress))
        )
        break_it(rig)
        await asyncio.sleep(LIMIT_SECONDS)
        counted = rig.list_events(PayoutProgress)[-1].paid_coins
        assert ledger.find_open() is None
        assert ledger.paid_coins_by_payout == {"p": counted}
        assert ledger.disputed_coins_by_payout == ({} if known else {"p": 20 - counted})
        assert not known or counted == tray(rig)
        await rig.stop()
        rig.close()

    jump(scene())


def test_coins_paid_while_a_hopper_was_unplugged_are_not_counted_twice():
    async def scene():
        rig, ledger, driver = hopper_rig()
        rig.start(driver)
        await asyncio.sleep(1)
        driver.pay("p", 255)
        await rig.advance_until(lambda: tray(rig) == 3)
        rig.twin._speed = 0.05
        rig.perform_action("unplug")
        await asyncio.sleep(LIMIT_SECONDS)
        rig.perform_action("plug")
        await asyncio.sleep(30)
        assert tray(rig) < 255
        assert (
            list(ledger.paid_coins_by_payout),
            list(ledger.disputed_coins_by_payout),
            ledger.unordered_coins,
        ) == (["p"], ["p"], 0)
        rig.twin._speed = 1.0
        driver.pay("q", 2)
        await rig.advance_until(lambda: ledger.paid_coins_by_payout.get("q") == 2)
        await rig.stop()
        rig.close()

    jump(scene())


def test_a_hopper_that_refused_an_order_is_used_again_after_a_power_cycle():
    async def scene():
        rig, ledger, driver = hopper_rig()
        received = rig.twin.process_message
        ignore_query(Header.DISPENSE)(rig)
        rig.start(driver)
        await asyncio.sleep(1)
        driver.pay("p", 7)
        await rig.advance_until(lambda: rig.list_events(DeviceFault), LIMIT_SECONDS)
        rig.twin.process_message = received
        rig.perform_action("power_off")
        await asyncio.sleep(5)
        rig.perform_action("power_on")
        await rig.advance_until(lambda: not rig.list_events(DeviceFault)[-1].is_active)
        driver.pay("q", 7)
        await rig.advance_until(lambda: ledger.paid_coins_by_payout == {"p": 0, "q": 7})
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-08", "F-09", "F-13")
@pytest.mark.parametrize(("trouble", "at_coin"), [("dispense", 0), ("no power", 0), ("power", 2)])
def test_the_remainder_of_a_failed_hoppers_payout_becomes_a_hand_pay(tmp_path, trouble, at_coin):
    """With machine, journal and real driver: the counted coins, the dispute and the hand-pay add up."""
    profile = tmp_path / "coins.toml"
    text = load_profile("generic").file.data.decode()
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))

    async def scene():
        room = MachineRig(tmp_path / "state", profile=profile, devices=("hopper",)).boot().insert(2000)
        rig = DeviceRig("cctalk_hopper")

        def happen(event):
            for reported_event in iter_reported_events(event, "hopper", ()):
                room.submit_event(reported_event)

        rig.react = happen
        driver = CctalkHopperDriver(
            "hopper", rig.create_serial_line(), rig.receive_event, room.device_ledgers.payout_ledger
        )
        room.machine.install(MoneyDevices(acceptor=room.hands, hopper=driver))
        rig.start(driver)
        await asyncio.sleep(1)
        if not at_coin and trouble == "dispense":
            INITIAL_FAULTS[trouble][0](rig)
        room.engine.handle(EventType.CASH_OUT)
        assert room.state is State.PAYING
        if not at_coin and trouble == "no power":
            rig.perform_action("power_off")
        elif at_coin:
            await rig.advance_until(lambda: len(rig.list_events(PayoutProgress)) == at_coin)
            rig.perform_action("power_off")
        await asyncio.sleep(LIMIT_SECONDS)
        await rig.stop()
        paid_cents = 100 * (rig.list_events(PayoutProgress)[-1].paid_coins if at_coin else 0)
        assert room.journal.balance_cents("out:hopper") == paid_cents
        assert room.machine.memory.get(MoneyKey.PAY_OUT) is None
        in_dispute = [amount.reserved_cents for amount in read_disputed_amounts_by_id(room.machine).values()]
        by_hand = room.machine.memory.get(MoneyKey.HANDPAY)
        if at_coin:
            assert in_dispute == [2000 - paid_cents]
            assert room.state is State.TILT
        else:
            assert in_dispute == []
            assert by_hand["amount_cents"] == 2000
            assert room.state is State.HANDPAY
        findings = Auditor(GameFiles()).audit_entries(room.journal.iter_bodies()).findings
        room.close()
        rig.close()
        assert findings == []

    jump(scene())


# ------------------------------------------------------------------------------------------ bills and tickets
@pytest.mark.requirement("G-02", "G-06")
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
@pytest.mark.parametrize("failure", ["power_off", "unplug", "silence"])
def test_an_acceptor_that_fails_with_an_ordered_bill_leaves_a_disputed_amount(protocol, failure):
    async def scene():
        rig = BillRig(protocol)
        await rig.insert()
        await rig.advance_until(lambda: rig.ledger.find_open() is not None)
        rig.perform_action(failure)
        await asyncio.sleep(LIMIT_SECONDS)
        assert rig.ledger.find_open() is None
        assert [content.amount_cents for content in rig.ledger.disputed_papers] == [20_00]
        assert len(rig.list_events(AmountDisputed)) == 1
        back = {"power_off": "power_on", "unplug": "plug", "silence": "clear_line"}[failure]
        rig.perform_action(back)
        await asyncio.sleep(
            20
        )  # a late report that the bill is in the box causes no second dispute and no credit
        assert (rig.ledger.credited_papers, rig.ledger.unordered_stackings_cents) == ([], [])
        await rig.insert(5_00)
        await rig.advance_until(lambda: rig.credited_cents == 5_00)
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "G-06")
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
@pytest.mark.parametrize("failure", ["power_off", "unplug", "silence"])
def test_a_disputed_bill_reported_after_a_restart_is_no_second_dispute(protocol, failure):
    """Two people rule on each dispute: a second one about the same bill could be paid too."""

    async def scene(moment: float) -> None:
        rig = BillRig(protocol)
        await rig.insert()
        await rig.advance_until(lambda: rig.ledger.find_open() is not None)
        await asyncio.sleep(moment)
        rig.perform_action(failure)
        await asyncio.sleep(LIMIT_SECONDS)
        disputed_count = len(rig.ledger.disputed_papers)
        await rig.stop()
        rig.begin()
        rig.perform_action({"power_off": "power_on", "unplug": "plug", "silence": "clear_line"}[failure])
        await asyncio.sleep(20)
        assert rig.ledger.unordered_stackings_cents == []
        assert len(rig.ledger.disputed_papers) == disputed_count
        assert rig.credited_cents + 20_00 * disputed_count == 20_00
        await rig.insert(5_00)
        await rig.advance_until(rig.quiet)
        await rig.stop()
        rig.close()

    for tenths in range(0, 16, 2):
        jump(scene(tenths / 10))


@pytest.mark.requirement("G-02", "G-06")
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
def test_a_bill_that_an_acceptor_does_not_stack_is_returned(protocol):
    async def scene():
        rig = BillRig(protocol)
        rig.twin.stack_escrowed_paper = lambda: False
        getattr(rig.twin, "_action_by_command", {})[0x41] = lambda: False
        rig.twin.escrow_seconds = None
        await rig.insert()
        await rig.advance_until(lambda: rig.twin.describe()["returned_cents"] == 20_00, LIMIT_SECONDS)
        await rig.advance_until(lambda: rig.ledger.find_open() is None)
        assert (rig.ledger.credited_papers, rig.ledger.disputed_papers) == ([], [])
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02")
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
def test_a_jammed_bill_remains_open_until_it_is_freed(protocol):
    async def scene():
        rig = BillRig(protocol)
        await rig.insert()
        await rig.advance_until(lambda: rig.ledger.find_open() is not None)
        rig.perform_action("jam")
        await asyncio.sleep(3 * LIMIT_SECONDS)
        assert rig.ledger.find_open() is not None
        assert not rig.list_events(AmountDisputed)
        await rig.stop()
        rig.close()

    jump(scene())


# ------------------------------------------------------------------------------------------ printers
@pytest.mark.requirement("G-10")
@pytest.mark.parametrize("protocol", ["tcl", "ithaca"])
@pytest.mark.parametrize("failure", ["power_off", "unplug", "silence", "busy"])
def test_a_ticket_that_a_printer_never_finishes_is_disputed(protocol, failure):
    async def scene():
        rig = DeviceRig(protocol)
        ledger = TransientPrintLedger()
        ledgers = type("Ledgers", (), {"print_ledger": ledger})()
        driver = PORT_DRIVERS[protocol](
            DriverArguments("printer", rig.create_serial_line(), rig.receive_event, ledgers, ())
        )
        rig.start(driver)
        await asyncio.sleep(1)
        driver.print_ticket(device_tests.build_test_job("generic", "test-1"))
        await rig.advance_until(lambda: ledger.print_state_history[-1][1] is PrintState.PRINTING)
        if failure == "busy":
            rig.twin._stop_timers()
        else:
            rig.perform_action(failure)
        await asyncio.sleep(LIMIT_SECONDS)
        assert ledger.find_open() is None
        assert ledger.print_state_history[-1][1] is PrintState.DISPUTED
        await rig.stop()
        rig.close()

    jump(scene())


def test_every_kind_of_device_with_money_orders_is_tested():
    paying = {entry.device_kind for entry in PROTOCOLS.values()} - {"io_board", "wheel", "coin_acceptor"}
    assert paying == {"hopper", "bill_acceptor", "ticket_printer"}
