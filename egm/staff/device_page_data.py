"""Data for the service pages of devices: the devices' last reports, and the outputs that a test has switched on."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from egm.devices import interface

#: Reports stored per device.
DEVICE_REPORTS_MAX: Final = 12


@dataclass(slots=True)
class DevicePageData:
    """Data for the service pages of devices: last reports, identities, inputs and tested outputs.

    None of it is stored in the journal.
    """

    kind_by_device_name: Mapping[str, str] = field(default_factory=dict)
    """The kind of each device of the cabinet, by the device's name."""
    last_reports_by_device_name: dict[str, deque[str]] = field(default_factory=dict)
    """The last reports of each device, newest first, by the device's name."""
    identity_by_device_name: dict[str, str] = field(default_factory=dict)
    """How each device has identified itself, by the device's name."""
    refused_games: tuple[tuple[str, str], ...] = ()
    """Games of the cabinet file that are not offered, each with the reason."""
    active_inputs: set[str] = field(default_factory=set)
    """The I/O board's active inputs, such as ``door:main``: open doors, keys that are on, and pressed buttons.

    A button stays active after its release, until the tests end or the board reports all inputs.
    """
    tested_outputs: frozenset[str] = frozenset()
    """Lamps, tower lights and the bell switched on by a test: ``lamp:play``, ``tower:tilt``, ``bell``."""
    is_testing_acceptor: bool = False
    """Whether the bill acceptor is under test: it then accepts bills and tickets and returns all of them."""

    def end_tests(self) -> None:
        """End all device tests: switch off the outputs that they have switched on, and remove pressed buttons."""
        self.tested_outputs = frozenset()
        self.is_testing_acceptor = False
        self.active_inputs = {name for name in self.active_inputs if not name.startswith("button:")}

    def store_report(self, report: interface.DeviceEvent) -> None:
        """Store a device's report, for the device's service page."""
        reports = self.last_reports_by_device_name.setdefault(report.device, deque(maxlen=DEVICE_REPORTS_MAX))
        reports.appendleft(_format_report(report))
        match report:
            case interface.DeviceIdentified(identity=identity):
                self.identity_by_device_name[report.device] = identity
            case interface.DoorChanged(door=door, is_open=is_open):
                self._record_input(f"door:{door}", is_on=is_open)
            case interface.KeyTurned(key=key, is_on=is_on):
                self._record_input(f"key:{key}", is_on=is_on)
            case interface.ButtonPressed(button=button):
                self._record_input(f"button:{button}", is_on=True)
            case interface.InputsReported(doors_open=open_doors, keys_on=active_keys):
                self.active_inputs = {
                    *(f"door:{name}" for name in open_doors),
                    *(f"key:{name}" for name in active_keys),
                }
            case _:
                pass

    def _record_input(self, input_name: str, *, is_on: bool) -> None:
        """Record an input of the I/O board as on or off."""
        if is_on:
            self.active_inputs.add(input_name)
        else:
            self.active_inputs.discard(input_name)


def _format_report(report: interface.DeviceEvent) -> str:
    """Return a device's report as text in the terms of its protocol, without ticket numbers (E-06)."""
    field_texts = []
    for report_field in fields(report):
        value = getattr(report, report_field.name)
        if report_field.name == "device" or value is None or value == "":
            continue
        if isinstance(value, interface.Barcode):
            value = "a ticket"
        elif isinstance(value, interface.Banknote):
            value = f"a bill of {value.amount_cents / 100:.2f}"
        field_texts.append(
            f"{report_field.name}={value if isinstance(value, str | int) else _format_value(value)}"
        )
    return f"{type(report).__name__} {' '.join(field_texts)}".strip()


def _format_value(value: object) -> str:
    """Return a value in a device's report as text."""
    return ",".join(sorted(map(str, value))) if isinstance(value, frozenset) else str(value)
