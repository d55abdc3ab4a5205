"""An acceptor that says its channels take other money than the cabinet file: nothing is taken, and it is said."""

import asyncio

import pytest

from egm.devices.cctalk.codec import Header
from egm.devices.interface import CoinAccepted, CommUp, Fault, FaultCode
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from tools.cli.device_listener import lone_driver

#: Protocol -> the channel that is wrong, its other worth, and the money that then goes in.
WRONG = {"cctalk_coin": (1, 200, 5)}


async def begun(protocol: str, *, worth_cents: int | None = None, mute: bool = False) -> DeviceRig:
    rig = DeviceRig(protocol)
    if worth_cents is not None:
        rig.hand("worth", slot=WRONG[protocol][0], amount_cents=worth_cents)
    if mute:
        answer = rig.twin._answer
        rig.twin._answer = lambda message: None if message.header == Header.COIN_ID else answer(message)
    driver = lone_driver(protocol, "device", rig.serial_line(), rig.sink)
    rig.start(driver)
    driver.enable(driver.values_cents)
    await rig.until(lambda: rig.of(CommUp))
    await asyncio.sleep(8)
    rig.hand("insert", amount_cents=WRONG[protocol][2])
    await asyncio.sleep(3)
    await rig.stop()
    return rig


def faults(rig: DeviceRig) -> list[FaultCode]:
    return [fault.code for fault in rig.of(Fault) if fault.active]


@pytest.mark.requirement("G-01", "G-02", "G-15")
@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize("protocol", WRONG)
def test_no_money_is_taken_by_channels_that_are_worth_something_else(protocol, other):
    async def scene():
        rig = await begun(protocol, worth_cents=WRONG[protocol][1] if other else 0)
        assert faults(rig) == [FaultCode.WRONG_VALUES]
        assert not rig.of(CoinAccepted)
        rig.close()

    jump(scene())


@pytest.mark.parametrize("mute", [False, True])
@pytest.mark.parametrize("protocol", WRONG)
def test_one_that_agrees_takes_it_and_one_that_cannot_say_is_told(protocol, mute):
    async def scene():
        rig = await begun(protocol, mute=mute)
        assert faults(rig) == ([FaultCode.VALUES_UNTOLD] if mute else [])
        assert rig.of(CoinAccepted)
        rig.close()

    jump(scene())
