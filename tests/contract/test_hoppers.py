"""The contract of a hopper's driver over every kind of line, alone and with a coin acceptor on one bus."""

import asyncio
from contextlib import suppress

import pytest

from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.cctalk.hopper_twin import CctalkHopperTwin
from egm.devices.interface import (
    AmountDisputed,
    DeviceFault,
    FaultCode,
    LineLost,
    LineRestored,
    PayoutFinished,
    PayoutProgress,
)
from egm.devices.protocols import PROTOCOLS
from egm.devices.transient import TransientCoinLedger, TransientPayoutLedger
from egm.testing.crash import CrashingLedger, SimulatedPowerLoss
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump

COINS = frozenset({25, 1_00, 2_00})


class MortalPayouts(CrashingLedger, TransientPayoutLedger):
    def open_payout(self, record):
        with self._die_if_due_around():
            super().open_payout(record)

    def record_coins_paid(self, payout_id, paid_coins):
        with self._die_if_due_around():
            super().record_coins_paid(payout_id, paid_coins)

    def close_payout(self, payout_id, paid_coins, doubt=""):
        with self._die_if_due_around():
            super().close_payout(payout_id, paid_coins, doubt)


class HopperRig(DeviceRig):
    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__("cctalk_hopper", line, seed)
        self.ledger = MortalPayouts()
        self.begin()

    def begin(self) -> None:
        self.driver = CctalkHopperDriver("hopper", self.create_serial_line(), self.receive_event, self.ledger)
        self.start(self.driver)

    def tray_coins(self) -> int:
        return self.twin.describe()["tray_coins"]

    async def wait_for_payout_end(self, payout_id: str) -> None:
        await self.advance_until(lambda: payout_id in self.ledger.paid_coins_by_payout)


