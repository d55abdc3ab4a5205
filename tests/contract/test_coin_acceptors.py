"""The contract of a coin acceptor's driver, over every kind of line and through every interruption."""

import asyncio
import random

import pytest
from delays import delay_next_reply

from egm.devices.cctalk.codec import CoinError
from egm.devices.cctalk.coin import UNREPORTED_COINS_MAX, CctalkCoinDriver
from egm.devices.interface import (
    AcceptorReadiness,
    AmountDisputed,
    CoinAccepted,
    DeviceFault,
    FaultCode,
    ItemRejected,
    LineLost,
    LineRestored,
)
from egm.devices.transient import TransientCoinLedger
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump

COINS = frozenset({25, 1_00, 2_00})


class CoinRig(DeviceRig):
    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__("cctalk_coin", line, seed)
        self.ledger = TransientCoinLedger()
        self.begin()

    def begin(self) -> None:
        self.driver = CctalkCoinDriver("coin", self.create_serial_line(), self.receive_event, self.ledger)
        self.driver.enable(COINS)
        self.start(self.driver)

    async def wait_until_ready(self) -> None:
        await self.advance_until(lambda: self.twin.describe()["status"] == "idle")
        await self.advance_until(lambda: self.list_events(AcceptorReadiness))

    def credited_cents(self) -> int:
        return sum(cents for cents, _ in self.ledger.credited_coins)

    def accepted_cents(self) -> int:
        state = self.twin.describe()
        return state["hopper_cents"] + state["drop_cents"]


