"""Faults of every bill acceptor driver, and random sessions in which everything fails."""

import asyncio
import random
from collections.abc import Callable

import pytest
from bill_rig import DRIVERS, BillRig
from delays import delay_next_reply

from egm.devices.bill_twin import SimulatedPaper
from egm.devices.ebds.codec import AuxiliaryCommand, EbdsPoll
from egm.devices.interface import (
    AmountDisputed,
    Banknote,
    Barcode,
    DeviceFault,
    FaultCode,
    InvalidBytesReceived,
    LineLost,
    LineRestored,
    PaperInEscrow,
    PaperReturned,
    PaperStacked,
    ReturnReason,
)
from egm.testing.jumping_loop import jump


@pytest.fixture(params=sorted(DRIVERS))
def protocol(request) -> str:
    return request.param


@pytest.mark.slow
@pytest.mark.requirement("G-02", "G-05", "G-06")
@pytest.mark.parametrize("seeds", [range(start, start + 10) for start in range(0, 60, 10)], ids=str)
def test_random_failures_of_everything_lose_and_double_nothing(protocol, line, seeds):
    """Sessions of ten bills with random decisions, kills, power losses, silences and unplugged cables."""

    async def scene(seed: int) -> None:
        dice = random.Random(seed)
        rig = BillRig(protocol, line, seed)
        if protocol == "id003":
            rig.perform_action("revend", on=bool(seed % 2))
        for _ in range(10):
            rig.decide = dice.choice(["stack", "stack", "stack", "return", "hold"])
            await rig.insert(dice.choice([5_00, 10_00, 20_00]))
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(dice.random() * 2)
                trouble = dice.choice(
                    ["power", "power", "power", "death", "death", "death", "cable", "silence"]
                )
                pause = dice.random() * 2
                if trouble == "death":
                    await rig.stop()
                    await asyncio.sleep(pause)
                    rig.begin()
                elif trouble == "silence":
                    rig.perform_action("silence")
                    await asyncio.sleep(pause)
                    rig.perform_action("silence", on=False)
                else:
                    off, on = ("power_off", "power_on") if trouble == "power" else ("unplug", "plug")
                    rig.perform_action(off)
                    await asyncio.sleep(pause)
                    rig.perform_action(on)
            rig.decide = dice.choice(["stack", "return"])
            for event in rig.list_events(PaperInEscrow)[-1:]:
                rig._react(event)
            await rig.advance_until(rig.quiet, 120)
        await rig.stop()
        assert rig.credited_cents == rig.box_cents(), seed
        rig.close()

    for seed in seeds:
        jump(scene(seed))


