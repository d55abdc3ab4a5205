"""The channel values that an acceptor reports, in every protocol: if one differs no money is accepted."""

import asyncio
from contextlib import suppress

import pytest

from egm.devices.cctalk.codec import Header
from egm.devices.ebds.codec import NoteQuery
from egm.devices.id003.codec import Command
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


def mute_cctalk(*headers):
    def mute(rig):
        answer = rig.twin._build_reply
        rig.twin._build_reply = lambda message: None if message.header in headers else answer(message)

    return mute


def mute_id003(rig):
    received = rig.twin.process_message

    def deaf(message):
        if message.command == Command.CURRENCY:
            rig.twin._reply(0x4B)  # invalid command
        else:
            received(message)

    rig.twin.process_message = deaf


def mute_ebds(rig):
    answer = rig.twin._build_reply

    def plain(question):
        return answer(question.poll if isinstance(question, NoteQuery) else question)

    rig.twin._build_reply = plain


MUTE = {
    "cctalk_coin": [mute_cctalk(Header.COIN_ID)],
    "cctalk_bill": [mute_cctalk(Header.BILL_ID), mute_cctalk(Header.COUNTRY_SCALING)],
    "id003": [mute_id003],
    "ebds": [mute_ebds],
}


async def begun(protocol: str, prepare=lambda _: None) -> DeviceRig:
    rig = DeviceRig(protocol)
    prepare(rig)
    driver = create_driver_without_machine(protocol, "device", rig.serial_line(), rig.sink)

    def take(event):
        if hasattr(event, "escrow"):
            driver.stack(event.escrow)

    rig.react = take
    rig.start(driver)
    driver.enable(driver.values_cents)
    await rig.advance_until(lambda: rig.of(LineRestored))
    await asyncio.sleep(10)
    with suppress(ActionError):  # a disabled acceptor refuses the action
        rig.hand("insert", amount_cents=WRONG[protocol][2])
    await asyncio.sleep(5)
    await rig.stop()
    return rig


def faults(rig: DeviceRig) -> list[FaultCode]:
    return [fault.code for fault in rig.of(DeviceFault) if fault.active]


@pytest.mark.requirement("G-01", "G-02", "G-15")
@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize("protocol", WRONG)
def test_no_money_is_accepted_if_a_channel_has_another_value(protocol, other):
    def prepare(rig):
        channel, cents, _ = WRONG[protocol]
        rig.hand("worth", slot=channel, amount_cents=cents if other else 0)

    async def scene():
        rig = await begun(protocol, prepare)
        assert faults(rig) == [FaultCode.WRONG_VALUES]
        assert not rig.of(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-01", "G-02")
@pytest.mark.parametrize("currency", ["EUR", "CHF"])
@pytest.mark.parametrize("protocol", WRONG)
def test_no_money_of_another_currency_is_accepted(protocol, currency):
    async def scene():
        rig = await begun(protocol, lambda rig: setattr(rig.twin, "currency", currency))
        assert faults(rig) == [FaultCode.WRONG_VALUES]
        (fault,) = (fault for fault in rig.of(DeviceFault) if fault.active)
        assert "USD" in fault.detail
        assert not rig.of(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


@pytest.mark.parametrize(
    ("protocol", "mute"),
    [(protocol, number) for protocol in WRONG for number in range(-1, len(MUTE[protocol]))],
)
def test_matching_channel_values_are_accepted_and_unknown_ones_reported(protocol, mute):
    async def scene():
        rig = await begun(protocol, MUTE[protocol][mute] if mute >= 0 else lambda _: None)
        assert faults(rig) == ([FaultCode.VALUES_UNKNOWN] if mute >= 0 else [])
        assert rig.of(CoinAccepted, PaperStacked)
        rig.close()

    jump(scene())


def named(**names):
    """Make slots report these names."""

    def prepare(rig):
        coin_id = rig.twin._encode_coin_id
        rig.twin._encode_coin_id = lambda slot: names.get(f"slot_{slot}", coin_id(slot))

    return prepare


@pytest.mark.requirement("G-01")
@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({"slot_1": b"USTKNA"}, [FaultCode.VALUES_UNKNOWN]),
        ({"slot_1": b"USTKNA", "slot_3": b"EU200A"}, [FaultCode.WRONG_VALUES]),
        ({"slot_3": b"EU025A"}, [FaultCode.WRONG_VALUES]),
        ({"slot_1": b"TK001A", "slot_5": b""}, [FaultCode.WRONG_VALUES]),
        ({"slot_1": b"\xff\xfe", "slot_5": b""}, [FaultCode.VALUES_UNKNOWN]),
    ],
)
def test_an_unknown_value_of_one_slot_does_not_disable_the_others(names, shown):
    async def scene():
        rig = await begun("cctalk_coin", named(**names))
        assert faults(rig) == shown
        assert bool(rig.of(CoinAccepted)) is (shown == [FaultCode.VALUES_UNKNOWN])
        rig.close()

    jump(scene())
