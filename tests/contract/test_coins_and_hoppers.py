"""What coin acceptor and hopper drivers promise, over every kind of line, through every interruption."""

import asyncio
import random
from contextlib import suppress

import pytest
from conftest import Rig

from egm.devices.catalogue import PROTOCOLS
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.interface import (
    CoinAccepted,
    CommLost,
    CommUp,
    Disputed,
    Fault,
    FaultCode,
    PayoutFinished,
    PayoutProgress,
    Ready,
    Rejected,
)
from egm.devices.transient import TransientCoinLedger, TransientPayoutLedger
from tools.soak.virtual import jump

COINS = frozenset({25, 1_00, 2_00})


class CoinRig(Rig):
    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__("cctalk_coin", line, seed)
        self.ledger = TransientCoinLedger()
        self.begin()

    def begin(self) -> None:
        self.driver = CctalkCoinDriver("coin", self.serial_line(), self.sink, self.ledger)
        self.driver.enable(COINS)
        self.start(self.driver)

    async def ready(self) -> None:
        await self.until(lambda: self.twin.describe()["status"] == "idle")
        await self.until(lambda: self.of(Ready))

    def credited(self) -> int:
        return sum(cents for cents, _ in self.ledger.coins)

    def kept(self) -> int:
        state = self.twin.describe()
        return state["hopper_cents"] + state["drop_cents"]