@pytest.mark.requirement("G-06", "G-15")
class TestFaults:
    def fault(self, protocol: str, code: FaultCode, begin: Callable, end: Callable) -> None:
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            begin(rig)
            await rig.advance_until(
                lambda: any(e.code is code and e.is_active for e in rig.list_events(DeviceFault))
            )
            end(rig)
            await rig.advance_until(
                lambda: any(e.code is code and not e.is_active for e in rig.list_events(DeviceFault))
            )
            await rig.insert(5_00)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents() == 5_00
            rig.close()

        jump(scene())

    def test_a_jam_is_reported_and_cleared(self, protocol):
        def begin(rig):
            rig.perform_action("jam")
            rig.perform_action("insert", amount_cents=20_00)

        self.fault(protocol, FaultCode.JAM, begin, lambda rig: rig.perform_action("clear"))

    @pytest.mark.requirement("G-01")
    def test_a_removed_box_is_reported_and_cleared(self, protocol):
        self.fault(
            protocol,
            FaultCode.STACKER_REMOVED,
            lambda rig: rig.perform_action("box", present=False),
            lambda rig: rig.perform_action("box", present=True),
        )

    def test_a_full_box_is_reported_and_cleared(self, protocol):
        self.fault(
            protocol,
            FaultCode.STACKER_FULL,
            lambda rig: rig.perform_action("full"),
            lambda rig: rig.perform_action("clear"),
        )

    def test_a_failure_is_reported_and_cleared(self, protocol):
        self.fault(
            protocol,
            FaultCode.FAILURE,
            lambda rig: rig.perform_action("fail"),
            lambda rig: rig.perform_action("clear"),
        )

    def test_a_cheat_attempt_is_reported(self, protocol):
        self.fault(
            protocol, FaultCode.FRAUD_SUSPECTED, lambda rig: rig.perform_action("cheat"), lambda rig: None
        )

    @pytest.mark.requirement("G-02")
    def test_a_false_report_of_a_stacked_bill_is_disputed_and_not_credited(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.perform_action("lie")
            await rig.advance_until(lambda: rig.list_events(AmountDisputed))
            await rig.insert(5_00)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.ledger.credited_papers == [Banknote(5_00)]
            assert len(rig.list_events(AmountDisputed)) == 1
            rig.close()

        jump(scene())

    def test_a_silent_acceptor_is_reported_lost_and_used_again_after_it_replies(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.perform_action("silence")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.perform_action("silence", on=False)
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            await rig.insert()
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == 20_00
            assert len(rig.list_events(LineLost)) == 1
            rig.close()

        jump(scene())

    def test_an_unplugged_cable_is_reported_and_no_bill_is_lost(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
            rig.perform_action("unplug")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            await asyncio.sleep(4)
            rig.perform_action("plug")
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents()
            rig.close()

        jump(scene())

    def test_damaged_replies_are_reported_and_the_next_bill_is_credited(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.perform_action("corrupt", answers=3)
            await rig.advance_until(lambda: rig.list_events(InvalidBytesReceived))
            await rig.insert()
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents() == 20_00
            rig.close()

        jump(scene())


TICKET = "004724978028378429"


@pytest.mark.requirement("G-05", "G-06", "H-08")
class TestTicketInEscrowWhileTheAcceptorDoesNotReply:
    """The acceptor stops replying for longer than a poll while a host validates the ticket in escrow, or after that."""

    async def hold_ticket(self, protocol: str) -> BillRig:
        rig = BillRig(protocol, decide="hold")
        await rig.idle()
        rig.perform_action("insert_ticket", barcode=TICKET)
        await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
        await asyncio.sleep(0.5)
        return rig

    def test_a_held_ticket_returned_during_a_power_loss_is_reported(self, protocol):
        async def scene():
            rig = await self.hold_ticket(protocol)
            rig.perform_action("power_off")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.perform_action("power_on")
            await rig.advance_until(lambda: rig.list_events(PaperReturned), 30)
            assert [event.content for event in rig.list_events(PaperReturned)] == [Barcode(TICKET)]
            await rig.insert(5_00)  # the next bill must not be mistaken for the ticket
            await rig.advance_until(lambda: len(rig.list_events(PaperInEscrow)) == 2)
            rig.driver.stack(rig.list_events(PaperInEscrow)[-1].escrow_number)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert (rig.ledger.credited_papers, len(rig.list_events(PaperReturned))) == ([Banknote(5_00)], 1)
            rig.close()

        jump(scene())

    @pytest.mark.parametrize("answer", ["stack", "return"])
    @pytest.mark.parametrize("when", ["silent", "back"])
    def test_a_decision_about_a_held_ticket_is_carried_out_after_a_silence(self, protocol, answer, when):
        async def scene():
            rig = await self.hold_ticket(protocol)
            rig.twin.escrow_seconds = None
            rig.perform_action("silence")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            order = rig.driver.stack if answer == "stack" else rig.driver.return_paper
            if when == "silent":
                order(1)
            rig.perform_action("silence", on=False)
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            if when == "back":
                await asyncio.sleep(15)  # time for a holding acceptor to report escrow again
                order(1)
            if (answer, when) == (
                "stack",
                "silent",
            ):  # the order is too old to be carried out: the ticket is offered again
                await rig.advance_until(lambda: len(rig.list_events(PaperInEscrow)) == 2, 30)
                rig.driver.return_paper(2)
            await rig.advance_until(lambda: rig.list_events(PaperStacked, PaperReturned), 30)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            is_stacked = (answer, when) == ("stack", "back")
            assert rig.ledger.credited_papers == ([Barcode(TICKET)] if is_stacked else [])
            assert rig.twin.describe()["stacked"] == ([TICKET] if is_stacked else [])
            assert rig.twin.describe()["returned"] == ([] if is_stacked else [TICKET])
            assert [event.content for event in rig.list_events(PaperReturned)] == (
                [] if is_stacked else [Barcode(TICKET)]
            )
            rig.close()

        jump(scene())


@pytest.mark.parametrize("protocol", sorted(DRIVERS))
def test_faster_mechanics_do_not_shorten_the_time_of_an_item_in_escrow(protocol):
    """Otherwise a tenth of a second by which a busy computer is late would be several seconds of the acceptor."""

    async def scene():
        rig = BillRig(protocol, decide="hold")
        rig.twin._speed = 20
        await rig.insert()
        await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
        await asyncio.sleep(60)
        assert rig.twin.describe()["inside_cents"] == 20_00
        rig.driver.stack(1)
        await rig.advance_until(lambda: rig.credited_cents == 20_00)
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", ["cctalk_bill", "id003"])
def test_a_held_item_is_in_escrow_again_although_escrow_has_no_time_limit(protocol):
    """A machine that restarts must see the item, to decide about it."""

    async def scene():
        rig = BillRig(protocol, decide="hold")
        rig.perform_action("escrow_limit", seconds=0)
        await rig.insert()
        await rig.advance_until(lambda: rig.twin.describe()["status"] in {"held", "holding"})
        await rig.stop()
        rig.decide = "stack"
        rig.begin()
        await rig.advance_until(lambda: rig.credited_cents == 20_00)
        await rig.advance_until(rig.quiet)
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", ["cctalk_bill", "id003"])
@pytest.mark.parametrize("limit_seconds", [0, 30])
def test_the_time_limit_of_an_item_in_escrow_can_be_set(protocol, limit_seconds):
    async def scene():
        rig = BillRig(protocol, decide="")
        rig.perform_action("escrow_limit", seconds=limit_seconds)
        await rig.insert()
        await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
        await rig.stop()
        await asyncio.sleep(25)
        assert rig.twin.describe()["inside_cents"] == 20_00
        await asyncio.sleep(60)
        assert rig.twin.describe()["returned_cents"] == (20_00 if limit_seconds else 0)
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02")
@pytest.mark.parametrize("others", [7, -3])
def test_the_count_of_another_validator_does_not_credit_an_ordered_bill(others):
    """The validator is exchanged while a bill is moving: the bill is in the old one, and an attendant is called."""

    async def scene():
        rig = BillRig("cctalk_bill")
        rig.twin._accept_counter = 500
        await rig.insert()
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "stacking")
        rig.perform_action("power_off")
        await rig.advance_until(lambda: rig.list_events(LineLost), 5)
        rig.twin._paper, rig.twin._accept_counter = None, 500 + others
        rig.twin.inserted_cents = 0
        rig.perform_action("power_on")
        await rig.advance_until(lambda: rig.list_events(AmountDisputed), 30)
        await rig.advance_until(rig.quiet, 30)
        await rig.insert(5_00)
        await rig.advance_until(lambda: rig.ledger.credited_papers)
        await rig.advance_until(rig.quiet)
        await rig.stop()
        assert rig.ledger.credited_papers == [Banknote(5_00)]
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "G-05", "G-06")
class TestInsideTheStacker:
    def test_a_bill_that_jams_on_its_way_to_the_box_is_not_credited(self, protocol):
        """A technician removes it by hand: there is no credit, and it is reported to an attendant."""

        async def scene():
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "stacking")
            rig.perform_action("jam")
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.STACKER_JAM and e.is_active for e in rig.list_events(DeviceFault)
                )
            )
            assert rig.ledger.find_open() is not None
            rig.perform_action("clear")
            await rig.advance_until(rig.quiet)
            await rig.advance_until(lambda: rig.list_events(AmountDisputed, PaperReturned))
            await rig.insert(5_00)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.ledger.credited_papers == [Banknote(5_00)]
            assert rig.twin.describe()["returned_cents"] == 20_00
            rig.close()

        jump(scene())

    def test_the_bill_that_fills_the_box_is_credited(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.list_events(PaperInEscrow))
            rig.perform_action("full")
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.STACKER_FULL and e.is_active for e in rig.list_events(DeviceFault)
                )
            )
            assert rig.credited_cents == rig.box_cents() == 20_00
            rig.perform_action("clear")
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert len(rig.ledger.credited_papers) == 1
            rig.close()

        jump(scene())

    def test_a_box_removed_while_stacking_credits_the_bill_once(self, protocol):
        async def scene():
            rig = BillRig(protocol)
            await rig.insert()
            await rig.advance_until(lambda: rig.twin.describe()["status"] == "stacking")
            await asyncio.sleep(0.5)  # past the point at which the bill can be returned
            rig.perform_action("box", present=False)
            await rig.advance_until(
                lambda: any(
                    e.code is FaultCode.STACKER_REMOVED and e.is_active for e in rig.list_events(DeviceFault)
                )
            )
            await asyncio.sleep(5)
            rig.perform_action("box", present=True)
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.credited_cents == rig.box_cents() == 20_00
            rig.close()

        jump(scene())

    def test_an_unknown_bill_in_escrow_is_returned(self, protocol):
        """The acceptor knows the bill, but the cabinet does not."""

        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.driver._cents_by_note_code = {
                code: cents for code, cents in rig.driver._cents_by_note_code.items() if cents != 20_00
            }
            rig.twin._is_enabled = lambda _: True  # an acceptor that ignores its inhibits
            rig.perform_action("insert", amount_cents=20_00)
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert rig.list_events(PaperReturned)[0].content is None
            assert rig.list_events(PaperReturned)[0].reason is ReturnReason.NOT_ENABLED
            assert rig.twin.describe()["returned_cents"] == 20_00
            rig.close()

        jump(scene())

    @pytest.mark.parametrize("medium", ["note", "ticket"])
    def test_a_bill_or_ticket_accepted_against_the_inhibits_is_returned(self, protocol, medium):
        async def scene():
            rig = BillRig(protocol)
            await rig.idle()
            rig.driver.disable()
            rig.twin._is_enabled = lambda _: True
            if medium == "note":
                rig.perform_action("insert", amount_cents=20_00)
            else:
                rig.perform_action("insert_ticket", barcode="004724978028378429")
            await rig.advance_until(lambda: rig.list_events(PaperReturned))
            await rig.advance_until(rig.quiet)
            await rig.stop()
            assert not rig.list_events(PaperInEscrow, PaperStacked)
            assert rig.list_events(PaperReturned)[0].reason is ReturnReason.NOT_ENABLED
            rig.close()

        jump(scene())


