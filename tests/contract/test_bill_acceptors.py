"""The contract of every bill acceptor driver, over every kind of line and through every interruption."""

import asyncio
import random

import pytest
from bill_rig import DRIVERS, NOTES, BillRig
from moments import at_moments

from egm.devices.interface import (
    AcceptorReadiness,
    AmountDisputed,
    Banknote,
    Barcode,
    ItemRejected,
    PaperInEscrow,
    PaperReturned,
    PaperStacked,
    ReturnReason,
)
from egm.testing.crash import SimulatedPowerLoss
from egm.testing.jumping_loop import jump


@pytest.fixture(params=sorted(DRIVERS))
def protocol(request) -> str:
    return request.param


@pytest.mark.requirement("G-02", "G-06")
class TestEveryLine:
    """Bills from insertion to credit or return, over perfect, one-byte, lossy and delayed lines."""

    def test_each_bill_is_credited_once(self, protocol, line):
        async def scene():
            rig = BillRig(protocol, line)
            for cents in (20_00, 5_00, 10_00, 20_00, 20_00, 5_00):
                await rig.insert(cents)
                await rig.advance_until(lambda: rig.twin.describe()["inside_cents"] == 0)
                await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents()
            if line != "lossy":  # an acceptor may return a bill if its orders are lost
                assert rig.credited_cents == 80_00
            assert rig.box_cents() >= 40_00
            assert [e.content for e in rig.list_events(PaperStacked)] == rig.ledger.credited_papers
            assert not rig.list_events(AmountDisputed)
            rig.close()

        jump(scene())

    def test_a_ticket_is_read_and_stacked(self, protocol, line):
        async def scene():
            rig = BillRig(protocol, line)
            await rig.idle()
            rig.perform_action("insert_ticket", barcode="00-4724-9780-2837-8429")  # as printed
            await rig.advance_until(lambda: rig.list_events(PaperStacked, PaperReturned))
            await rig.advance_until(lambda: rig.ledger.find_open() is None)
            await rig.stop()
            if line != "lossy":
                assert rig.ledger.credited_papers == [Barcode("004724978028378429")]
            rig.close()

        jump(scene())

    def test_a_bill_is_returned_when_ordered(self, protocol, line):
        async def scene():
            rig = BillRig(protocol, line, decide="return")
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.list_events(PaperReturned)[0].content == Banknote(20_00)
            if line != "lossy":
                assert rig.list_events(PaperReturned)[0].reason is ReturnReason.ORDERED_BY_MACHINE
            assert (rig.credited_cents, rig.box_cents()) == (0, 0)
            rig.close()

        jump(scene())

    def test_the_acceptor_follows_enable_and_disable(self, protocol, line):
        async def scene():
            rig = BillRig(protocol, line)
            await rig.advance_until(
                lambda: (
                    rig.list_events(AcceptorReadiness) and rig.list_events(AcceptorReadiness)[-1].is_accepting
                )
            )
            rig.driver.disable()
            await rig.advance_until(lambda: not rig.list_events(AcceptorReadiness)[-1].is_accepting)
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "disabled")
            rig.driver.enable(NOTES)
            await rig.advance_until(lambda: rig.list_events(AcceptorReadiness)[-1].is_accepting)
            await rig.stop()
            rig.close()

        jump(scene())


