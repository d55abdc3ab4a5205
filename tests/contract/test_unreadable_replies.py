"""Complete but unreadable replies: acknowledged if numbered, counted, and a fault if there are no others."""

import asyncio

import pytest
from bill_rig import DRIVERS, NOTES

from egm.app.ports import create_driver_without_machine
from egm.devices.bill_twin import SimulatedPaper
from egm.devices.cctalk.codec import Header
from egm.devices.ebds import codec as ebds
from egm.devices.id003 import codec as id003
from egm.devices.interface import (
    InvalidBytesReceived,
    LineLost,
    LineRestored,
    PaperInEscrow,
    PaperReturned,
    PaperStacked,
)
from egm.devices.transient import TransientEscrowLedger
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump


def nonsense_ebds(rig):
    def received(message):
        rig.twin._send(ebds.EbdsFrame(0x40 | message.control & 1, b"\1\2").encode())

    return received


def nonsense_id003(rig):
    return lambda _: rig.twin._send(id003.Id003Frame(0x99).encode())


def nonsense_events(header):
    def make(rig):
        received, answer = type(rig.twin).process_message.__get__(rig.twin), rig.twin._build_reply
        rig.twin._build_reply = lambda message: b"\1\2\3\4" if message.header == header else answer(message)
        return received

    return make


NONSENSE = {
    "ebds": nonsense_ebds,
    "id003": nonsense_id003,
    "cctalk_bill": nonsense_events(Header.READ_BILL_EVENTS),
    "cctalk_coin": nonsense_events(Header.READ_CREDITS),
    "cctalk_hopper": nonsense_events(Header.LIFETIME_PAID_COUNT),
}


@pytest.mark.requirement("G-06", "G-15")
@pytest.mark.parametrize("protocol", NONSENSE)
def test_a_device_with_only_unreadable_replies_is_lost_and_counted(protocol):
    async def scene():
        rig = DeviceRig(protocol)
        driver = create_driver_without_machine(
            protocol, "device", rig.create_serial_line(), rig.receive_event
        )
        rig.start(driver)
        await rig.advance_until(lambda: driver.is_replying)
        await asyncio.sleep(3)
        good, answer = rig.twin.process_message, getattr(rig.twin, "_build_reply", None)
        rig.twin.process_message = NONSENSE[protocol](rig)
        await rig.advance_until(lambda: not driver.is_replying, 10)
        (lost,) = rig.list_events(LineLost)
        assert "could not be read" in lost.reason
        await asyncio.sleep(60)
        assert not driver.is_replying
        assert len(rig.list_events(LineLost)) == 1
        assert driver.exchange_counts.invalid_message_count == len(rig.list_events(InvalidBytesReceived)) > 20
        rig.twin.process_message = good
        if answer is not None:
            rig.twin._build_reply = answer
        await rig.advance_until(lambda: driver.is_replying, 10)
        await asyncio.sleep(10)
        assert len(rig.list_events(LineRestored)) == 2
        await rig.stop()
        rig.close()

    jump(scene())


def test_every_numbered_reply_is_acknowledged():
    """An EBDS acceptor repeats a reply until it is acknowledged, so an unreadable one must be acknowledged too."""

    async def scene():
        rig = DeviceRig("ebds")
        driver = create_driver_without_machine("ebds", "device", rig.create_serial_line(), rig.receive_event)
        rig.start(driver)
        await rig.advance_until(lambda: driver.is_replying)
        await asyncio.sleep(1)
        build_reply, queries = rig.twin._build_reply, []

        def reply_unreadable_once(question):
            if queries:
                return build_reply(question)
            queries.append(question)
            return ebds.EbdsFrame(0x40 | question.ack_number, b"\1\2").encode()

        rig.twin._build_reply = reply_unreadable_once
        await asyncio.sleep(2)
        assert driver.exchange_counts.invalid_message_count == 1
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "H-05")
@pytest.mark.parametrize("text", ["COUPON5OFF", "12 34", "", "()"])
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
def test_a_bar_code_that_is_not_a_number_is_returned_at_once(protocol, text):
    async def scene():
        rig = DeviceRig(protocol)
        ledger = TransientEscrowLedger()
        driver = DRIVERS[protocol]("bill", rig.create_serial_line(), rig.receive_event, ledger)
        driver.enable(NOTES, accepts_tickets=True)
        rig.react = lambda event: isinstance(event, PaperInEscrow) and driver.stack(event.escrow_number)
        rig.start(driver)
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
        paper = SimulatedPaper(0, text or "\0")
        rig.twin._insert_paper(paper, "coupon")
        await rig.advance_until(lambda: rig.list_events(PaperReturned), 5)
        assert not rig.list_events(PaperInEscrow, PaperStacked)
        assert driver.exchange_counts.invalid_message_count == 0
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
        rig.perform_action("insert", amount_cents=20_00)
        await rig.advance_until(lambda: rig.list_events(PaperStacked))
        await rig.stop()
        rig.close()

    jump(scene())
