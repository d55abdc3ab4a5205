"""A roulette wheel with a reader: its reports, their meaning, and void spins."""

import pytest

from egm.devices.framing import FrameReader, ProtocolError
from egm.devices.interface import (
    DeviceFault,
    FaultCode,
    LineLost,
    LineRestored,
    WheelPhase,
    WheelPhaseReported,
)
from egm.devices.wheel import codec
from egm.devices.wheel.codec import OtherReaderLine, ReaderPhase, WheelReaderStatus, WheelWarnings
from egm.devices.wheel.driver import WheelDriver
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump


def read(data):
    return FrameReader(codec.cut_report).feed(data)


def test_a_report_is_decoded_as_logged_by_users_of_such_wheels():
    assert read(b"*X;6;117;13;0;002;0\r\n") == [
        WheelReaderStatus(ReaderPhase.CLOSED, 117, 13, WheelWarnings(0), 2, 0)
    ]
    assert read(b"*X;6;182;28;4;006;0\r\n13\r\n") == [
        WheelReaderStatus(ReaderPhase.CLOSED, 182, 28, WheelWarnings.SENSOR_OR_MOTOR_FAILURE, 6, 0),
        OtherReaderLine("13"),
    ]
    assert (
        WheelReaderStatus(ReaderPhase.NUMBER, 7, 0, WheelWarnings.LAUNCH_FAILED, 20, 1).encode()
        == b"*X;5;007;00;8;020;1\r\n"
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"*X;7;117;13;0;002;0\r\n", "the line is not a report of the wheel reader"),
        (b"*X;5;117;37;0;002;0\r\n", "the wheel has no pocket 37"),
        (b"*X;5;117;13;G;002;0\r\n", "the line is not a report of the wheel reader"),
        (b"*X;5;117;;0;002;0\r\n", "the line is not a report of the wheel reader"),
        (b"x" * 64, "no end within 64 bytes"),
    ],
)
def test_an_invalid_report_is_refused_with_the_reason(line, reason):
    (protocol_error, *others) = read(line)
    assert isinstance(protocol_error, ProtocolError)
    assert protocol_error.reason == reason
    assert not others


def run_wheel(check):
    """Run a simulated wheel and its driver together with ``check``."""

    async def session():
        rig = DeviceRig("wheel")
        driver = WheelDriver("wheel", rig.create_serial_line(), rig.receive_event)
        rig.start(driver)
        await rig.advance_until(lambda: rig.list_events(LineRestored))
        await check(rig)
        await rig.stop()
        rig.close()

    jump(session())


def list_reports(rig):
    return rig.list_events(WheelPhaseReported)


def test_a_spin_is_reported_phase_by_phase_and_its_number_once():
    async def check(rig):
        rig.perform_action("land", number=17)
        await rig.advance_until(lambda: any(event.number is not None for event in list_reports(rig)))
        spin = list_reports(rig)[-1].spin_counter
        assert [event.phase for event in list_reports(rig) if event.spin_counter == spin] == [
            WheelPhase.WAITING,
            WheelPhase.BETTING,
            WheelPhase.NO_MORE_BETS,
            WheelPhase.NUMBER,
        ]
        assert [event.number for event in list_reports(rig)].count(17) == 1

    run_wheel(check)


@pytest.mark.requirement("B-16:b")
@pytest.mark.parametrize("wrong", ["void", "no_ball", "wrong_way"])
def test_a_void_spin_has_no_number_and_is_repeated(wrong):
    async def check(rig):
        await rig.advance_until(
            lambda: list_reports(rig) and list_reports(rig)[-1].phase is WheelPhase.NO_MORE_BETS
        )
        rig.perform_action("land", number=5)
        rig.perform_action(wrong)
        await rig.advance_until(lambda: list_reports(rig)[-1].is_void)
        spin = list_reports(rig)[-1].spin_counter
        await rig.advance_until(lambda: list_reports(rig)[-1].number == 5)
        assert list_reports(rig)[-1].spin_counter == spin
        assert [event.number for event in list_reports(rig)].count(5) == 1

    run_wheel(check)


def test_a_broken_sensor_is_a_fault_and_gives_no_number():
    async def check(rig):
        await rig.advance_until(
            lambda: list_reports(rig) and list_reports(rig)[-1].phase is WheelPhase.NO_MORE_BETS
        )
        rig.perform_action("jam")
        await rig.advance_until(lambda: rig.list_events(DeviceFault))
        assert rig.list_events(DeviceFault)[-1].code is FaultCode.FAILURE
        spin = list_reports(rig)[-1].spin_counter
        with pytest.raises(AssertionError):
            await rig.advance_until(lambda: list_reports(rig)[-1].number is not None, seconds=60)
        rig.perform_action("jam", on=False)
        await rig.advance_until(lambda: list_reports(rig)[-1].number is not None)
        assert list_reports(rig)[-1].spin_counter == spin
        assert not rig.list_events(DeviceFault)[-1].is_active

    run_wheel(check)


def test_a_silent_wheel_is_reported_lost_and_found_again():
    async def check(rig):
        rig.perform_action("silence", on=True)
        await rig.advance_until(lambda: rig.list_events(LineLost))
        rig.perform_action("silence", on=False)
        await rig.advance_until(lambda: len(rig.list_events(LineRestored)) == 2)

    run_wheel(check)


def test_a_wheel_continues_its_spin_count_after_a_power_loss():
    async def check(rig):
        await rig.advance_until(lambda: any(event.number is not None for event in list_reports(rig)))
        last = list_reports(rig)[-1]
        rig.perform_action("power_off")
        await rig.advance_until(lambda: rig.list_events(LineLost))
        rig.perform_action("power_on")
        await rig.advance_until(lambda: list_reports(rig)[-1].spin_counter == last.spin_counter + 1)

    run_wheel(check)