@pytest.mark.requirement("G-08")
class TestHopper:
    def test_a_hopper_pays_the_ordered_coins(self, line):
        async def scene():
            rig = HopperRig(line)
            for number, coins in enumerate((1, 7, 40)):
                rig.driver.pay(f"p{number}", coins)
                await rig.wait_for_payout_end(f"p{number}")
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout == {"p0": 1, "p1": 7, "p2": 40}
            assert rig.tray_coins() == 48
            assert [e.paid_coins for e in rig.list_events(PayoutFinished)] == [1, 7, 40]
            assert rig.list_events(PayoutProgress)
            rig.close()

        jump(scene())

    def test_a_kill_around_every_record_loses_and_doubles_nothing(self, line):
        async def scene(power_loss_at_point: int) -> None:
            rig = HopperRig(line, seed=power_loss_at_point)
            rig.ledger.power_loss_at_point = power_loss_at_point
            rig.driver.pay("p", 12)
            await asyncio.sleep(0)
            for _ in range(3):
                with suppress(SimulatedPowerLoss):
                    await rig.advance_until(lambda: "p" in rig.ledger.paid_coins_by_payout)
                await asyncio.sleep(0)
                if not rig.has_driver_ended():
                    break
                with pytest.raises(SimulatedPowerLoss):
                    await rig.stop()
                await asyncio.sleep(power_loss_at_point)
                rig.begin()
                if rig.ledger.find_open() is None and "p" not in rig.ledger.paid_coins_by_payout:
                    rig.driver.pay("p", 12)
            await rig.stop() if not rig.has_driver_ended() else None
            assert rig.ledger.paid_coins_by_payout == {"p": 12}
            assert rig.tray_coins() == 12
            rig.close()

        for power_loss_at_point in range(1, 30):  # some moments are after the last record
            jump(scene(power_loss_at_point))

    def test_a_kill_at_any_moment_loses_and_doubles_nothing(self, line):
        async def scene(moment: float) -> None:
            rig = HopperRig(line, seed=int(moment * 100))
            await rig.advance_until(lambda: rig.list_events(LineRestored))
            rig.driver.pay("p", 9)
            await rig.advance_until(lambda: rig.ledger.find_open() is not None)
            await asyncio.sleep(moment)
            await rig.stop()
            await asyncio.sleep(moment / 2)
            rig.begin()
            await rig.wait_for_payout_end("p")
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout == {"p": 9}
            assert rig.tray_coins() == 9
            rig.close()

        for step in range(30):
            jump(scene(step * 0.07))

    def test_a_power_loss_at_any_moment_counts_the_coins_that_left(self):
        async def scene(moment: float) -> None:
            rig = HopperRig()
            await rig.advance_until(lambda: rig.list_events(LineRestored))
            rig.driver.pay("p", 9)
            await rig.advance_until(lambda: rig.ledger.find_open() is not None)
            await asyncio.sleep(moment)
            rig.perform_action("power_off")
            await asyncio.sleep(1)
            rig.perform_action("power_on")
            await rig.wait_for_payout_end("p")
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout["p"] == rig.tray_coins() <= 9
            rig.close()

        for step in range(40):
            jump(scene(step * 0.05))

    @pytest.mark.parametrize("killed", [False, True])
    @pytest.mark.parametrize("strange", ["serial", "no count", "less than was seen"])
    def test_the_count_of_an_exchanged_hopper_is_not_used(self, strange, killed):
        """A technician exchanges a hopper that jammed during a payout: only the coins counted before are paid."""

        async def scene():
            rig = HopperRig()
            rig.twin._lifetime_paid_coins = 500
            rig.driver.pay("p", 12)
            await rig.advance_until(lambda: rig.tray_coins() == 3)
            rig.perform_action("jam")
            await rig.advance_until(lambda: any(e.paid_coins == 3 for e in rig.list_events(PayoutProgress)))
            rig.perform_action("power_off")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            if killed:
                await rig.stop()
            if strange == "serial":
                rig.twin.serial, rig.twin._lifetime_paid_coins = b"\x01\x02\x03", 9_000
            else:
                rig.twin._lifetime_paid_coins = 0 if strange == "no count" else 501
            rig.perform_action("clear")
            rig.perform_action("power_on")
            if killed:
                rig.begin()
            await rig.wait_for_payout_end("p")
            assert (rig.ledger.paid_coins_by_payout, rig.ledger.disputed_coins_by_payout) == (
                {"p": 3},
                {"p": 9},
            )
            assert len(rig.list_events(AmountDisputed)) == 1
            rig.driver.pay("q", 2)
            await rig.wait_for_payout_end("q")
            await rig.stop()
            assert (rig.ledger.paid_coins_by_payout["q"], rig.tray_coins()) == (2, 5)
            rig.close()

        jump(scene())

    def test_an_empty_hopper_ends_a_payout_short_and_is_reported(self):
        async def scene():
            rig = HopperRig()
            rig.perform_action("fill", coins=5)
            rig.driver.pay("p", 8)
            await rig.wait_for_payout_end("p")
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.HOPPER_EMPTY and e.is_active for e in rig.list_events(DeviceFault)
                )
            )
            assert rig.ledger.paid_coins_by_payout == {"p": 5}
            rig.perform_action("fill", coins=100)
            rig.driver.pay("q", 3)
            await rig.wait_for_payout_end("q")
            await rig.advance_until(lambda: not rig.list_events(DeviceFault)[-1].is_active)
            await rig.stop()
            assert rig.tray_coins() == 8
            rig.close()

        jump(scene())

    def test_a_jam_ends_a_payout_with_the_counted_coins_and_is_reported(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 8)
            await rig.advance_until(lambda: rig.tray_coins() == 3)
            rig.perform_action("jam")
            await rig.wait_for_payout_end("p")
            await rig.advance_until(
                lambda: any(e.code is FaultCode.JAM and e.is_active for e in rig.list_events(DeviceFault))
            )
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout == {"p": rig.tray_coins()}
            rig.close()

        jump(scene())

    def test_coins_beyond_the_order_are_counted_and_reported(self):
        async def scene():
            rig = HopperRig()
            rig.perform_action("runaway", coins=2)
            rig.driver.pay("p", 4)
            await rig.wait_for_payout_end("p")
            await rig.advance_until(
                lambda: any(e.code is FaultCode.HOPPER_RUNAWAY for e in rig.list_events(DeviceFault))
            )
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout == {"p": 6}
            assert rig.tray_coins() == 6
            rig.close()

        jump(scene())

    @pytest.mark.requirement("F-13:a")
    def test_coins_without_an_order_are_disputed(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 2)
            await rig.wait_for_payout_end("p")
            await asyncio.sleep(1)
            assert not rig.list_events(AmountDisputed)
            rig.perform_action("lie")
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            await rig.stop()
            assert (rig.ledger.paid_coins_by_payout, rig.ledger.unordered_coins) == ({"p": 2}, 1)
            rig.close()

        jump(scene())

    @pytest.mark.parametrize(
        ("serial", "total"), [(b"\x01\x02\x03", 9_000), (b"\x01\x02\x03", 0), (CctalkHopperTwin.serial, 0)]
    )
    def test_the_count_of_a_hopper_exchanged_while_idle_is_no_coin_that_left(self, serial, total):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 2)
            await rig.wait_for_payout_end("p")
            await asyncio.sleep(1)
            rig.perform_action("unplug")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.twin.handle_power_loss()
            rig.twin.serial, rig.twin._lifetime_paid_coins = serial, total
            rig.perform_action("plug")
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            await asyncio.sleep(2)
            assert rig.ledger.unordered_coins == 0
            assert not rig.list_events(AmountDisputed)
            rig.perform_action("lie")  # the exchanged hopper is watched from its own count
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            await rig.stop()
            assert rig.ledger.unordered_coins == 1
            rig.close()

        jump(scene())

    def test_an_emergency_stop_ends_a_payout_with_the_counted_coins(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 50)
            await rig.advance_until(lambda: rig.tray_coins() == 10)
            rig.driver.stop()
            await rig.wait_for_payout_end("p")
            await rig.stop()
            assert rig.ledger.paid_coins_by_payout == {"p": rig.tray_coins()}
            assert rig.tray_coins() < 20
            rig.close()

        jump(scene())

    @pytest.mark.requirement("F-13:a")
    def test_the_hopper_of_an_abandoned_payout_is_stopped(self):
        """The count of a paying hopper decreases: its payout is closed, and no more coins may leave."""

        async def scene():
            rig = HopperRig()
            rig.twin._lifetime_paid_coins = 500
            rig.driver.pay("p", 60)
            await rig.advance_until(lambda: any(e.paid_coins >= 3 for e in rig.list_events(PayoutProgress)))
            rig.twin._lifetime_paid_coins = 1
            await rig.wait_for_payout_end("p")
            await asyncio.sleep(30)
            await rig.stop()
            assert len(rig.list_events(AmountDisputed)) == 1
            assert 3 <= rig.ledger.paid_coins_by_payout["p"] <= rig.tray_coins() < 20
            rig.close()

        jump(scene())

    def test_only_one_payout_may_be_open(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 5)
            with pytest.raises(ValueError, match="still open"):
                rig.driver.pay("q", 5)
            with pytest.raises(ValueError, match="expected 1 to 255"):
                rig.driver.pay("r", 256)
            await rig.wait_for_payout_end("p")
            await rig.stop()
            rig.close()

        jump(scene())


