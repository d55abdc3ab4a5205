"""The contract of the I/O board's driver: every change in order, outputs as ordered, no false presses."""

import asyncio
import random

import pytest

from egm.devices.interface import (
    ButtonPressed,
    DeviceFault,
    DeviceIdentified,
    DoorChanged,
    FaultCode,
    InputsReported,
    InvalidBytesReceived,
    KeyTurned,
    LineLost,
    LineRestored,
)
from egm.devices.ioboard.codec import BUTTONS, DOORS, KEYS
from egm.devices.ioboard.driver import HARD_METER_PULSES_BEHIND_MAX, IoBoardDriver
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump


class BoardRig(DeviceRig):
    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__("ioboard", line, seed)
        self.begin()

    def begin(self) -> None:
        self.driver = IoBoardDriver("io", self.create_serial_line(), self.receive_event)
        self.start(self.driver)

    async def wait_for_inputs(self, times: int = 1) -> None:
        await self.advance_until(lambda: len(self.list_events(InputsReported)) >= times)

    def list_changes(self) -> list[tuple[str, str, bool]]:
        """Return the reported changes of doors and keys in order, without repeated states."""
        state: dict[tuple[str, str], bool] = {}
        changes = []
        for event in self.list_events(DoorChanged, KeyTurned):
            if isinstance(event, DoorChanged):
                source, level = ("door", event.door), event.is_open
            else:
                source, level = ("key", event.key), event.is_on
            if state.get(source, False) is not level:
                state[source] = level
                changes.append((*source, level))
        return changes

    def has_no_stored_changes(self) -> bool:
        return self.twin.describe()["edges_waiting"] == 0


@pytest.mark.requirement("J-01")
def test_every_door_has_its_own_sensor():
    doors = ("main", "logic", "belly", "drop", "cash_box", "stacker", "top", "hopper")

    async def scene() -> None:
        rig = BoardRig()
        await rig.wait_for_inputs()
        for door in doors:
            rig.perform_action("door", name=door, open=True)
        await rig.advance_until(rig.has_no_stored_changes)
        await asyncio.sleep(0.5)
        await rig.stop()
        assert rig.list_changes() == [("door", door, True) for door in doors]
        rig.close()

    jump(scene())


@pytest.mark.requirement("J-01", "J-04", "J-09", "J-16")
class TestEveryLine:
    def test_every_door_and_key_change_is_reported_in_order(self, line):
        async def scene(seed: int) -> None:
            dice = random.Random(seed)
            rig = BoardRig(line, seed)
            await rig.wait_for_inputs()
            levels: dict[tuple[str, str], bool] = {}
            outputs = []
            for _ in range(60):
                group, name = dice.choice([("door", d) for d in DOORS] + [("key", k) for k in KEYS])
                level = not levels.get((group, name), False)
                levels[group, name] = level
                rig.perform_action(
                    group, name=name, **({"open": level} if group == "door" else {"on": level})
                )
                outputs.append((group, name, level))
                await asyncio.sleep(dice.choice([0, 0, 0.01, 0.3]))
            await rig.advance_until(rig.has_no_stored_changes)
            await asyncio.sleep(0.5)
            await rig.stop()
            assert rig.list_changes() == outputs
            if line != "lossy":
                assert len(rig.list_events(DoorChanged, KeyTurned)) == len(outputs)
                assert len(rig.list_events(InputsReported)) == 1
            rig.close()

        for seed in range(3):
            jump(scene(seed))

    def test_each_button_press_is_reported_once(self, line):
        async def scene():
            rig = BoardRig(line)
            await rig.wait_for_inputs()
            pressed = ["play", "cash_out", "play", "select_3", "play"]
            for button in pressed:
                rig.perform_action("press", button=button)
                await asyncio.sleep(0.5)
            await rig.advance_until(rig.has_no_stored_changes)
            await rig.stop()
            presses = [event.button for event in rig.list_events(ButtonPressed)]
            if line == "lossy":  # a line loss discards presses and never adds one
                assert len(presses) <= len(pressed)
            else:
                assert presses == pressed
            rig.close()

        jump(scene())

    def test_lamps_tower_and_bell_follow_the_drivers_outputs(self, line):
        async def scene():
            rig = BoardRig(line)
            await rig.wait_for_inputs()
            rig.driver.light_lamps(frozenset({"play", "cash_out"}))
            rig.driver.light_tower(frozenset({"door"}))
            rig.driver.switch_bell(on=True)
            await rig.advance_until(lambda: rig.twin.describe()["lamps"] == ["cash_out", "play"], 5)
            assert rig.twin.describe()["tower"] == ["door"]
            assert rig.twin.describe()["bell"] is True
            await rig.stop()
            rig.close()

        jump(scene())