@pytest.mark.requirement("G-02", "G-05")
@pytest.mark.parametrize("protocol", ["id003", "ebds"])
def test_a_bill_exchanged_while_the_order_is_recorded_is_not_credited_as_the_first(protocol):
    """With a slow disk the acceptor has timed out before the order is durable, and another bill is in escrow."""

    async def scene():
        rig = BillRig(protocol)
        recorded, swapped = rig.ledger.reserve_credit_before_stacking, []

        def exchange_while_recording(content, mark):
            recorded(content, mark)
            if not swapped:
                swapped.append(rig.twin._paper)
                rig.twin.returned_cents += 5_00
                rig.twin.inserted_cents += 20_00
                rig.twin._paper = SimulatedPaper(20_00)

        rig.ledger.reserve_credit_before_stacking = exchange_while_recording
        await rig.insert(5_00)
        await rig.advance_until(rig.quiet, 60)
        await rig.stop()
        assert swapped
        assert rig.credited_cents == rig.box_cents() == 20_00
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "G-05")
@pytest.mark.parametrize("protocol", ["id003", "ebds", "cctalk_bill"])
def test_a_bill_returned_while_the_order_is_recorded_is_not_disputed(protocol):
    """With a slow disk the acceptor has returned the bill before the order is durable; the command was never sent."""

    async def scene():
        rig = BillRig(protocol)
        record, returned = rig.ledger.reserve_credit_before_stacking, []

        def return_while_recording(content, mark):
            record(content, mark)
            if not returned:
                returned.append(rig.twin.return_escrowed_paper())
                rig.twin._stop_timers()
                rig.twin._finish_return()

        rig.ledger.reserve_credit_before_stacking = return_while_recording
        await rig.insert(5_00)
        await rig.advance_until(lambda: returned and rig.quiet())
        await rig.advance_until(lambda: rig.list_events(PaperReturned))
        assert not rig.ledger.disputed_papers
        await rig.insert(20_00)
        await rig.advance_until(lambda: rig.credited_cents == 20_00)
        await rig.advance_until(rig.quiet)
        await rig.stop()
        assert [event.content for event in rig.list_events(PaperReturned)] == [Banknote(5_00)]
        assert not rig.list_events(AmountDisputed)
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "G-05")
@pytest.mark.parametrize("protocol", ["id003", "ebds", "cctalk_bill"])
def test_a_bill_exchanged_while_the_driver_was_delayed_is_not_credited_as_the_first(protocol):
    """On a busy computer the acceptor's last report is two seconds old when the machine reads it."""

    async def scene():
        rig = BillRig(protocol)
        swapped = []
        line = rig.driver._line
        at_once = line.read

        async def read_late(seconds):
            data = await at_once(seconds)
            if data and rig.ledger.find_open() is not None and not swapped:
                swapped.append(rig.twin.return_escrowed_paper())
                await asyncio.sleep(0.6)
                rig.perform_action("insert", amount_cents=20_00)
                await asyncio.sleep(1.4)
            return data

        line.read = read_late
        await rig.insert(5_00)
        await rig.advance_until(rig.quiet, 60)
        await rig.stop()
        assert swapped
        assert rig.credited_cents == rig.box_cents() > 0
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-02", "G-05")
def test_a_validator_is_not_taken_for_empty_because_its_reply_is_read_late():
    """It has lost power with an ordered bill inside, and stacks it while the machine does not run."""

    async def scene(late_reply: int) -> None:
        rig = BillRig("cctalk_bill")
        await rig.insert()
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "stacking")
        await asyncio.sleep(0.5)  # past the point of no return
        rig.perform_action("power_off")
        rig.perform_action("power_on")
        await rig.advance_until(lambda: rig.driver._restarted_at is not None)
        delay_next_reply(rig.driver, 8, replies=late_reply)
        await rig.advance_until(lambda: rig.credited_cents == 20_00)
        await rig.advance_until(rig.quiet)
        await asyncio.sleep(10)
        await rig.stop()
        assert not rig.list_events(AmountDisputed)
        rig.close()

    for late_reply in range(1, 13):
        jump(scene(late_reply))


@pytest.mark.requirement("G-02", "G-06")
def test_an_ebds_acceptor_without_a_note_table_is_queried_a_few_times_and_used():
    """It answers the auxiliary query with an ordinary status, which contains no denominations."""

    async def scene():
        rig = BillRig("ebds")
        query_types = []
        answer = rig.twin._build_reply

        def reply_with_status(question):
            query_types.append(type(question))
            return answer(
                EbdsPoll(ack_number=question.ack_number)
                if isinstance(question, AuxiliaryCommand)
                else question
            )

        rig.twin._build_reply = reply_with_status
        for cents in (5_00, 20_00, 10_00):
            await rig.insert(cents)
            await rig.advance_until(rig.quiet)
        await asyncio.sleep(10)
        await rig.stop()
        assert rig.credited_cents == rig.box_cents() == 35_00
        assert 1 <= query_types.count(AuxiliaryCommand) <= 3
        rig.close()

    jump(scene())
