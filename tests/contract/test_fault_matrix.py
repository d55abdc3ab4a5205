"""Every line and power failure for every protocol: reported where required, and always recovered from."""

import asyncio
import inspect
import random

import pytest

from egm.devices.interface import CoinAccepted, LineLost, LineRestored, PaperStacked
from egm.devices.protocols import PROTOCOLS
from egm.devices.twin import ActionError
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from tools.cli.device_listener import create_driver_without_machine
from tools.dev.fuzz.codec_table import CODECS

#: trouble -> (begin, end, whether the driver must report the device as lost)
TROUBLES = {
    "no power": (("power_off", {}), ("power_on", {}), True),
    "silent": (("silence", {}), ("clear_line", {}), True),
    "unplugged": (("unplug", {}), ("plug", {}), True),
    "late within bounds": (("late", {"milliseconds": 60}), ("clear_line", {}), False),
    "far too late": (("late", {"milliseconds": 900}), ("clear_line", {}), None),
    "damaged answers": (("corrupt", {"answers": 2}), ("clear_line", {}), False),
    "all answers damaged": (("corrupt", {"answers": 10_000}), ("clear_line", {}), True),
    "lost answers": (("drop", {"answers": 2}), ("clear_line", {}), False),
    "one byte at a time": (("split", {}), ("clear_line", {}), False),
}


@pytest.mark.requirement("G-06", "G-15")
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_driver_recovers_from_every_line_and_power_failure(protocol, trouble):
    (begin, values), (end, _), lost = TROUBLES[trouble]
    if trouble == "all answers damaged" and PROTOCOLS[protocol].device_kind == "ticket_printer":
        lost = None  # printer replies have no checksum, so some damaged replies are still readable

    async def scene():
        rig = DeviceRig(protocol)
        driver = create_driver_without_machine(
            protocol, "device", rig.create_serial_line(), rig.receive_event
        )
        rig.start(driver)
        for _ in range(2):
            await rig.advance_until(lambda: driver.is_replying)
            await asyncio.sleep(2)
            rig.perform_action(begin, **values)
            if lost:
                await rig.advance_until(lambda: not driver.is_replying, 10)
            await asyncio.sleep(4)
            rig.perform_action(end)
            await rig.advance_until(lambda: driver.is_replying, 10)
            await asyncio.sleep(2)
            assert driver.is_replying
        await rig.stop()
        if lost is not None:
            assert len(rig.list_events(LineLost)) == (2 if lost else 0)
            assert len(rig.list_events(LineRestored)) == (3 if lost else 1)
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_port_missing_at_start_is_reported_once_and_used_when_it_appears(protocol):
    """A machine may start before its devices are plugged in."""

    async def scene():
        rig = DeviceRig(protocol)
        rig.perform_action("unplug")
        driver = create_driver_without_machine(
            protocol, "device", rig.create_serial_line(), rig.receive_event
        )
        rig.start(driver)
        await rig.advance_until(lambda: rig.list_events(LineLost), 5)
        await asyncio.sleep(10)
        assert len(rig.list_events(LineLost)) == 1
        rig.perform_action("plug")
        await rig.advance_until(lambda: driver.is_replying, 5)
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_twin_can_jam_report_falsely_and_describe_itself(protocol):
    async def scene():
        rig = DeviceRig(protocol)
        actions = rig.twin.list_actions()
        assert {"jam", "lie"} <= set(actions)
        assert rig.twin.describe()["kind"]
        assert all(action.__doc__ for action in actions.values())
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_command_with_an_invalid_value_does_not_change_a_twin(protocol):
    async def scene():
        rig = DeviceRig(protocol)
        twin = rig.twin
        for name, action in twin.list_actions().items():
            parameters = inspect.signature(action).parameters
            assert {parameter.annotation for parameter in parameters.values()} <= {int, bool, str}
            right_values = {
                key.rstrip("_"): {int: 1, bool: True, str: "1"}[p.annotation] for key, p in parameters.items()
            }
            wrong_commands = [right_values | {"colour": 1}]
            wrong_commands += [
                right_values | {key: wrong} for key in right_values for wrong in (-1, 2**32, 1.5, None)
            ]
            wrong_commands += [
                {other: value for other, value in right_values.items() if other != key.rstrip("_")}
                for key, parameter in parameters.items()
                if parameter.default is parameter.empty
            ]
            before = twin.describe(), twin.export_retained_state()
            for values in wrong_commands:
                with pytest.raises(ActionError, match=r"expected|is missing"):
                    twin.perform_action(name, values)
            assert (twin.describe(), twin.export_retained_state()) == before
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-06")
@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_random_bytes_from_a_device_credit_nothing_and_valid_replies_are_read_again(protocol):
    """Any bytes from the device are reported as errors, credit nothing, and valid replies are read again."""

    async def scene(seed: int) -> None:
        dice = random.Random(seed)
        rig = DeviceRig(protocol, seed=seed)
        driver = create_driver_without_machine(
            protocol, "device", rig.create_serial_line(), rig.receive_event
        )
        rig.start(driver)
        await rig.advance_until(lambda: driver.is_replying)
        samples = [sample for codec in CODECS.values() for sample in codec.samples]
        for _ in range(120):
            junk = dice.choice([dice.randbytes(dice.randrange(1, 40)), dice.choice(samples)])
            rig.cable.send(junk)
            await asyncio.sleep(dice.random() * 0.1)
        before = len(rig.list_events(LineRestored))
        rig.perform_action("power_off")
        await rig.advance_until(lambda: not driver.is_replying, 10)
        rig.perform_action("power_on")
        await rig.advance_until(lambda: len(rig.list_events(LineRestored)) > before, 10)
        await asyncio.sleep(8)
        await rig.stop()
        assert driver.is_replying
        assert not rig.list_events(CoinAccepted, PaperStacked)
        rig.close()

    for seed in range(3):
        jump(scene(seed))


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_random_bytes_to_a_twin_move_no_money(protocol):
    """Random bytes sent to a twin do not change the result of its test actions."""

    async def scene() -> None:
        dice = random.Random(7)
        rig = DeviceRig(protocol)
        samples = [sample for codec in CODECS.values() for sample in codec.samples]
        for _ in range(300):
            rig.cable.receive(dice.choice([dice.randbytes(dice.randrange(1, 40)), dice.choice(samples)]))
            await asyncio.sleep(dice.random() * 0.1)
        state = rig.twin.describe()
        assert state.get("inserted_cents", 0) == state.get("stacked_cents", 0) == 0
        rig.close()

    jump(scene())