class TestOneBus:
    """Coin acceptor and hopper on one bus, as in most cabinets."""

    @pytest.mark.requirement("G-07", "G-08")
    def test_coins_are_accepted_and_paid_at_once_on_one_bus(self, line):
        async def scene():
            rig = DeviceRig("cctalk_coin", line)
            hopper_twin = PROTOCOLS["cctalk_hopper"].create_twin("hopper", rig.cable)
            bus = rig.create_serial_line()
            coins, payouts = TransientCoinLedger(), TransientPayoutLedger()
            coin_driver = CctalkCoinDriver("coin", bus, rig.receive_event, coins)
            hopper_driver = CctalkHopperDriver("hopper", bus, rig.receive_event, payouts)
            coin_driver.enable(COINS)
            tasks = [asyncio.ensure_future(driver.run()) for driver in (coin_driver, hopper_driver)]
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
            for number in range(5):
                hopper_driver.pay(f"p{number}", 6)
                rig.perform_action("insert", amount_cents=1_00)
                await rig.advance_until(lambda n=number: f"p{n}" in payouts.paid_coins_by_payout)
            await rig.advance_until(lambda: len(coins.credited_coins) == 5)
            if line == "perfect":
                rig.perform_action("unplug")
                await rig.advance_until(lambda: len(rig.list_events(LineLost)) == 2)
                rig.perform_action("plug")
                await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 4)
            assert payouts.paid_coins_by_payout == {f"p{number}": 6 for number in range(5)}
            assert hopper_twin.describe()["tray_coins"] == 30
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            rig.close()

        jump(scene())
