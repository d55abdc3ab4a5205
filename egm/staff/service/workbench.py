"""Device pages' view of the devices: what each last said, and what a test borrows of them."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from egm.devices import interface as device

#: Reports kept of each device for its page.
NEWS_MAX: Final = 12


@dataclass(slots=True)
class Workbench:
    """Kept whether the menu is open or not, so that a page shows what a device last said; all volatile."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    """Device name -> kind, of every device of the cabinet."""
    news: dict[str, deque[str]] = field(default_factory=dict)
    """Device name -> what it last reported, newest first."""
    identities: dict[str, str] = field(default_factory=dict)
    """Device name -> what it says it is."""
    refused: tuple[tuple[str, str], ...] = ()
    """Games of the cabinet file that are not offered, each with the reason."""
    inputs: set[str] = field(default_factory=set)
    """Doors open, keys on and buttons pressed, as ``door:main``."""
    outputs: frozenset[str] = frozenset()
    """Lamps, tower lights and the bell that a test has lit: ``lamp:play``, ``tower:tilt``, ``bell``."""
    taking: bool = False
    """The bill acceptor is being tested: it takes, and everything goes back."""

    def give_back(self) -> None:
        """The devices are the machine's again."""
        self.outputs = frozenset()
        self.taking = False
        self.inputs = {name for name in self.inputs if not name.startswith("button:")}

    def hear(self, event: device.DeviceEvent) -> None:
        """Keep what a device reports."""
        news = self.news.setdefault(event.device, deque(maxlen=NEWS_MAX))
        news.appendleft(_worded(event))
        match event:
            case device.Identified(identity=identity):
                self.identities[event.device] = identity
            case device.DoorChanged(door=door, open=is_open):
                self._input(f"door:{door}", on=is_open)
            case device.KeyTurned(key=key, on=on):
                self._input(f"key:{key}", on=on)
            case device.ButtonPressed(button=button):
                self._input(f"button:{button}", on=True)
            case device.InputsKnown(doors_open=doors, keys_on=keys):
                self.inputs = {*(f"door:{name}" for name in doors), *(f"key:{name}" for name in keys)}
            case _:
                pass

    def _input(self, name: str, *, on: bool) -> None:
        if on:
            self.inputs.add(name)
        else:
            self.inputs.discard(name)


def _worded(event: device.DeviceEvent) -> str:
    """A report in the protocol's own words; a ticket's number is never among them (E-06)."""
    told = []
    for part in fields(event):
        value = getattr(event, part.name)
        if part.name == "device" or value is None or value == "":
            continue
        if isinstance(value, device.Barcode):
            value = "a ticket"
        elif isinstance(value, device.Note):
            value = f"a note of {value.amount_cents}"
        told.append(f"{part.name}={value if isinstance(value, str | int) else _set(value)}")
    return f"{type(event).__name__} {' '.join(told)}".strip()


def _set(value: object) -> str:
    return ",".join(sorted(map(str, value))) if isinstance(value, frozenset) else str(value)
