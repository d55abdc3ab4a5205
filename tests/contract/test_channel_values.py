"""The channel values that an acceptor reports, in every protocol: if one differs no money is accepted."""

import asyncio
from contextlib import suppress

import pytest

from egm.devices.cctalk.codec import Header
from egm.devices.ebds.codec import NoteQuery
from egm.devices.id003.codec import Id003Command
from egm.devices.interface import CoinAccepted, DeviceFault, FaultCode, LineRestored, PaperStacked
from egm.devices.twin import ActionError
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from tools.cli.device_listener import create_driver_without_machine

#: Protocol -> the channel with another value, that value, and the money that is then inserted.
WRONG = {
    "cctalk_coin": (1, 200, 5),
    "cctalk_bill": (3, 50_00, 5_00),
    "id003": (0x65, 50_00, 5_00),
    "ebds": (5, 50_00, 5_00),
}


def ignore_cctalk_queries(*headers):
    def install(rig):
        answer = rig.twin._build_reply
        rig.twin._build_reply = lambda message: None if message.header in headers else answer(message)

    return install


def refuse_currency_query(rig):
    received = rig.twin.process_message

    def process_message(message):
        if message.command == Id003Command.CURRENCY:
            rig.twin._reply(0x4B)  # invalid command
        else:
            received(message)

    rig.twin.process_message = process_message


def ignore_note_queries(rig):
    answer = rig.twin._build_reply

    def reply_without_notes(question):
        return answer(question.poll if isinstance(question, NoteQuery) else question)

    rig.twin._build_reply = reply_without_notes


HIDE_VALUES = {
    "cctalk_coin": [ignore_cctalk_queries(Header.COIN_ID)],
    "cctalk_bill": [ignore_cctalk_queries(Header.BILL_ID), ignore_cctalk_queries(Header.COUNTRY_SCALING)],
    "id003": [refuse_currency_query],
    "ebds": [ignore_note_queries],
}


async def insert_money(protocol: str, prepare=lambda _: None) -> DeviceRig:
    rig = DeviceRig(protocol)
    prepare(rig)
    driver = create_driver_without_machine(protocol, "device", rig.create_serial_line(), rig.receive_event)

    def stack_paper(event):
        if hasattr(event, "escrow_number"):
            driver.stack(event.escrow_number)

    rig.react = stack_paper
    rig.start(driver)
    driver.enable(driver.values_cents)
    await rig.advance_until(lambda: rig.list_events(LineRestored))
    await asyncio.sleep(10)
    with suppress(ActionError):  # a disabled acceptor refuses the action
        rig.perform_action("insert", amount_cents=WRONG[protocol][2])
    await asyncio.sleep(5)
    await rig.stop()
    return rig


def list_active_faults(rig: DeviceRig) -> list[FaultCode]:
    return [fault.code for fault in rig.list_events(DeviceFault) if fault.is_active]


@pytest.mark.requirement("G-01", "G-02", "G-15")
@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize("protocol", WRONG)
def test_no_money_is_accepted_if_a_channel_has_another_value(protocol, other):
    def prepare(rig):
        channel, cents, _ = WRONG[protocol]
        rig.perform_action("worth", slot=channel, amount_cents=cents if other else 0)

    async def scene():
        rig = await insert_money(protocol, prepare)
        assert list_active_faults(rig) == [FaultCode.WRONG_CHANNEL_VALUES]
        assert not rig.list_events(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-01", "G-02")
@pytest.mark.parametrize("currency", ["EUR", "CHF"])
@pytest.mark.parametrize("protocol", WRONG)
def test_no_money_of_another_currency_is_accepted(protocol, currency):
    async def scene():
        rig = await insert_money(protocol, lambda rig: setattr(rig.twin, "currency", currency))
        assert list_active_faults(rig) == [FaultCode.WRONG_CHANNEL_VALUES]
        (fault,) = (fault for fault in rig.list_events(DeviceFault) if fault.is_active)
        assert "USD" in fault.detail
        assert not rig.list_events(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


@pytest.mark.parametrize(
    ("protocol", "mute"),
    [(protocol, number) for protocol in WRONG for number in range(-1, len(HIDE_VALUES[protocol]))],
)
def test_matching_channel_values_are_accepted_and_unknown_ones_reported(protocol, mute):
    async def scene():
        rig = await insert_money(protocol, HIDE_VALUES[protocol][mute] if mute >= 0 else lambda _: None)
        assert list_active_faults(rig) == ([FaultCode.CHANNEL_VALUES_UNKNOWN] if mute >= 0 else [])
        assert rig.list_events(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


def name_slots(**names):
    """Make slots report these names."""

    def prepare(rig):
        coin_id = rig.twin._encode_coin_id
        rig.twin._encode_coin_id = lambda slot: names.get(f"slot_{slot}", coin_id(slot))

    return prepare


@pytest.mark.requirement("G-01")
@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({"slot_1": b"USTKNA"}, [FaultCode.CHANNEL_VALUES_UNKNOWN]),
        ({"slot_1": b"USTKNA", "slot_3": b"EU200A"}, [FaultCode.WRONG_CHANNEL_VALUES]),
        ({"slot_3": b"EU025A"}, [FaultCode.WRONG_CHANNEL_VALUES]),
        ({"slot_1": b"TK001A", "slot_5": b""}, [FaultCode.WRONG_CHANNEL_VALUES]),
        ({"slot_1": b"\xff\xfe", "slot_5": b""}, [FaultCode.CHANNEL_VALUES_UNKNOWN]),
    ],
)
def test_an_unknown_value_of_one_slot_does_not_disable_the_others(names, shown):
    async def scene():
        rig = await insert_money("cctalk_coin", name_slots(**names))
        assert list_active_faults(rig) == shown
        assert bool(rig.list_events(CoinAccepted)) is (shown == [FaultCode.CHANNEL_VALUES_UNKNOWN])
        rig.close()

    jump(scene())