@pytest.mark.requirement("G-07")
class TestCoinAcceptor:
    def test_each_coin_is_credited_once(self, line):
        async def scene():
            rig = CoinRig(line)
            await rig.wait_until_ready()
            for cents in (25, 2_00, 1_00, 25, 25, 2_00):
                rig.perform_action("insert", amount_cents=cents)
                await asyncio.sleep(0.7)
            await rig.advance_until(lambda: rig.credited_cents() == rig.accepted_cents() == 5_75)
            await rig.stop()
            assert sum(event.amount_cents for event in rig.list_events(CoinAccepted)) == 5_75
            rig.close()

        jump(scene())

    def test_refused_coins_fall_through_to_the_tray(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=5)
            await rig.advance_until(lambda: rig.list_events(ItemRejected))
            rig.driver.disable()
            await rig.advance_until(lambda: not rig.list_events(AcceptorReadiness)[-1].is_accepting)
            rig.perform_action("insert", amount_cents=2_00)
            await asyncio.sleep(2)
            await rig.stop()
            assert rig.credited_cents() == rig.accepted_cents() == 0
            assert rig.twin.describe()["tray_cents"] == 2_05
            rig.close()

        jump(scene())

    @pytest.mark.requirement("G-09")
    def test_the_diverter_sends_coins_to_the_box_when_ordered(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            rig.driver.route_coins(to_hopper=False)
            await asyncio.sleep(1)
            rig.perform_action("insert", amount_cents=2_00)
            await rig.advance_until(lambda: rig.credited_cents() == 3_00)
            await rig.stop()
            assert rig.ledger.credited_coins == [(1_00, True), (2_00, False)]
            assert rig.twin.describe()["drop_cents"] == 2_00
            assert [event.to_hopper for event in rig.list_events(CoinAccepted)] == [True, False]
            rig.close()

        jump(scene())

    def test_a_killed_machine_misses_no_coin(self, line):
        async def scene(seed: int) -> None:
            dice = random.Random(seed)
            rig = CoinRig(line, seed)
            await rig.wait_until_ready()
            for _ in range(20):
                await rig.stop()
                for _ in range(dice.randrange(5)):  # the acceptor stores five events
                    rig.perform_action("insert", amount_cents=dice.choice(sorted(COINS)))
                    await asyncio.sleep(dice.random() * 0.4)
                await asyncio.sleep(0.4)
                rig.begin()
                await asyncio.sleep(dice.random() * 2)
                if line in {"lossy", "delayed"}:  # the acceptor stores only five events
                    await rig.advance_until(lambda: rig.credited_cents() == rig.accepted_cents())
            await rig.advance_until(lambda: rig.credited_cents() == rig.accepted_cents())
            await rig.stop()
            assert rig.accepted_cents() > 0
            rig.close()

        for seed in range(5):
            jump(scene(seed))

    def test_a_coin_during_a_power_loss_is_credited_or_disputed(self):
        """A coin accepted at the moment of a power loss is either credited or reported."""

        async def scene(moment: float) -> None:
            rig = CoinRig()
            await rig.wait_until_ready()
            for _ in range(4):
                rig.perform_action("insert", amount_cents=1_00)
                await asyncio.sleep(moment)
                rig.perform_action("power_off")
                await asyncio.sleep(0.2)
                rig.perform_action("power_on")
                await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
                await asyncio.sleep(1)
            await rig.stop()
            missing = rig.accepted_cents() - rig.credited_cents()
            assert missing >= 0
            assert missing == 1_00 * len(rig.list_events(AmountDisputed))
            rig.close()

        for step in range(40):
            jump(scene(0.2 + step * 0.01))

    def test_more_coins_than_the_acceptor_stores_are_disputed(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            await rig.stop()
            for _ in range(8):
                rig.perform_action("insert", amount_cents=1_00)
                await asyncio.sleep(0.5)
            rig.begin()
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            await rig.stop()
            assert rig.credited_cents() == 6_00
            assert "3 coins" in rig.list_events(AmountDisputed)[0].text
            rig.close()

        jump(scene())

    def test_a_coin_missing_in_the_accept_counter_is_disputed_and_not_credited(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            rig.perform_action("lie")
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            rig.perform_action("insert", amount_cents=2_00)
            await rig.advance_until(lambda: rig.credited_cents() == 3_00)
            await rig.stop()
            assert len(rig.list_events(AmountDisputed)) == 1
            rig.close()

        jump(scene())

    @pytest.mark.parametrize("count_of_other_acceptor", [0, 4_711])
    def test_another_acceptor_is_no_claim_for_the_coins_in_its_own_count(self, count_of_other_acceptor):
        """Staff must be able to award nothing: the count of another acceptor proves no coin of a player."""

        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            await rig.stop()
            rig.twin.handle_power_loss()
            rig.twin._accept_counter = count_of_other_acceptor
            rig.begin()
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
            rig.perform_action("insert", amount_cents=2_00)
            await rig.advance_until(lambda: rig.credited_cents() == 3_00)
            await rig.stop()
            (disputed,) = rig.ledger.disputed_coins
            assert disputed.amount_min_cents == 0
            assert disputed.amount_max_cents == UNREPORTED_COINS_MAX * 2_00
            assert "another acceptor" in disputed.reason
            rig.close()

        jump(scene())

    @pytest.mark.parametrize(
        ("hand", "code"),
        [
            ("jam", FaultCode.JAM),
            ("cheat", FaultCode.COIN_CHEAT),
            ("diverter", FaultCode.COIN_DIVERTER),
            ("stuck_sensor", FaultCode.SENSOR_STUCK),
        ],
    )
    def test_faults_of_the_acceptor_are_reported(self, hand, code):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            rig.perform_action(hand)
            await rig.advance_until(
                lambda: any(e.code is code and e.is_active for e in rig.list_events(DeviceFault))
            )
            await rig.advance_until(
                lambda: any(e.code is code and not e.is_active for e in rig.list_events(DeviceFault))
            )
            await rig.stop()
            rig.close()

        jump(scene())

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (CoinError.COIN_MOVED_BACKWARDS, FaultCode.COIN_CHEAT),
            (CoinError.COIN_ON_STRING, FaultCode.COIN_CHEAT),
            (CoinError.CREDIT_SENSOR_BLOCKED, FaultCode.JAM),
            (CoinError.CREDIT_SENSOR_NOT_READY, FaultCode.SENSOR_STUCK),
            (CoinError.VALIDATION_SENSOR_NOT_READY, FaultCode.SENSOR_STUCK),
            (CoinError.REJECT_SENSOR_BLOCKED, FaultCode.SENSOR_STUCK),
            (CoinError.SORTER_TIMEOUT, FaultCode.COIN_DIVERTER),
            (CoinError.SORTER_BLOCKED, FaultCode.COIN_DIVERTER),
            (CoinError.COIN_WRONGLY_SORTED, FaultCode.COIN_IN_WRONG_CONTAINER),
        ],
    )
    def test_each_error_of_the_acceptor_is_its_fault(self, error, code):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.twin._event_memory.add(0, error)
            await rig.advance_until(lambda: rig.list_events(DeviceFault))
            await rig.stop()
            assert [(fault.code, fault.is_active) for fault in rig.list_events(DeviceFault)][:1] == [
                (code, True)
            ]
            rig.close()

        jump(scene())

    def test_a_coin_in_the_wrong_lane_is_credited_and_reported(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=25)
            await rig.advance_until(lambda: rig.credited_cents() == 25)
            rig.perform_action("wrong_lane", amount_cents=1_00)
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.COIN_IN_WRONG_CONTAINER and e.is_active
                    for e in rig.list_events(DeviceFault)
                )
            )
            await rig.stop()
            assert rig.ledger.credited_coins == [
                (25, True),
                (1_00, False),
            ]  # recorded with the path that the coin took
            assert [e.code for e in rig.list_events(DeviceFault) if e.is_active] == [
                FaultCode.COIN_IN_WRONG_CONTAINER
            ]
            rig.close()

        jump(scene())

    def test_a_coin_accepted_while_disabled_is_credited_and_reported(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("insert", amount_cents=25)
            rig.driver.disable()  # a coin already in the acceptor is no fault
            await rig.advance_until(lambda: rig.credited_cents() == 25)
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "disabled")
            await asyncio.sleep(3)
            assert not rig.list_events(DeviceFault)
            rig.perform_action("uninvited", amount_cents=2_00)
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.COIN_WHILE_DISABLED and e.is_active
                    for e in rig.list_events(DeviceFault)
                )
            )
            await rig.stop()
            assert rig.credited_cents() == rig.accepted_cents() == 2_25
            rig.close()

        jump(scene())

    @pytest.mark.parametrize("change", ["disable", "turn"])
    def test_a_coin_in_flight_that_is_read_late_is_no_fault(self, change):
        """A fault of the acceptor would stop play until an attendant comes, because a disk was slow."""

        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            if change == "disable":
                rig.driver.disable()
            else:
                rig.driver.route_coins(to_hopper=False)
            await asyncio.sleep(1)
            delay_next_reply(rig.driver, 4)
            rig.perform_action("uninvited" if change == "disable" else "wrong_lane", amount_cents=1_00)
            await rig.advance_until(lambda: rig.credited_cents() == 1_00)
            await asyncio.sleep(5)
            await rig.stop()
            assert not rig.list_events(DeviceFault)
            rig.close()

        jump(scene())

    def test_a_coin_of_a_value_not_enabled_is_credited_and_reported(self):
        """This also applies while coins of other values are enabled."""

        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.driver.enable(COINS - {2_00})
            await asyncio.sleep(4)
            rig.perform_action("insert", amount_cents=25)
            await rig.advance_until(lambda: rig.credited_cents() == 25)
            assert not rig.list_events(DeviceFault)
            rig.perform_action("uninvited", amount_cents=2_00)
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.COIN_WHILE_DISABLED and e.is_active
                    for e in rig.list_events(DeviceFault)
                )
            )
            await rig.stop()
            assert rig.credited_cents() == rig.accepted_cents() == 2_25
            rig.close()

        jump(scene())

    def test_silence_and_an_unplugged_cable_are_reported_and_recovered_from(self):
        async def scene():
            rig = CoinRig()
            await rig.wait_until_ready()
            rig.perform_action("silence")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.perform_action("silence", on=False)
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            rig.perform_action("unplug")
            await rig.advance_until(lambda: len(rig.list_events(LineLost)) == 2, 5)
            rig.perform_action("plug")
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 3, 5)
            await rig.stop()
            rig.close()

        jump(scene())


