"""Coin acceptors without a sorter or an accept counter, and the identity replies of every twin."""

import asyncio

import pytest

from egm.app.ports import create_driver_without_machine
from egm.devices.cctalk.codec import HOST_ADDRESS, CctalkFrame, Header
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.id003 import codec as id003
from egm.devices.interface import AcceptorReadiness, CoinAccepted, DeviceFault, FaultCode
from egm.devices.transient import TransientCoinLedger
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump

COINS = frozenset({25, 1_00, 2_00})


def coin_rig(*, unanswered=None):
    rig = DeviceRig("cctalk_coin")
    answer = rig.twin._build_reply
    rig.twin._build_reply = lambda message: None if message.header == unanswered else answer(message)
    driver = CctalkCoinDriver("coin", rig.create_serial_line(), rig.receive_event, TransientCoinLedger())
    driver.enable(COINS)
    rig.start(driver)
    return rig, driver


@pytest.mark.requirement("G-09")
@pytest.mark.parametrize("knows_paths", [True, False])
@pytest.mark.parametrize("to_hopper", [True, False])
def test_a_coin_without_a_reported_path_is_booked_where_it_was_sent(to_hopper, knows_paths):
    async def scene():
        rig, driver = coin_rig(unanswered=None if knows_paths else Header.SORTER_PATH)
        add = rig.twin._event_memory.add
        rig.twin._event_memory.add = lambda a, b: add(a, 0 if a else b)
        driver.route_coins(to_hopper=to_hopper)
        await rig.advance_until(lambda: rig.list_events(AcceptorReadiness))
        rig.perform_action("insert", amount_cents=1_00)
        await rig.advance_until(lambda: rig.list_events(CoinAccepted))
        await asyncio.sleep(3)
        assert [(event.amount_cents, event.to_hopper) for event in rig.list_events(CoinAccepted)] == [
            (100, to_hopper)
        ]
        assert not rig.list_events(DeviceFault)
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-15")
def test_an_acceptor_without_an_accept_counter_is_reported_as_failed():
    async def scene():
        rig, _ = coin_rig(unanswered=Header.ACCEPT_COUNT)
        await asyncio.sleep(30)
        assert not rig.list_events(AcceptorReadiness)
        (fault,) = rig.list_events(DeviceFault)
        assert (fault.code, fault.is_active) == (FaultCode.FAILURE, True)
        assert "225" in fault.detail
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", ["cctalk_coin", "cctalk_bill", "cctalk_hopper"])
@pytest.mark.parametrize("header", [241, 192, 4, 249])
def test_every_cctalk_twin_answers_identity_queries(protocol, header):
    async def scene():
        rig = DeviceRig(protocol)
        replies = []
        rig.cable.open("cable", None)
        rig.twin._send = replies.append
        rig.twin.process_message(CctalkFrame(rig.twin.address, HOST_ADDRESS, header))
        assert len(replies) == 1
        assert len(replies[0]) > 5
        rig.close()

    jump(scene())


def test_an_id003_acceptor_stacks_on_either_command():
    async def scene():
        rig = DeviceRig("id003")
        driver = create_driver_without_machine("id003", "bill", rig.create_serial_line(), rig.receive_event)
        driver.enable(frozenset({20_00}))
        rig.start(driver)
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
        rig.perform_action("insert", amount_cents=20_00)
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "escrow")
        rig.twin.process_message(id003.Id003Frame(id003.Id003Command.STACK_2))
        assert rig.twin.describe()["status"] == "stacking"
        await rig.stop()
        rig.close()

    jump(scene())