@pytest.mark.requirement("G-07")
class TestCoinAcceptor:
    def test_every_coin_once(self, line):
        async def scene():
            rig = CoinRig(line)
            await rig.ready()
            for cents in (25, 2_00, 1_00, 25, 25, 2_00):
                rig.hand("insert", amount_cents=cents)
                await asyncio.sleep(0.7)
            await rig.until(lambda: rig.credited() == rig.kept() == 5_75)
            await rig.stop()
            assert sum(event.amount_cents for event in rig.of(CoinAccepted)) == 5_75
            rig.close()

        jump(scene())

    def test_refused_coins_fall_through(self):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("insert", amount_cents=5)
            await rig.until(lambda: rig.of(Rejected))
            rig.driver.disable()
            await rig.until(lambda: not rig.of(Ready)[-1].accepting)
            rig.hand("insert", amount_cents=2_00)
            await asyncio.sleep(2)
            await rig.stop()
            assert rig.credited() == rig.kept() == 0
            assert rig.twin.describe()["tray_cents"] == 2_05
            rig.close()

        jump(scene())

    @pytest.mark.requirement("G-09")
    def test_the_diverter_sends_coins_to_the_box(self):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("insert", amount_cents=1_00)
            await rig.until(lambda: rig.credited() == 1_00)
            rig.driver.divert(to_hopper=False)
            await asyncio.sleep(1)
            rig.hand("insert", amount_cents=2_00)
            await rig.until(lambda: rig.credited() == 3_00)
            await rig.stop()
            assert rig.ledger.coins == [(1_00, True), (2_00, False)]
            assert rig.twin.describe()["drop_cents"] == 2_00
            assert [event.to_hopper for event in rig.of(CoinAccepted)] == [True, False]
            rig.close()

        jump(scene())

    def test_killed_machines_miss_no_coin(self, line):
        async def scene(seed: int) -> None:
            dice = random.Random(seed)
            rig = CoinRig(line, seed)
            await rig.ready()
            for _ in range(20):
                await rig.stop()
                for _ in range(dice.randrange(5)):  # the acceptor keeps five events
                    rig.hand("insert", amount_cents=dice.choice(sorted(COINS)))
                    await asyncio.sleep(dice.random() * 0.4)
                await asyncio.sleep(0.4)
                rig.begin()
                await asyncio.sleep(dice.random() * 2)
                if line in {"lossy", "delayed"}:  # the acceptor's memory is five events short
                    await rig.until(lambda: rig.credited() == rig.kept())
            await rig.until(lambda: rig.credited() == rig.kept())
            await rig.stop()
            assert rig.kept() > 0
            rig.close()

        for seed in range(5):
            jump(scene(seed))

    def test_power_losses_lose_no_coin_unseen(self):
        """A coin in the very instant before a power loss is either credited or told of."""

        async def scene(moment: float) -> None:
            rig = CoinRig()
            await rig.ready()
            for _ in range(4):
                rig.hand("insert", amount_cents=1_00)
                await asyncio.sleep(moment)
                rig.hand("power_off")
                await asyncio.sleep(0.2)
                rig.hand("power_on")
                await rig.until(lambda: rig.twin.describe()["status"] == "idle")
                await asyncio.sleep(1)
            await rig.stop()
            missing = rig.kept() - rig.credited()
            assert missing >= 0
            assert missing == 1_00 * len(rig.of(Disputed))
            rig.close()

        for step in range(40):
            jump(scene(0.2 + step * 0.01))

    def test_more_coins_than_the_acceptor_remembers_are_told_of(self):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("insert", amount_cents=1_00)
            await rig.until(lambda: rig.credited() == 1_00)
            await rig.stop()
            for _ in range(8):
                rig.hand("insert", amount_cents=1_00)
                await asyncio.sleep(0.5)
            rig.begin()
            await rig.until(lambda: rig.of(Disputed))
            await rig.stop()
            assert rig.credited() == 6_00
            assert "3 coins" in rig.of(Disputed)[0].text
            rig.close()

        jump(scene())

    def test_a_coin_the_counter_does_not_know_is_not_credited(self):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("insert", amount_cents=1_00)
            await rig.until(lambda: rig.credited() == 1_00)
            rig.hand("lie")
            await rig.until(lambda: rig.of(Disputed))
            rig.hand("insert", amount_cents=2_00)
            await rig.until(lambda: rig.credited() == 3_00)
            await rig.stop()
            assert len(rig.of(Disputed)) == 1
            rig.close()

        jump(scene())

    @pytest.mark.parametrize(
        ("hand", "code"),
        [("jam", FaultCode.JAM), ("cheat", FaultCode.COIN_CHEAT), ("diverter", FaultCode.DIVERTER)],
    )
    def test_faults(self, hand, code):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("insert", amount_cents=1_00)
            await rig.until(lambda: rig.credited() == 1_00)
            rig.hand(hand)
            await rig.until(lambda: any(e.code is code and e.active for e in rig.of(Fault)))
            await rig.until(lambda: any(e.code is code and not e.active for e in rig.of(Fault)))
            await rig.stop()
            rig.close()

        jump(scene())

    def test_silence_and_cable(self):
        async def scene():
            rig = CoinRig()
            await rig.ready()
            rig.hand("silence")
            await rig.until(lambda: rig.of(CommLost), 5)
            rig.hand("silence", on=False)
            await rig.until(lambda: len(rig.of(CommUp)) == 2, 5)
            rig.hand("unplug")
            await rig.until(lambda: len(rig.of(CommLost)) == 2, 5)
            rig.hand("plug")
            await rig.until(lambda: len(rig.of(CommUp)) == 3, 5)
            await rig.stop()
            rig.close()

        jump(scene())


class Killed(Exception):
    pass


class MortalPayouts(TransientPayoutLedger):
    def __init__(self) -> None:
        super().__init__()
        self.die_at: int | None = None
        self._calls = 0

    def _maybe_die(self) -> None:
        self._calls += 1
        if self._calls == self.die_at:
            raise Killed

    def ordered(self, record):
        self._maybe_die()
        super().ordered(record)
        self._maybe_die()

    def finished(self, payout_id, paid_coins):
        self._maybe_die()
        super().finished(payout_id, paid_coins)
        self._maybe_die()


class HopperRig(Rig):
    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__("cctalk_hopper", line, seed)
        self.ledger = MortalPayouts()
        self.begin()

    def begin(self) -> None:
        self.driver = CctalkHopperDriver("hopper", self.serial_line(), self.sink, self.ledger)
        self.start(self.driver)

    def tray(self) -> int:
        return self.twin.describe()["tray_coins"]

    async def finished(self, payout_id: str) -> None:
        await self.until(lambda: payout_id in self.ledger.paid)