@pytest.mark.parametrize(
    ("protocol", "category"),
    [
        ("cctalk_coin", b"Coin Acceptor"),
        ("cctalk_hopper", b"Payout"),
        ("cctalk_bill", b"Bill Validator"),
    ],
)
def test_a_twin_reports_its_equipment_category(protocol, category):
    """Header 245, the first query of every host, encoded from the protocol's description."""

    async def scene():
        rig, frames = DeviceRig(protocol), []
        rig.twin._send = frames.append
        rig.twin._handle_data(frame(rig.twin.address, 245))
        assert frames[0][4:-1] == category
        rig.close()

    jump(scene())


def test_a_coin_twin_reports_the_coin_of_each_slot():
    """Header 184: country, value and issue in six letters; dots for a slot without a coin."""

    async def scene():
        rig, frames = DeviceRig("cctalk_coin"), []
        rig.twin._send = frames.append
        for slot in (1, 4, 16):
            rig.twin._handle_data(frame(rig.twin.address, 184, slot))
        assert [answer[4:-1] for answer in frames] == [b"US005A", b"US100A", b"......"]
        rig.close()

    jump(scene())


def frame(address, header, *data):
    """Return a ccTalk frame of the host; the sum of its bytes is zero modulo 256."""
    body = bytes((address, len(data), 1, header, *data))
    return body + bytes((-sum(body) % 256,))
