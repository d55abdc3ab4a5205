"""Device pages of the service menu: what each device reports, and its tests.

The screen marks the page of each device and of each screen test as a test, so that no player takes it for play.
Reports of a device appear as they arrive. Tests are events of the state table
(:mod:`egm.staff.service.device_tests`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from egm.devices.interface import MoneyDevices
from egm.devices.ioboard.codec import BUTTONS, DOORS, KEYS, TOWER_LIGHTS
from egm.kernel.events import Event, EventType
from egm.kernel.faults import list_faults_to_show
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.kernel.touch import CalibrationError, fit_calibration
from egm.people import Permission
from egm.staff.desk import (
    GoBack,
    MenuItem,
    MenuPage,
    OpenPage,
    PageResult,
    ServiceDesk,
    SubmitEvent,
    build_refusal,
)
from egm.staff.events import DeviceTest
from egm.staff.page_texts import (
    BACK_ACTION,
    build_code_text,
    build_column_titles,
    build_plain_text,
    build_text,
    build_two_column_table,
)


class DeviceListPage(MenuPage):
    """Page of the service menu that lists all devices of the cabinet, with their faults."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with one line for each device and for each test of the screen itself."""
        page_data = machine.component(ServiceDesk).device_page_data
        rows = tuple(
            PageRow(
                cells=(
                    build_plain_text(name),
                    build_code_text("device", kind),
                    build_plain_text(page_data.identity_by_device_name.get(name, "")),
                    _find_worst_fault(machine, kind),
                ),
                action=f"device:{name}",
                icon="warning" if _find_worst_fault(machine, kind).value else "good",
            )
            for name, kind in page_data.kind_by_device_name.items()
        )
        screen_tests = tuple(
            PageRow(cells=(build_text(f"service.test.{name}"),), action=f"screen:{name}")
            for name in (*_SCREEN_TEST_PATTERNS, _CALIBRATE_ACTION_ID)
        )
        return ServicePage(
            id="",
            title=build_text("service.menu.devices"),
            tables=(
                PageTable(columns=build_column_titles("device", "kind", "identity", "fault"), rows=rows),
                PageTable(title=build_text("service.test.screen"), rows=screen_tests),
            ),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the page of a device, or of a test of the screen."""
        subject, _, name = action.partition(":")
        if (subject, name) == ("screen", _CALIBRATE_ACTION_ID):
            return OpenPage(TouchCalibrationPage())
        if (
            subject == "device"
            and name in machine.component(ServiceDesk).device_page_data.kind_by_device_name
        ):
            return OpenPage(DevicePage(name))
        pattern = next(
            (pattern for pattern in _SCREEN_TEST_PATTERNS if subject == "screen" and pattern == name), None
        )
        return build_refusal("not_offered") if pattern is None else OpenPage(ScreenTestPage(pattern))


#: Tests that the screen runs by itself.
_SCREEN_TEST_PATTERNS: Final[tuple[Literal["display", "touch", "sound"], ...]] = ("display", "touch", "sound")
#: The action that opens the touch calibration.
_CALIBRATE_ACTION_ID: Final = "calibrate"


def _find_worst_fault(machine: PositionMachine, device_kind: str) -> PageText:
    """Return the most severe active fault of a kind of device, as text; empty if none exists."""
    fault_codes = [
        code for code in list_faults_to_show(machine.active_faults) if code.partition(".")[0] == device_kind
    ]
    fault_codes.sort(key=lambda code: not machine.active_faults[code]["locks"])  # those that stop play first
    return build_code_text("tilt.text", fault_codes[0]) if fault_codes else build_plain_text("")


@dataclass(frozen=True, slots=True)
class ScreenTestPage(MenuPage):
    """Page of the service menu during which the screen runs one of its own tests: colours, touch targets or tones."""

    test_pattern: Literal["display", "touch", "sound"]

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return a page with the name of the screen test and the way back; the screen draws the rest."""
        return ServicePage(
            id="",
            title=build_text(f"service.test.{self.test_pattern}"),
            test=True,
            pattern=self.test_pattern,
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return build_refusal("not_offered")


class TouchCalibrationPage(MenuPage):
    """Page of the touch-screen calibration: the person touches the crosses in turn; the page ends after the last."""

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the calibration page. It has no BACK button, because touches may be detected anywhere."""
        return ServicePage(id="", title=build_text("service.test.calibrate"), test=True, pattern="calibrate")

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Submit the touch-screen calibration; if the touches do not fit the crosses, leave the page with a notice."""
        person = machine.component(ServiceDesk).signed_in_person
        if action != "crosses" or person is None:
            return build_refusal("not_offered")
        try:
            coordinates = [int(word) for word in text.split()]
            matrix = fit_calibration([*zip(coordinates[::2], coordinates[1::2], strict=True)])
        except (ValueError, CalibrationError):
            return GoBack(1, build_text("service.refused.touches"))
        calibration = DeviceTest(
            device="screen", test_kind="calibrate", matrix=matrix, person=person.id, persons=(person.id,)
        )
        return SubmitEvent(Event(EventType.START_DEVICE_TEST, calibration), page_count=1)


@dataclass(frozen=True, slots=True)
class DevicePage(MenuPage):
    """Page of one device: its identity, its last reports, and the tests of its kind."""

    device_name: str

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page of the device, which changes with every report of the device."""
        page_data = machine.component(ServiceDesk).device_page_data
        kind = page_data.kind_by_device_name[self.device_name]
        report_rows = tuple(
            PageRow(cells=(build_plain_text(line),))
            for line in page_data.last_reports_by_device_name.get(self.device_name, ())
        )
        summary_table = build_two_column_table(
            (
                ("column.kind", build_code_text("device", kind)),
                (
                    "column.identity",
                    build_plain_text(page_data.identity_by_device_name.get(self.device_name, "")),
                ),
                ("column.fault", _find_worst_fault(machine, kind)),
            )
        )
        report_table = PageTable(title=build_text("service.test.reports"), rows=report_rows)
        tables = (
            (summary_table, _build_input_table(machine), report_table)
            if kind == "io_board"
            else (summary_table, report_table)
        )
        return ServicePage(
            id="",
            title=build_text("service.test.title", device=self.device_name),
            test=True,
            tables=tables,
            prompt=_build_coin_prompt(machine) if kind == "hopper" else None,
            actions=(BACK_ACTION, *_TEST_LISTER_BY_DEVICE_KIND.get(kind, _list_no_tests)(machine)),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Submit the test of the device that the person has requested."""
        desk = machine.component(ServiceDesk)
        person = desk.signed_in_person
        device_test = _find_requested_test(
            desk.device_page_data.kind_by_device_name[self.device_name], action, text
        )
        if person is None or device_test is None:
            return build_refusal("not_offered")
        signed_test = replace(device_test, device=self.device_name, person=person.id, persons=(person.id,))
        return SubmitEvent(Event(EventType.START_DEVICE_TEST, signed_test))


def _find_requested_test(device_kind: str, action: str, text: str) -> DeviceTest | None:
    """Return the device test that an action of the page requests; None for any other action.

    The caller adds the device and the person.
    """
    match device_kind, action:
        case "ticket_printer", "print":
            return DeviceTest(test_kind="print")
        case "hopper", "enter" if text.isascii() and text.isdigit():
            return DeviceTest(test_kind="pay", coin_count=int(text))
        case "bill_acceptor", "take" | "stop":
            return DeviceTest(test_kind="take", takes_paper=action == "take")
        case "io_board", "lamps" | "tower" | "bell" | "dark":
            return DeviceTest(test_kind="light", outputs=_OUTPUTS_BY_TEST[action])
        case _:
            return None


#: Action -> the outputs of the I/O board that it switches on; the action ``dark`` switches all of them off.
_OUTPUTS_BY_TEST: Final[dict[str, tuple[str, ...]]] = {
    "lamps": tuple(f"lamp:{name}" for name in BUTTONS),
    "tower": tuple(f"tower:{name}" for name in TOWER_LIGHTS),
    "bell": ("bell",),
    "dark": (),
}


def _build_test_action(test_name: str, *, is_enabled: bool = True) -> PageAction:
    """Return the button that starts the device test ``test_name``."""
    return PageAction(
        id=test_name, label=build_text(f"service.test.{test_name}"), style="confirm", enabled=is_enabled
    )


def _list_no_tests(machine: PositionMachine) -> tuple[PageAction, ...]:  # noqa: ARG001 (signature of the functions in _TEST_LISTER_BY_DEVICE_KIND)
    """Return no test buttons, for a device that has no tests."""
    return ()


def _list_printer_tests(machine: PositionMachine) -> tuple[PageAction, ...]:
    """Return the button that prints a test ticket."""
    return (_build_test_action("print", is_enabled=machine.component(MoneyDevices).printer is not None),)


def _list_acceptor_tests(machine: PositionMachine) -> tuple[PageAction, ...]:
    """Return the buttons that start and end the test of the bill acceptor."""
    is_testing = machine.component(ServiceDesk).device_page_data.is_testing_acceptor
    return (
        _build_test_action("take", is_enabled=not is_testing),
        _build_test_action("stop", is_enabled=is_testing),
    )


def _list_io_board_tests(machine: PositionMachine) -> tuple[PageAction, ...]:  # noqa: ARG001 (signature of the functions in _TEST_LISTER_BY_DEVICE_KIND)
    """Return the buttons that test the outputs of the I/O board: lamps, tower light, bell, and all off."""
    return tuple(_build_test_action(name) for name in _OUTPUTS_BY_TEST)


#: Kind of device -> the function that lists the buttons of its tests.
_TEST_LISTER_BY_DEVICE_KIND: Final[dict[str, Callable[[PositionMachine], tuple[PageAction, ...]]]] = {
    "ticket_printer": _list_printer_tests,
    "bill_acceptor": _list_acceptor_tests,
    "io_board": _list_io_board_tests,
}


def _build_coin_prompt(machine: PositionMachine) -> Prompt | None:
    """Return the prompt for the number of coins of a hopper test, or None if the profile permits none."""
    coins_max = machine.profile.staff.test_coins_max
    label = build_text("service.test.coins", most=coins_max)
    return (
        Prompt(label=label, kind="digits", length_max=2, confirm=build_text("service.test.pay"))
        if coins_max
        else None
    )


def _build_input_table(machine: PositionMachine) -> PageTable:
    """Return the table with the current state of every input of the I/O board."""
    active_inputs = machine.component(ServiceDesk).device_page_data.active_inputs
    groups = (("door", "door", DOORS), ("key", "input.key", KEYS), ("button", "input.button", BUTTONS))
    return PageTable(
        title=build_text("service.test.inputs"),
        rows=tuple(
            PageRow(
                cells=(
                    build_code_text(section, name),
                    build_text("service.test.on" if is_on else "service.test.off"),
                ),
                icon="good" if is_on else "",
            )
            for group, section, names in groups
            for name in names
            for is_on in (f"{group}:{name}" in active_inputs,)
        ),
    )


MENU_ITEMS: Final = (MenuItem("devices", "machine", Permission.TEST_DEVICES, DeviceListPage),)