@pytest.mark.requirement("G-08")
class TestHopper:
    def test_pays_what_is_ordered(self, line):
        async def scene():
            rig = HopperRig(line)
            for number, coins in enumerate((1, 7, 40)):
                rig.driver.pay(f"p{number}", coins)
                await rig.finished(f"p{number}")
            await rig.stop()
            assert rig.ledger.paid == {"p0": 1, "p1": 7, "p2": 40}
            assert rig.tray() == 48
            assert [e.paid_coins for e in rig.of(PayoutFinished)] == [1, 7, 40]
            assert rig.of(PayoutProgress)
            rig.close()

        jump(scene())

    def test_killed_around_every_recording(self, line):
        async def scene(die_at: int) -> None:
            rig = HopperRig(line, seed=die_at)
            rig.ledger.die_at = die_at
            rig.driver.pay("p", 12)
            await asyncio.sleep(0)
            for _ in range(3):
                with suppress(Killed):
                    await rig.until(lambda: "p" in rig.ledger.paid)
                await asyncio.sleep(0)
                if not rig.died():
                    break
                with pytest.raises(Killed):
                    await rig.stop()
                await asyncio.sleep(die_at)
                rig.begin()
                if rig.ledger.pending() is None and "p" not in rig.ledger.paid:
                    rig.driver.pay("p", 12)
            await rig.stop() if not rig.died() else None
            assert rig.ledger.paid == {"p": 12}
            assert rig.tray() == 12
            rig.close()

        for die_at in range(1, 5):
            jump(scene(die_at))

    def test_killed_at_any_moment(self, line):
        async def scene(moment: float) -> None:
            rig = HopperRig(line, seed=int(moment * 100))
            await rig.until(lambda: rig.of(CommUp))
            rig.driver.pay("p", 9)
            await rig.until(lambda: rig.ledger.pending() is not None)
            await asyncio.sleep(moment)
            await rig.stop()
            await asyncio.sleep(moment / 2)
            rig.begin()
            await rig.finished("p")
            await rig.stop()
            assert rig.ledger.paid == {"p": 9}
            assert rig.tray() == 9
            rig.close()

        for step in range(30):
            jump(scene(step * 0.07))

    def test_power_lost_at_any_moment_counts_what_left(self):
        async def scene(moment: float) -> None:
            rig = HopperRig()
            await rig.until(lambda: rig.of(CommUp))
            rig.driver.pay("p", 9)
            await rig.until(lambda: rig.ledger.pending() is not None)
            await asyncio.sleep(moment)
            rig.hand("power_off")
            await asyncio.sleep(1)
            rig.hand("power_on")
            await rig.finished("p")
            await rig.stop()
            assert rig.ledger.paid["p"] == rig.tray() <= 9
            rig.close()

        for step in range(40):
            jump(scene(step * 0.05))

    @pytest.mark.parametrize("killed", [False, True])
    @pytest.mark.parametrize("strange", ["serial", "count"])
    def test_another_hopper_in_its_place_is_not_believed(self, strange, killed):
        """A technician swaps a hopper that stuck in the middle of a payout; what it had paid was seen, or not."""

        async def scene():
            rig = HopperRig()
            rig.twin._total = 500
            rig.driver.pay("p", 12)
            await rig.until(lambda: rig.tray() == 3)
            rig.hand("jam")
            await rig.until(lambda: any(e.paid_coins == 3 for e in rig.of(PayoutProgress)))
            rig.hand("power_off")
            await rig.until(lambda: rig.of(CommLost), 5)
            if killed:
                await rig.stop()
            if strange == "serial":
                rig.twin.serial, rig.twin._total = b"\x01\x02\x03", 9_000
            else:
                rig.twin._total = 0
            rig.hand("clear")
            rig.hand("power_on")
            if killed:
                rig.begin()
            await rig.finished("p")
            assert rig.ledger.paid == {"p": 0 if killed else 3}
            assert len(rig.of(Disputed)) == 1
            rig.driver.pay("q", 2)
            await rig.finished("q")
            await rig.stop()
            assert (rig.ledger.paid["q"], rig.tray()) == (2, 5)
            rig.close()

        jump(scene())

    def test_empty_is_a_short_pay(self):
        async def scene():
            rig = HopperRig()
            rig.hand("fill", coins=5)
            rig.driver.pay("p", 8)
            await rig.finished("p")
            await rig.until(lambda: any(e.code is FaultCode.HOPPER_EMPTY and e.active for e in rig.of(Fault)))
            assert rig.ledger.paid == {"p": 5}
            rig.hand("fill", coins=100)
            rig.driver.pay("q", 3)
            await rig.finished("q")
            await rig.until(lambda: not rig.of(Fault)[-1].active)
            await rig.stop()
            assert rig.tray() == 8
            rig.close()

        jump(scene())

    def test_jam_is_told_and_counted(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 8)
            await rig.until(lambda: rig.tray() == 3)
            rig.hand("jam")
            await rig.finished("p")
            await rig.until(lambda: any(e.code is FaultCode.JAM and e.active for e in rig.of(Fault)))
            await rig.stop()
            assert rig.ledger.paid == {"p": rig.tray()}
            rig.close()

        jump(scene())

    def test_runaway_is_counted_and_told(self):
        async def scene():
            rig = HopperRig()
            rig.hand("runaway", coins=2)
            rig.driver.pay("p", 4)
            await rig.finished("p")
            await rig.until(lambda: any(e.code is FaultCode.HOPPER_RUNAWAY for e in rig.of(Fault)))
            await rig.stop()
            assert rig.ledger.paid == {"p": 6}
            assert rig.tray() == 6
            rig.close()

        jump(scene())

    def test_coins_nobody_ordered_are_told(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 2)
            await rig.finished("p")
            await asyncio.sleep(1)
            assert not rig.of(Disputed)
            rig.hand("lie")
            await rig.until(lambda: rig.of(Disputed))
            await rig.stop()
            assert rig.ledger.paid == {"p": 2}
            rig.close()

        jump(scene())

    def test_emergency_stop(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 50)
            await rig.until(lambda: rig.tray() == 10)
            rig.driver.stop()
            await rig.finished("p")
            await rig.stop()
            assert rig.ledger.paid == {"p": rig.tray()}
            assert rig.tray() < 20
            rig.close()

        jump(scene())

    def test_one_payout_at_a_time(self):
        async def scene():
            rig = HopperRig()
            rig.driver.pay("p", 5)
            with pytest.raises(ValueError, match="still open"):
                rig.driver.pay("q", 5)
            with pytest.raises(ValueError, match="1 to 255"):
                rig.driver.pay("r", 256)
            await rig.finished("p")
            await rig.stop()
            rig.close()

        jump(scene())