class TestRefusals:
    @pytest.mark.requirement("G-03")
    def test_a_bill_is_returned_when_stacking_may_not_be_ordered(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            rig.ledger.can_order_stacking = lambda: False
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.list_events(PaperInEscrow)
            assert not rig.list_events(PaperStacked)
            assert (rig.credited_cents, rig.twin.describe()["returned_cents"]) == (0, 20_00)
            rig.close()

        jump(scene())

    @pytest.mark.requirement("G-03")
    def test_a_bill_of_a_denomination_not_enabled_is_returned(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.insert(100_00)
            await rig.advance_until(rig.quiet)
            await asyncio.sleep(1)
            await rig.stop()
            assert not rig.list_events(PaperInEscrow)
            assert not rig.list_events(PaperStacked)
            assert (rig.twin.describe()["returned_cents"], rig.twin.describe()["returned"]) == (
                100_00,
                [100_00],
            )
            rig.close()

        jump(scene())

    @pytest.mark.requirement("G-03", "G-06")
    def test_a_counterfeit_is_rejected(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.perform_action("insert", amount_cents=20_00, counterfeit=True)
            await rig.advance_until(lambda: rig.list_events(ItemRejected))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert not rig.list_events(PaperInEscrow)
            assert rig.credited_cents == 0
            rig.close()

        jump(scene())

    def test_a_bill_without_a_decision_of_the_machine_is_returned(self, protocol):
        async def scene():
            rig = BillRig(protocol, decide="nothing")
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.list_events(PaperReturned)[0].reason is ReturnReason.NO_DECISION_IN_TIME
            rig.close()

        jump(scene())

    def test_a_bill_held_for_a_host_is_stacked_on_its_decision(self, protocol):
        async def scene():
            rig = BillRig(protocol, decide="hold")
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
            await asyncio.sleep(25)
            assert not rig.list_events(PaperReturned)
            rig.driver.stack(rig.list_events(PaperInEscrow)[0].escrow_number)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents() == 20_00
            rig.close()

        jump(scene())

    def test_a_decision_about_an_earlier_escrow_is_ignored(self, protocol):
        async def scene():
            rig = BillRig(protocol, decide="nothing")
            await rig.insert(5_00)
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.insert(20_00)
            await rig.advance_until(lambda: len(rig.list_events(PaperInEscrow)) == 2)
            rig.driver.stack(rig.list_events(PaperInEscrow)[0].escrow_number)
            await rig.advance_until(lambda: len(rig.list_events(PaperReturned)) == 2)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents() == 0
            rig.close()

        jump(scene())

    def test_a_denomination_unknown_to_the_acceptor_is_not_accepted_and_others_are(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            rig.driver.enable(frozenset({3_00, 20_00}))
            await rig.insert(20_00)
            await rig.advance_until(lambda: rig.credited_cents == 20_00)
            await rig.stop()
            rig.close()

        jump(scene())


@pytest.mark.requirement("G-05")
class TestInterruptions:
    """Kills of the machine and power losses of the acceptor at every step: a credit or a return, never both."""

    def test_a_kill_around_every_record_loses_and_doubles_nothing(self, protocol, line):
        async def scene(power_loss_at_point: int) -> bool:
            rig = BillRig(protocol, line, seed=power_loss_at_point)
            rig.ledger.power_loss_at_point = power_loss_at_point
            died = False
            for cents in (20_00, 5_00):
                await rig.insert(cents)
                for _ in range(6000):
                    if rig.has_driver_ended():
                        died = True
                        with pytest.raises(SimulatedPowerLoss):
                            await rig.stop()
                        await asyncio.sleep(power_loss_at_point % 4)
                        rig.begin()
                    await asyncio.sleep(0.01)
                    if rig.quiet() and not rig.has_driver_ended():
                        break
                assert rig.quiet(), (power_loss_at_point, rig.twin.describe(), rig.ledger.find_open())
            await rig.stop()
            assert rig.credited_cents == rig.box_cents(), (power_loss_at_point, rig.events)
            if line != "lossy":
                assert rig.credited_cents == 25_00
            assert not rig.list_events(AmountDisputed)
            rig.close()
            return died

        deaths = sum(jump(scene(power_loss_at_point)) for power_loss_at_point in range(1, 13))
        assert deaths == 12 or (line == "lossy" and deaths >= 6)

    @at_moments
    def test_a_kill_at_any_moment_loses_and_doubles_nothing(self, protocol, line, every):
        """The machine is killed and restarted at times spread over the whole handling of a bill."""

        async def scene(moment: float, pause: float) -> None:
            rig = BillRig(protocol, line, seed=int(moment * 100))
            await rig.insert()
            await asyncio.sleep(moment)
            await rig.stop()
            await asyncio.sleep(pause)
            rig.begin()
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents(), (moment, pause)
            if line != "lossy" and pause < 5:
                assert rig.credited_cents == 20_00, (moment, pause)
            if (
                rig.credited_cents or pause < 5
            ):  # otherwise it may have been returned while no driver was running
                assert not rig.ledger.disputed_papers, (moment, pause)
            rig.close()

        for step in range(0, 20, every):
            for pause in (0.0, 0.9, 20.0) if line == "perfect" else (0.4, 12.0):
                jump(scene(step * 0.15, pause))

    @at_moments
    def test_a_power_loss_of_the_acceptor_at_any_moment_loses_and_doubles_nothing(self, protocol, every):
        async def scene(moment: float, pause: float, second_pause: float, revend: bool) -> None:
            rig = BillRig(protocol)
            if protocol == "id003":
                rig.perform_action("revend", on=revend)
            await rig.insert()
            for wait in (moment, second_pause):
                await asyncio.sleep(wait)
                rig.perform_action("power_off")
                await asyncio.sleep(pause)
                rig.perform_action("power_on")
            await rig.advance_until(rig.quiet)
            await asyncio.sleep(3)
            await rig.insert(5_00)
            await rig.advance_until(
                lambda: (
                    rig.list_events(PaperStacked)
                    and rig.list_events(PaperStacked)[-1].content == Banknote(5_00)
                )
            )
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents(), (moment, pause, second_pause, rig.events)
            assert not rig.list_events(AmountDisputed), (moment, pause, second_pause, rig.events)
            rig.close()

        for step in range(0, 20, every):
            for pause, second_pause, revend in (
                (0.3, 9.0, False),
                (2.0, 0.4, True),
                (0.05, 0.7, False),
                (3.0, 1.1, True),
            ):
                jump(scene(step * 0.12, pause, second_pause, revend))

    @at_moments
    def test_repeated_failures_of_machine_and_acceptor_lose_and_double_nothing(self, protocol, line, every):
        """Bills are inserted while machine and acceptor fail at random."""

        async def scene(seed: int) -> None:
            dice = random.Random(seed)
            rig = BillRig(protocol, line, seed=seed)
            if protocol == "id003":
                rig.perform_action("revend", on=bool(seed % 2))
            for _ in range(12):
                await rig.insert(dice.choice([5_00, 10_00, 20_00]))
                for _ in range(dice.randrange(3)):
                    await asyncio.sleep(dice.random() * 2)
                    if dice.random() < 0.5:
                        rig.perform_action("power_off")
                        await asyncio.sleep(dice.random())
                        rig.perform_action("power_on")
                    else:
                        await rig.stop()
                        await asyncio.sleep(dice.random())
                        rig.begin()
                await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents(), seed
            assert rig.credited_cents > 0
            rig.close()

        for seed in range(0, 5, every):
            jump(scene(seed))


@pytest.mark.requirement("G-02", "G-05")
class TestUnaccountedBill:
    """An ordered bill whose destination no report states: a person decides its amount."""

    @staticmethod
    def swallow(rig: BillRig) -> None:
        """Cut the acceptor's power and remove the bill; after the restart it reports no bill."""
        rig.perform_action("power_off")
        rig.twin._paper = None

    @pytest.mark.parametrize("killed", [False, True])
    def test_a_bill_lost_during_a_power_cut_is_disputed_with_its_amount(self, protocol, killed):
        async def scene(moment: float) -> None:
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.ledger.find_open() is not None)
            await asyncio.sleep(moment)
            if rig.ledger.find_open() is None or rig.ledger.credited_papers:
                await rig.stop()
                return
            if killed:
                await rig.stop()
            self.swallow(rig)
            await asyncio.sleep(3)
            rig.perform_action("power_on")
            if killed:
                rig.begin()
            await rig.advance_until(lambda: rig.ledger.find_open() is None, 30)
            await rig.stop()
            assert (rig.ledger.credited_papers, rig.ledger.disputed_papers) == ([], [Banknote(20_00)]), moment
            assert not rig.list_events(PaperReturned)
            rig.close()

        for step in range(12):
            jump(scene(step * 0.03))

    def test_every_restart_ends_in_a_credit_a_return_or_a_dispute(self, protocol):
        """The machine is killed around each record, and the bill is lost when the acceptor loses power."""

        async def scene(power_loss_at_point: int) -> None:
            rig = BillRig(protocol)
            rig.ledger.power_loss_at_point = power_loss_at_point
            await rig.insert()
            await rig.advance_until(lambda: rig.has_driver_ended() or rig.quiet())
            if rig.has_driver_ended():
                with pytest.raises(SimulatedPowerLoss):
                    await rig.stop()
                boxed = rig.box_cents()
                self.swallow(rig)
                await asyncio.sleep(3)
                rig.perform_action("power_on")
                opened = rig.ledger.find_open()
                rig.begin()
                await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle", 30)
                await rig.advance_until(lambda: rig.ledger.find_open() is None, 30)
                lost = opened is not None and not rig.ledger.credited_papers and not boxed
                assert bool(rig.ledger.disputed_papers) is lost, power_loss_at_point
            await rig.stop()
            assert len(rig.ledger.credited_papers) + len(rig.ledger.disputed_papers) <= 1
            rig.close()

        for power_loss_at_point in range(1, 13):
            jump(scene(power_loss_at_point))

    def test_a_bill_reported_as_being_returned_is_a_return_also_after_a_restart(self, protocol):
        async def scene(killed: bool) -> None:
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "stacking")
            rig.twin._stop_timers()
            rig.twin._start_returning()
            await rig.advance_until(lambda: (open_ := rig.ledger.find_open()) is None or open_.is_returning)
            if killed:
                await rig.stop()
                await asyncio.sleep(2)
                rig.begin()
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert (rig.ledger.credited_papers, rig.ledger.disputed_papers) == ([], [])
            assert rig.twin.describe()["returned_cents"] == 20_00
            rig.close()

        for killed in (False, True):
            jump(scene(killed))