class TestUnattended:
    @pytest.mark.requirement("J-01", "J-06", "A-24", "E-10")
    def test_doors_opened_while_no_machine_ran_are_reported(self, line):
        async def scene():
            rig = BoardRig(line)
            await rig.wait_for_inputs()
            await rig.stop()
            await asyncio.sleep(2)
            rig.perform_action("door", name="logic", open=True)
            rig.perform_action("door", name="logic", open=False)
            rig.perform_action("door", name="main", open=True)
            rig.begin()
            await rig.advance_until(
                lambda: rig.list_events(InputsReported) and rig.list_events(InputsReported)[-1].doors_open
            )
            await rig.stop()
            assert rig.list_changes() == [
                ("door", "logic", True),
                ("door", "logic", False),
                ("door", "main", True),
            ]
            assert all(event.was_unobserved for event in rig.list_events(DoorChanged))
            assert rig.list_events(InputsReported)[-1].doors_open == {"main"}
            rig.close()

        jump(scene())

    @pytest.mark.requirement("J-16")
    def test_keys_turned_while_no_machine_ran_are_reported(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            await rig.stop()
            await asyncio.sleep(2)
            rig.perform_action("key", name="audit", on=True)
            rig.perform_action("key", name="audit", on=False)
            rig.begin()
            await rig.wait_for_inputs(2)
            await rig.advance_until(rig.has_no_stored_changes)
            await rig.stop()
            assert [
                (event.key, event.is_on, event.was_unobserved) for event in rig.list_events(KeyTurned)
            ] == [
                ("audit", True, True),
                ("audit", False, True),
            ]
            rig.close()

        jump(scene())

    @pytest.mark.requirement("A-24", "E-10")
    @pytest.mark.parametrize("interruption", ["restart", "line"])
    def test_a_key_turn_that_is_reported_again_is_no_second_turn(self, interruption):
        """A turn of the attendant's key pays the hand-pay that waits: reported twice, it would pay the next one too."""

        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            # The turn is processed; its acknowledgement is lost.
            rig.react = lambda event: isinstance(event, KeyTurned) and rig.perform_action("unplug")
            rig.perform_action("key", name="attendant", on=True)
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.react = lambda _: None
            if interruption == "restart":
                await rig.stop()
            rig.perform_action("plug")
            if interruption == "restart":
                rig.begin()
            await rig.wait_for_inputs(2)
            await rig.advance_until(rig.has_no_stored_changes)
            assert [turn.was_unobserved for turn in rig.list_events(KeyTurned)] == [False, True]
            rig.perform_action("key", name="attendant", on=False)
            rig.perform_action("key", name="attendant", on=True)
            await rig.advance_until(lambda: len(rig.list_events(KeyTurned)) == 4)
            await rig.stop()
            assert not rig.list_events(KeyTurned)[-1].was_unobserved
            rig.close()

        jump(scene())

    def test_door_changes_during_the_boards_power_loss_are_reported(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.perform_action("power_off")
            await asyncio.sleep(3)
            rig.perform_action("door", name="cash_box", open=True)
            rig.perform_action("door", name="cash_box", open=False)
            await asyncio.sleep(3)
            rig.perform_action("power_on")
            await rig.wait_for_inputs(2)
            await rig.stop()
            assert rig.list_changes() == [("door", "cash_box", True), ("door", "cash_box", False)]
            assert all(event.was_unobserved for event in rig.list_events(DoorChanged))
            assert rig.list_events(LineLost)
            rig.close()

        jump(scene())

    def test_a_press_while_no_machine_ran_is_discarded(self, line):
        async def scene():
            rig = BoardRig(line)
            await rig.wait_for_inputs()
            await rig.stop()
            rig.perform_action("press", button="play")
            await asyncio.sleep(1)
            rig.perform_action("press", button="cash_out")
            await asyncio.sleep(1)
            rig.begin()
            await rig.wait_for_inputs(2)
            await rig.advance_until(rig.has_no_stored_changes)
            await asyncio.sleep(1)
            await rig.stop()
            assert rig.list_events(ButtonPressed) == []
            rig.close()

        jump(scene())

    def test_more_changes_than_the_board_stores_are_reported_as_lost(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            await rig.stop()
            for _ in range(150):
                rig.perform_action("door", name="top", open=True)
                rig.perform_action("door", name="top", open=False)
            rig.perform_action("door", name="main", open=True)
            rig.begin()
            await rig.advance_until(lambda: rig.list_events(InputsReported)[-1].doors_open == {"main"})
            await rig.stop()
            rig.close()

        jump(scene())

    def test_the_levels_of_a_board_that_lost_its_memory_are_used(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.perform_action("silence")
            rig.perform_action("door", name="belly", open=True)
            rig.perform_action("forget")
            await asyncio.sleep(0.3)
            rig.perform_action("silence", on=False)
            await rig.advance_until(lambda: rig.list_events(InputsReported)[-1].doors_open == {"belly"})
            rig.perform_action("press", button="play")
            await rig.advance_until(lambda: rig.list_events(ButtonPressed))
            await rig.stop()
            rig.close()

        jump(scene())

    def test_a_board_without_a_machine_switches_its_lamps_off_and_shows_a_tilt(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.driver.light_lamps(frozenset(BUTTONS))
            await rig.advance_until(lambda: rig.twin.describe()["lamps"])
            await rig.stop()
            await asyncio.sleep(1.5)
            assert rig.twin.describe()["lamps"] == []
            assert rig.twin.describe()["tower"] == ["tilt"]
            rig.close()

        jump(scene())


@pytest.mark.requirement("G-14:a", "G-15")
class TestFaults:
    @pytest.mark.parametrize(
        ("hand", "code"), [("mains", FaultCode.POWER_SUPPLY), ("battery", FaultCode.BATTERY_LOW)]
    )
    def test_mains_and_battery_faults_are_reported_and_cleared(self, hand, code):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.perform_action(hand, good=False)
            await rig.advance_until(
                lambda: any(e.code is code and e.is_active for e in rig.list_events(DeviceFault))
            )
            rig.perform_action(hand, good=True)
            await rig.advance_until(
                lambda: any(e.code is code and not e.is_active for e in rig.list_events(DeviceFault))
            )
            await rig.stop()
            rig.close()

        jump(scene())

    def test_damaged_replies_silence_and_an_unplugged_board_are_recovered_from(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            assert rig.list_events(DeviceIdentified)
            rig.perform_action("corrupt", answers=2)
            await rig.advance_until(lambda: rig.list_events(InvalidBytesReceived))
            rig.perform_action("silence")
            await rig.advance_until(lambda: rig.list_events(LineLost), 5)
            rig.perform_action("silence", on=False)
            await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2, 5)
            rig.perform_action("unplug")
            await rig.advance_until(lambda: len(rig.list_events(LineLost)) == 2, 5)
            rig.perform_action("door", name="drop", open=True)
            rig.perform_action("plug")
            await rig.advance_until(lambda: rig.list_changes() == [("door", "drop", True)], 5)
            await rig.stop()
            rig.close()

        jump(scene())

    def test_input_levels_without_a_recorded_change_are_used(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.perform_action("lie")
            await rig.advance_until(lambda: rig.list_events(InputsReported)[-1].doors_open == {"main"})
            await rig.stop()
            rig.close()

        jump(scene())

    def test_a_stuck_button_is_one_press(self):
        async def scene():
            rig = BoardRig()
            await rig.wait_for_inputs()
            rig.perform_action("jam", button="play")
            await asyncio.sleep(10)
            await rig.stop()
            assert len(rig.list_events(ButtonPressed)) == 1
            rig.close()

        jump(scene())

    def test_an_unknown_lamp_or_tower_light_is_refused(self):
        async def scene():
            rig = BoardRig()
            with pytest.raises(ValueError, match="unknown disco"):
                rig.driver.light_lamps(frozenset({"disco"}))
            with pytest.raises(ValueError, match="unknown disco"):
                rig.driver.light_tower(frozenset({"disco"}))
            await rig.stop()
            rig.close()

        jump(scene())


@pytest.mark.requirement("D-20", "A-08")
class TestHardMeters:
    """The driver sends totals, not pulses, so that each pulse is given once despite lost and repeated messages."""

    TOTALS = (5, 0, 3, 1, 2, 0)

    @staticmethod
    def read_pulse_counts(rig: BoardRig) -> tuple[int, ...]:
        return tuple(rig.twin.describe()["hard_meters"])

    def test_hard_meters_reach_their_totals_and_stop(self, line):
        async def scene() -> None:
            rig = BoardRig(line, 3)
            rig.driver.start_reading_hard_meters()
            await rig.advance_until(lambda: rig.driver.hard_meter_pulse_counts is not None)
            rig.driver.advance_hard_meters(self.TOTALS)
            await rig.advance_until(lambda: rig.driver.hard_meter_pulse_counts == self.TOTALS)
            assert self.read_pulse_counts(rig) == self.TOTALS
            rig.driver.advance_hard_meters((6, 0, 3, 1, 2, 0))
            await rig.advance_until(lambda: self.read_pulse_counts(rig) == (6, 0, 3, 1, 2, 0))
            rig.close()

        asyncio.run(scene())

    def test_a_restarted_driver_repeats_no_pulse(self):
        async def scene() -> None:
            rig = BoardRig()
            rig.driver.start_reading_hard_meters()
            rig.driver.advance_hard_meters(self.TOTALS)
            await rig.advance_until(lambda: sum(self.read_pulse_counts(rig)) >= 4)  # in the middle
            await rig.stop()
            rig.begin()
            rig.driver.start_reading_hard_meters()
            rig.driver.advance_hard_meters(self.TOTALS)
            await rig.advance_until(lambda: rig.driver.hard_meter_pulse_counts == self.TOTALS)
            assert self.read_pulse_counts(rig) == self.TOTALS
            rig.close()

        asyncio.run(scene())

    def test_hard_meters_continue_after_the_boards_power_loss(self):
        async def scene() -> None:
            rig = BoardRig()
            rig.driver.start_reading_hard_meters()
            rig.driver.advance_hard_meters(self.TOTALS)
            await rig.advance_until(lambda: sum(self.read_pulse_counts(rig)) >= 4)
            rig.perform_action("power_off")
            before = self.read_pulse_counts(rig)
            await rig.advance_until(lambda: bool(rig.list_events(LineLost)))
            rig.perform_action("power_on")
            await rig.advance_until(lambda: rig.driver.hard_meter_pulse_counts == self.TOTALS)
            assert all(then <= now for then, now in zip(before, self.read_pulse_counts(rig), strict=True))
            assert self.read_pulse_counts(rig) == self.TOTALS
            rig.close()

        asyncio.run(scene())

    @pytest.mark.parametrize("shows", [9, -1])
    def test_a_hard_meter_that_differs_is_a_fault_and_is_not_driven(self, shows):
        """The hard meter is ahead of the total, or behind by more than the pulses that can be pending."""

        async def scene() -> None:
            rig = BoardRig()
            rig.driver.start_reading_hard_meters()
            totals = (5, 0, 0, 0, 0, 0)
            if shows < 0:
                totals = (HARD_METER_PULSES_BEHIND_MAX + 1, 0, 0, 0, 0, 0)
            else:
                rig.perform_action("turn", meter=0, pulses=shows)
            rig.driver.advance_hard_meters(totals)
            await rig.advance_until(
                lambda: any(
                    f.code is FaultCode.HARD_METER_MISMATCH and f.is_active
                    for f in rig.list_events(DeviceFault)
                )
            )
            assert self.read_pulse_counts(rig)[0] == max(shows, 0)
            rig.perform_action("turn", meter=0, pulses=totals[0])
            await rig.advance_until(
                lambda: any(
                    f.code is FaultCode.HARD_METER_MISMATCH and not f.is_active
                    for f in rig.list_events(DeviceFault)
                )
            )
            rig.close()

        asyncio.run(scene())

    def test_unused_hard_meters_are_not_queried(self):
        async def scene() -> None:
            rig = BoardRig()
            await rig.wait_for_inputs()
            assert rig.driver.hard_meter_pulse_counts is None
            with pytest.raises(ValueError, match="6 pulse counts"):
                rig.driver.advance_hard_meters((1, 2))
            rig.close()

        asyncio.run(scene())