class TestOneBus:
    """Coin acceptor and hopper on one wire, as most cabinets have them."""

    @pytest.mark.requirement("G-07", "G-08")
    def test_coins_in_and_out_at_once(self, line):
        async def scene():
            rig = Rig("cctalk_coin", line)
            hopper_twin = PROTOCOLS["cctalk_hopper"].twin("hopper", rig.cable)
            bus = rig.serial_line()
            coins, payouts = TransientCoinLedger(), TransientPayoutLedger()
            coin_driver = CctalkCoinDriver("coin", bus, rig.sink, coins)
            hopper_driver = CctalkHopperDriver("hopper", bus, rig.sink, payouts)
            coin_driver.enable(COINS)
            tasks = [asyncio.ensure_future(driver.run()) for driver in (coin_driver, hopper_driver)]
            await rig.until(lambda: rig.twin.describe()["status"] == "idle")
            for number in range(5):
                hopper_driver.pay(f"p{number}", 6)
                rig.hand("insert", amount_cents=1_00)
                await rig.until(lambda n=number: f"p{n}" in payouts.paid)
            await rig.until(lambda: len(coins.coins) == 5)
            if line == "perfect":
                rig.hand("unplug")
                await rig.until(lambda: len(rig.of(CommLost)) == 2)
                rig.hand("plug")
                await rig.until(lambda: len(rig.of(CommUp)) == 4)
            assert payouts.paid == {f"p{number}": 6 for number in range(5)}
            assert hopper_twin.describe()["tray_coins"] == 30
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            rig.close()

        jump(scene())
