"""What only a technician puts right: faults an attendant's key does not clear, and the software's check."""

from collections.abc import Callable, Sequence
from typing import Final

from egm.cabinet.cabinet import Cabinet, Key, Occurrence

SOFTWARE_DIFFERS: Final = "software_differs"
"""Files are not as signed; ends with its cause."""
SOFTWARE_CHECK: Final = "software_check"
"""Somebody authorised must look, after the files are right again."""


def _settled(cabinet: Cabinet) -> list[str]:
    """The faults a technician may settle now. Software that is still wrong is not settled by saying so."""
    faults = cabinet.faults
    return [
        code
        for code, entry in faults.items()
        if entry["cleared_by"] == "technician" and not (code == SOFTWARE_CHECK and SOFTWARE_DIFFERS in faults)
    ]


# ---------------------------------------------------------------------------------------------- guards
def technician_is_needed(cabinet: Cabinet, _: Occurrence) -> bool:
    """A fault waits for a technician, and its cause has gone."""
    return bool(_settled(cabinet))


def software_is_signed(cabinet: Cabinet, _: Occurrence) -> bool:
    """There is a manifest to hold the software against."""
    return cabinet.reverify is not None


# ---------------------------------------------------------------------------------------------- effects
def settle_faults(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The technician has found the cause and says what it was."""
    codes = _settled(cabinet)
    cabinet.record(
        "fault.settled",
        state={f"{Key.FAULT}{code}": None for code in codes},
        story={
            "codes": codes,
            "finding": str(occurrence.values["finding"]),
            "person": cabinet.who(occurrence),
            "persons": list(occurrence.values["persons"]),
        },
    )


def verify_software(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Have every file of the software read and compared, now."""
    if cabinet.reverify is not None:
        cabinet.log("software.check", {"person": cabinet.who(occurrence)})
        cabinet.reverify()


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (technician_is_needed, software_is_signed)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (settle_faults, verify_software)
